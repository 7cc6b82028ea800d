/** The search panel: what is typed becomes results, and an address that finds them again. */
import { latestWins } from "./client.js";
import { debounced, find, make, number } from "./dom.js";
import { showHits, showSentences, summary } from "./results.js";

const LIMIT = 24;
const PAUSE_MS = 60; // between a keystroke and its search
const HEADINGS = { meaning: "Nearest in meaning", keyword: "With these words", hybrid: "By meaning and by words" };

export class SearchPanel {
  #app;
  #query = /** @type {HTMLInputElement} */ (find("query"));
  #search;
  /** @type {any} what the results shown were asked with */
  #asked = null;
  #isOutdated = false; // what is searched has vectors of another model
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #sentences;
  #typed = debounced(() => this.#changed(), PAUSE_MS);

  /** @param {import("./demo.js").App | any} app */
  constructor(app) {
    this.#app = app;
    this.#search = latestWins(
      () => this.#ask(),
      (answer) => this.#show(answer),
      (failure) => this.#fail(failure),
    );
    for (const button of find("examples").querySelectorAll("button")) {
      button.addEventListener("click", () => this.lookUp(button.textContent));
    }
    this.#listen();
    this.groupsChanged();
    if (matchMedia("(hover: hover)").matches) this.#query.focus(); // no keyboard over a phone's screen
  }

  #listen() {
    this.#query.addEventListener("input", () => this.#typed.soon());
    find("form").addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#typed.now();
    });
    find("form").addEventListener("change", (/** @type {Event} */ event) => {
      if (event.target === this.#query) return;
      const collection = find("collection").value;
      const moved = collection !== this.#app.route().collection;
      const mode = document.querySelector("input[name=mode]:checked");
      const filter = moved ? "" : find("filter").value;
      this.#app.go({ mode: /** @type {HTMLInputElement} */ (mode).value, collection, filter }, { push: true });
      if (moved) this.groupsChanged();
    });
    find("copy-link").addEventListener("click", async () => {
      await navigator.clipboard.writeText(location.href).then(
        () => (find("copy-link").textContent = "Copied"),
        () => (find("copy-link").textContent = "The address bar has it"),
      );
      setTimeout(() => (find("copy-link").textContent = "Copy link"), 1500);
    });
    addEventListener("keydown", (event) => this.#key(event));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const typing = target.matches("input:not([type=radio]), textarea, select");
    if (find("reader").open || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !typing) {
      event.preventDefault();
      if (this.#app.route().view !== "search") this.#app.go({ view: "search" }, { push: true });
      this.#query.focus();
      this.#query.select();
    } else if (event.key === "Escape" && target === this.#query) {
      this.#query.value = "";
      this.#typed.now();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const stops = [this.#query, .../** @type {any} */ (document.querySelectorAll("#results .hit"))];
      const at = stops.indexOf(target);
      const next = at === -1 ? undefined : stops[at + (event.key === "ArrowDown" ? 1 : -1)];
      if (next === undefined) return;
      event.preventDefault();
      next.focus();
    }
  }

  /**
   * Takes query, mode, collection and filter from the address.
   *
   * @param {{focus?: boolean}} [how]
   */
  fromRoute({ focus = false } = {}) {
    const { query, mode, collection } = this.#app.route();
    this.#query.value = query;
    find("collection").value = collection;
    /** @type {any} */ (document.querySelector(`input[name=mode][value=${mode}]`)).checked = true;
    this.groupsChanged();
    if (focus) this.#query.focus();
  }

  show() {
    this.refresh();
  }

  engineReady() {
    this.groupsChanged();
    this.refresh();
  }

  refresh() {
    this.#search();
  }

  /** @param {string} text */
  lookUp(text) {
    this.#query.value = text;
    this.#app.go({ view: "search", query: text }, { push: true });
    this.#query.focus();
  }

  /** The choices of the filter, as the collection has them now. */
  async groupsChanged() {
    const { collection } = this.#app.route();
    find("filter-label").textContent = collection === "encyclopedia" ? "Topic" : "File";
    const groups = await this.#app.client.ask("groups", { collection }).catch(() => []);
    if (collection !== this.#app.route().collection) return;
    this.#isOutdated = groups.some((/** @type {any} */ group) => group.isOutdated);
    const { filter } = this.#app.route();
    const names = groups.map((/** @type {any} */ { name, count }) => make("option", { value: name, textContent: `${name} (${number(count)})` }));
    // A link may name what is not there (yet); the filter it asks for holds all the same.
    if (filter !== "" && !groups.some((/** @type {any} */ { name }) => name === filter)) names.push(make("option", { value: filter, textContent: filter }));
    find("filter").replaceChildren(make("option", { value: "", textContent: collection === "encyclopedia" ? "All topics" : "All files" }), ...names);
    find("filter").value = filter;
  }

  #changed() {
    this.#app.go({ query: this.#query.value.trim() });
  }

  #ask() {
    const { query, mode, collection, filter } = this.#app.route();
    find("results-heading").textContent = HEADINGS[/** @type {keyof typeof HEADINGS} */ (mode)];
    find("copy-link").hidden = query === "";
    find("start").hidden = true;
    this.#asked = null;
    if (query === "") {
      showHits([], { query: "", collection, mode, open: () => {} });
      find("count").textContent = "";
      find("empty").textContent = "Your results appear here.";
      find("start").hidden = false;
      return null;
    }
    const asked = { query, mode, collection, filter, k: LIMIT };
    return this.#app.client.ask("query", asked).then((/** @type {any} */ answer) => ({ ...answer, asked }));
  }

  /**
   * Which sentence of each result is nearest: after the results, since it takes longer.
   *
   * @param {any} asked
   */
  #findSentences(asked) {
    this.#asked = asked;
    if (!this.#app.isReady() || asked.query === "") return;
    clearTimeout(this.#sentences);
    this.#sentences = setTimeout(async () => {
      if (this.#asked !== asked) return;
      const found = await this.#app.client.ask("sentences", asked).catch(() => []); // the next query ended it
      if (this.#asked === asked) showSentences(found);
    }, PAUSE_MS);
  }

  /** @param {any} answer */
  #show({ hits, ms, mode, truncated, size, asked }) {
    const { query, collection } = asked;
    const open = (/** @type {any} */ hit) => this.#app.read(collection, hit.id, hit.pieces);
    showHits(hits, { query, collection, mode, open });
    this.#findSentences(asked);
    const early = mode === asked.mode ? "" : " · by keyword, until the engine is ready";
    find("count").textContent = summary({ hits, ms, mode, truncated, size }) + early;
    find("empty").textContent =
      size === 0
        ? this.#isOutdated
          ? "Your files have to be indexed again first, under “Your files”."
          : "Nothing is here yet. Add files under “Your files”."
        : mode === "keyword" && asked.mode !== "keyword"
          ? "No passage has these words. Your results by meaning appear as soon as the engine is ready."
          : "Nothing has these words. Try searching by meaning.";
  }

  /** @param {{code: string, message: string}} failure */
  #fail({ code, message }) {
    showHits([], { query: "", collection: "encyclopedia", mode: "meaning", open: () => {} });
    find("count").textContent = "";
    find("empty").textContent =
      code === "NOT_READY" || code === "ABORTED" || !this.#app.isReady()
        ? "Your results appear here as soon as the engine is ready."
        : `This search failed: ${message}`;
  }
}
