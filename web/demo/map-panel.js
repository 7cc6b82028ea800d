/** The map panel: gets the places, or has them made, and shows the query among them. */
import { latestWins } from "./client.js";
import { debounced, find, make } from "./dom.js";
import { MapView, colorOf } from "./map-view.js";

const PAUSE_MS = 120;
const NEAREST = 6;
const MOST_IN_LEGEND = 12;
const REGION = 0.15; // of the map's width and height
const SHARPNESS = 0.05; // by so much less of cosine a passage pulls e times less

export class MapPanel {
  #app;
  #view;
  #locate;
  /** @type {string} whose places are shown or being made */
  #shown = "";
  /** @type {Worker | null} */
  #worker = null;
  /** @type {any[]} */
  #items = [];
  /** @type {Float32Array} */
  #points = new Float32Array(0);

  /** @param {any} app */
  constructor(app) {
    this.#app = app;
    this.#view = new MapView(find("map"), find("map-tip"), {
      open: (item) => app.read(find("map-collection").value, item.id),
      here: (item) => (find("map-here").textContent = item === null ? "" : `${item.title} (${item.group})`),
    });
    this.#locate = latestWins(
      () => this.#ask(),
      (answer) => this.#place(answer),
      () => this.#view.setQuery(null),
    );
    const typed = debounced(() => app.go({ query: find("map-query").value.trim() }), PAUSE_MS);
    find("map-query").addEventListener("input", () => typed.soon());
    find("map-form").addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      typed.now();
    });
    find("map-collection").addEventListener("change", () => app.go({ collection: find("map-collection").value, filter: "" }));
  }

  /** @param {boolean} moved */
  show(moved) {
    const { query, collection } = this.#app.route();
    find("map-collection").value = collection;
    if (moved || document.activeElement !== find("map-query")) find("map-query").value = query;
    this.#view.resize();
    if (this.#shown !== collection) this.#load(collection);
    else this.#locate();
  }

  engineReady() {
    if (this.#app.route().view === "map") this.show(true);
  }

  collectionChanged() {
    if (this.#shown === "library") this.#forget();
    if (this.#app.route().view === "map") this.show(false);
  }

  #forget() {
    this.#worker?.terminate();
    this.#worker = null;
    this.#shown = "";
  }

  /** @param {string} collection */
  async #load(collection) {
    this.#forget();
    this.#shown = collection;
    this.#setPoints([], new Float32Array(0));
    this.#wait("Fetching the map …", null);
    try {
      const { items, points, rows } = await this.#app.client.ask("places", { collection });
      if (this.#shown !== collection) return;
      if (items.length === 0) return this.#wait("Nothing is here yet. Add files under “Your files”.", -1);
      this.#setPoints(items, points ?? (await this.#layOut(rows, items.length)));
      this.#wait("", -1);
      this.#locate();
    } catch (failure) {
      if (this.#shown !== collection) return;
      this.#shown = "";
      const { code, message } = /** @type {any} */ (failure);
      this.#wait(code === "NOT_READY" ? "As soon as the engine is ready." : `The map could not be made: ${message}`, -1);
    }
  }

  /**
   * @param {Float32Array} rows
   * @param {number} count
   * @returns {Promise<Float32Array>}
   */
  #layOut(rows, count) {
    this.#wait("Laying out the map …", 0);
    const worker = new Worker(new URL("map.worker.js", import.meta.url));
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      worker.addEventListener("message", ({ data: { done, points } }) => {
        if (points === undefined) return this.#wait("Laying out the map …", done);
        worker.terminate();
        resolve(points);
      });
      worker.addEventListener("error", (event) => {
        event.preventDefault();
        reject({ code: "LOAD_NETWORK", message: event.message || "its worker could not be loaded" });
      });
      worker.postMessage({ rows, count }, [rows.buffer]);
    });
  }

  /**
   * @param {any[]} items
   * @param {Float32Array} points
   */
  #setPoints(items, points) {
    this.#items = items;
    this.#points = points;
    const groups = [...new Set(items.map(({ group }) => group))].sort();
    this.#view.setPoints(items, points, groups);
    find("map").dataset.points = String(items.length);
    const shown = groups.slice(0, MOST_IN_LEGEND).map((group, i) => {
      const dot = make("span", { className: "dot" });
      dot.style.setProperty("--dot", colorOf(i, groups.length));
      return make("li", {}, dot, String(group));
    });
    const more = groups.length - shown.length;
    find("map-legend").replaceChildren(...shown, ...(more > 0 ? [make("li", { textContent: `and ${more} more` })] : []));
  }

  #ask() {
    const { view, query, collection } = this.#app.route();
    if (view !== "map" || query === "" || !this.#app.isReady() || this.#points.length === 0) {
      this.#view.setQuery(null);
      return null;
    }
    return this.#app.client.ask("query", { collection, query, mode: "meaning", filter: "", k: NEAREST });
  }

  /**
   * A query is put among the passages nearest to it that lie together, the nearer the more.
   *
   * @param {{hits: import("./showable.js").Hit[]}} answer
   */
  #place({ hits }) {
    const rows = new Map(this.#items.map(({ id }, i) => [id, i]));
    const found = hits.filter(({ id }) => rows.has(id));
    let [x, y, sum] = [0, 0, 0];
    const place = (/** @type {string} */ id) => {
      const row = /** @type {number} */ (rows.get(id));
      return [this.#points[2 * row], this.#points[2 * row + 1]];
    };
    for (const { id, score } of found) {
      const [[left, top], [bestLeft, bestTop]] = [place(id), place(found[0].id)];
      // Between two regions there may be nothing: only those in the best one's count.
      if (Math.hypot(left - bestLeft, top - bestTop) > REGION) continue;
      const weight = Math.exp((score - found[0].score) / SHARPNESS);
      x += weight * left;
      y += weight * top;
      sum += weight;
    }
    if (sum === 0) return this.#view.setQuery(null);
    this.#view.setQuery({ x: x / sum, y: y / sum }, found.map(({ id }) => /** @type {number} */ (rows.get(id))));
    const titles = found.map(({ id }) => this.#items[/** @type {number} */ (rows.get(id))].title);
    find("map-here").textContent = `Nearest: ${titles.join(", ")}`;
  }

  /**
   * @param {string} text "" for nothing to wait for
   * @param {number | null} progress null for no telling, −1 for none
   */
  #wait(text, progress) {
    find("map-wait").hidden = text === "";
    find("map-wait-text").textContent = text;
    find("map-progress").hidden = progress === -1;
    if (progress === null) find("map-progress").removeAttribute("value");
    else find("map-progress").value = Math.max(0, progress);
  }
}
