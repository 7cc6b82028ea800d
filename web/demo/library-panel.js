/** The panel of the user's own files: adding, following, and removing them. */
import { counted, find, fromTemplate, make, number } from "./dom.js";
import { filesOfDrop } from "./dropped.js";

const PROBLEMS = {
  INDEX_STALE: "Your files are here, but were indexed with another model. Index them again to search them.",
  INDEX_FORMAT: "What was kept is damaged. Remove it and add your files again.",
  STORAGE_QUOTA: "This browser has no room to keep them: they are gone when this tab closes.",
  STORAGE_UNAVAILABLE: "This browser keeps nothing for this page: they are gone when this tab closes.",
};

export class LibraryPanel {
  #app;
  #onChange;
  #paused = false;
  #texts = 0;
  #hasUnreadable = false; // something is kept that cannot be used, only removed

  /**
   * @param {any} app
   * @param {() => void} onChange called when the library has changed
   */
  constructor(app, onChange) {
    this.#app = app;
    this.#onChange = onChange;
    find("pick").addEventListener("click", () => find("files").click());
    find("pick-folder").addEventListener("click", () => find("folder").click());
    for (const id of ["files", "folder"]) {
      find(id).addEventListener("change", (/** @type {any} */ { target }) => {
        this.#add(Array.from(target.files, (/** @type {File} */ file) => ({ name: file.webkitRelativePath || file.name, file })));
        target.value = "";
      });
    }
    find("paste-form").addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      const text = find("paste").value;
      if (text.trim() === "" || !this.#app.isReady()) return this.#say("Type or paste a text first.");
      find("paste").value = "";
      const start = text.trim().replace(/\s+/g, " ").slice(0, 40);
      this.#add([{ name: `Pasted text ${++this.#texts}: ${start}`, text }]);
    });
    this.#listenToDrops();
    find("pause").addEventListener("click", () => this.#pause());
    find("stop").addEventListener("click", () => this.#app.client.ask("cancel"));
    find("index-again").addEventListener("click", () => this.#run("indexAgain", {}, 0));
    find("search-library").addEventListener("click", () => {
      this.#app.go({ view: "search", collection: "library", filter: "" }, { push: true });
      this.#app.collectionChosen();
    });
    find("remove-all").addEventListener("click", () => this.#removeAll());
  }

  #listenToDrops() {
    addEventListener("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      if (this.#app.route().view !== "library") this.#app.go({ view: "library" });
      find("drop").classList.add("over");
    });
    addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) find("drop").classList.remove("over");
    });
    addEventListener("drop", async (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      find("drop").classList.remove("over");
      this.#add(await filesOfDrop(event.dataTransfer));
    });
  }

  show() {}

  engineReady() {
    this.#list();
  }

  /** @param {{problem: string}} stored what the worker says of what was kept */
  opened({ problem }) {
    this.#say(PROBLEMS[/** @type {keyof typeof PROBLEMS} */ (problem)] ?? "");
    this.#hasUnreadable = problem.startsWith("INDEX_");
  }

  /**
   * @param {string} event
   * @param {any} detail
   */
  hear(event, detail) {
    const { done, total } = detail;
    if (event === "reading") find("run-text").textContent = `Reading ${detail.name} …`;
    if (event !== "indexing") return;
    const rate = detail.rate ? `, ${number(Math.round(detail.rate))} a second` : "";
    if (!this.#paused) find("run-text").textContent = `${number(done)} of ${counted(total, "passage")}${rate}`;
    find("run-progress").value = total === 0 ? 0 : done / total;
    find("run").dataset.workers = detail.workers;
  }

  /** @param {import("./readers.js").Material[]} files */
  async #add(files) {
    if (files.length === 0) return;
    if (!this.#app.isReady()) return this.#say("As soon as the engine is ready.");
    return this.#run("addMaterial", { files }, files.length);
  }

  /**
   * @param {"addMaterial" | "indexAgain"} method
   * @param {Record<string, unknown>} input
   * @param {number} files
   */
  async #run(method, input, files) {
    this.#running(true);
    this.#say("");
    find("problems").replaceChildren();
    try {
      const done = await this.#app.client.ask(method, input);
      if (done.stored && !done.cancelled) this.#hasUnreadable = false; // what is kept now has taken its place
      this.#report(done, files);
    } catch (failure) {
      const { code, message } = /** @type {any} */ (failure);
      this.#say(code === "BUSY" ? "Let the files before finish first." : `That failed: ${message}`);
      if (code === "BUSY") return;
    }
    this.#running(false);
    await this.#list();
    this.#onChange();
  }

  /**
   * @param {any} done
   * @param {number} files
   */
  #report({ added, again, failures, cancelled, stored, problem }, files) {
    const kept = stored ? " They stay here until you remove them." : ` ${PROBLEMS[/** @type {keyof typeof PROBLEMS} */ (problem)] ?? problem}`;
    const what = `${counted(added, "passage")} of ${counted(files - failures.length, "file")} added.`;
    const anew = again > 0 ? `${counted(again, "passage")} indexed again.` : "";
    this.#say(
      cancelled
        ? "Cancelled. Nothing of it was kept."
        : added === 0
          ? anew || "Nothing was added."
          : `${what}${anew && ` ${anew}`}${kept}`,
    );
    const rows = failures.map((/** @type {any} */ { name, code, message }) =>
      make("li", {}, make("strong", { textContent: name }), ` could not be read: ${message} (${code})`),
    );
    find("problems").replaceChildren(...rows);
  }

  /** @param {boolean} on */
  #running(on) {
    this.#paused = false;
    find("run").hidden = !on;
    find("pause").textContent = "Pause";
    find("run-progress").value = 0;
    find("run-text").textContent = "Reading …";
    for (const id of ["pick", "pick-folder", "paste-add", "index-again"]) find(id).disabled = on;
  }

  #pause() {
    this.#paused = !this.#paused;
    this.#app.client.ask(this.#paused ? "pause" : "resume");
    find("pause").textContent = this.#paused ? "Go on" : "Pause";
    if (this.#paused) find("run-text").textContent = `Paused. ${find("run-text").textContent}`;
  }

  async #list() {
    const groups = await this.#app.client.ask("groups", { collection: "library" }).catch(() => []);
    const isOutdated = groups.some((/** @type {any} */ group) => group.isOutdated);
    const rows = groups.map((/** @type {{name: string, count: number}} */ { name, count }) => {
      const { element, part } = fromTemplate("source");
      part(".source-name").textContent = name;
      part(".detail").textContent = counted(count, "passage");
      part("button").hidden = isOutdated;
      part("button").setAttribute("aria-label", `Remove ${name}`);
      part("button").addEventListener("click", async () => {
        await this.#app.client.ask("removeSource", { source: name });
        this.#say(`${name} was removed.`);
        await this.#list();
        this.#onChange();
      });
      return element;
    });
    find("sources").replaceChildren(...rows);
    find("index-again").hidden = !isOutdated;
    find("search-library").hidden = isOutdated || groups.length === 0;
    find("library-list").hidden = groups.length === 0 && !this.#hasUnreadable;
    const passages = groups.reduce((/** @type {number} */ sum, /** @type {any} */ { count }) => sum + count, 0);
    find("library-count").textContent = `${counted(groups.length, "file")}, ${counted(passages, "passage")}`;
  }

  async #removeAll() {
    await this.#app.client.ask("removeAll");
    this.#hasUnreadable = false;
    this.#say("Everything of yours was removed from this browser.");
    find("problems").replaceChildren();
    await this.#list();
    this.#onChange();
    find("pick").focus();
  }

  /** @param {string} text */
  #say(text) {
    find("library-status").textContent = text;
  }
}
