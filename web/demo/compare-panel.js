/** The compare panel: two texts, how near they are, and how much of each the model reads. */
import { latestWins } from "./client.js";
import { counted, debounced, find } from "./dom.js";

const PAUSE_MS = 120;
/** @type {[number, string][]} */
const WORDS = [
  [0.85, "They say the same."],
  [0.65, "Very near in meaning."],
  [0.45, "Related."],
  [0.25, "Loosely related."],
  [-1, "They have little to do with each other."],
];

export class ComparePanel {
  #app;
  #compare;

  /** @param {any} app */
  constructor(app) {
    this.#app = app;
    this.#compare = latestWins(
      () => this.#ask(),
      (answer) => this.#show(answer),
      ({ message }) => (find("similarity-words").textContent = message),
    );
    const typed = debounced(() => this.#compare(), PAUSE_MS);
    for (const id of ["text-a", "text-b"]) find(id).addEventListener("input", () => typed.soon());
  }

  show() {
    this.#compare();
  }

  engineReady() {
    this.#compare();
  }

  #ask() {
    if (this.#app.route().view !== "compare") return null;
    const texts = [find("text-a").value, find("text-b").value];
    if (this.#app.isReady() && texts.every((text) => text.trim() !== "")) {
      return this.#app.client.ask("compare", { texts }).then((/** @type {any} */ answer) => ({ ...answer, texts }));
    }
    find("similarity").textContent = "–";
    find("similarity-words").textContent = this.#app.isReady() ? "Type two texts." : "As soon as the engine is ready.";
    find("similarity-bar").style.setProperty("--score", "0");
    return null;
  }

  /** @param {any} answer */
  #show({ score, parts, texts }) {
    find("similarity").textContent = score.toFixed(2);
    find("similarity-words").textContent = /** @type {any} */ (WORDS.find(([from]) => score >= from))[1];
    find("similarity-bar").style.setProperty("--score", String(Math.max(0, score)));
    showReading(find("count-a"), find("cut-a"), parts[0], texts[0]);
    showReading(find("count-b"), find("cut-b"), parts[1], texts[1]);
  }
}

/**
 * @param {HTMLElement} count
 * @param {HTMLElement | null} cut
 * @param {{tokens: number, limit: number, readTo: number}} part
 * @param {string} text
 */
export function showReading(count, cut, { tokens, limit, readTo }, text) {
  const rest = text.slice(readTo);
  count.textContent = rest === "" ? `${counted(tokens, "token")} of at most ${limit}` : `${counted(tokens, "token")}, the most that is read`;
  if (cut === null) return;
  cut.hidden = rest === "";
  cut.textContent = rest === "" ? "" : `Not read: “${rest.trim().slice(0, 160)}${rest.trim().length > 160 ? " …" : ""}”`;
}
