/** The classify panel: labels that the user types, and a bar for each. */
import { latestWins } from "./client.js";
import { showReading } from "./compare-panel.js";
import { counted, debounced, find, fromTemplate } from "./dom.js";

const PAUSE_MS = 120;
const MOST_LABELS = 50;

export class ClassifyPanel {
  #app;
  #classify;

  /** @param {any} app */
  constructor(app) {
    this.#app = app;
    this.#classify = latestWins(
      () => this.#ask(),
      (answer) => this.#show(answer),
      ({ message }) => this.#clear(message),
    );
    const typed = debounced(() => this.#classify(), PAUSE_MS);
    for (const id of ["classify-text", "labels"]) find(id).addEventListener("input", () => typed.soon());
  }

  show() {
    this.#classify();
  }

  engineReady() {
    this.#classify();
  }

  #ask() {
    if (this.#app.route().view !== "classify") return null;
    const text = find("classify-text").value;
    const lines = find("labels").value.split("\n").map((/** @type {string} */ line) => line.trim());
    const labels = [...new Set(lines.filter(Boolean))].slice(0, MOST_LABELS);
    find("labels-count").textContent = counted(labels.length, "label");
    if (!this.#app.isReady()) return this.#clear("As soon as the engine is ready.");
    if (text.trim() === "" || labels.length === 0) return this.#clear("Type a text and at least one label.");
    return this.#app.client.ask("classify", { text, labels }).then((/** @type {any} */ answer) => ({ ...answer, text }));
  }

  /** @param {string} message */
  #clear(message) {
    find("scores").replaceChildren();
    find("classify-result").textContent = message;
    return null;
  }

  /** @param {any} answer */
  #show({ scores, part, text }) {
    const rows = scores.map((/** @type {{label: string, score: number}} */ { label, score }) => {
      const row = fromTemplate("label-score");
      row.part(".label").textContent = label;
      row.part(".value").textContent = score.toFixed(2);
      row.part(".bar > span").style.setProperty("--score", String(Math.max(0, score)));
      return row.element;
    });
    find("scores").replaceChildren(...rows);
    find("classify-result").textContent = `Nearest label: ${scores[0].label}`;
    showReading(find("classify-count"), null, part, text);
  }
}
