/** The dialog that shows a document whole, with the passage that was found. */
import { find, make } from "./dom.js";
import { passage } from "./results.js";

export class Reader {
  #app;
  #text = "";

  /** @param {any} app */
  constructor(app) {
    this.#app = app;
    const dialog = find("reader");
    find("reader-close").addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (/** @type {Event} */ event) => {
      if (event.target === dialog) dialog.close(); // beside it
    });
    find("reader-similar").addEventListener("click", () => {
      dialog.close();
      find("query").value = this.#text;
      this.#app.go({ view: "search", query: this.#text }, { push: true });
    });
  }

  /**
   * @param {"encyclopedia" | "library"} collection
   * @param {string} id
   * @param {import("./showable.js").Piece[]} [pieces] the passage that was found
   */
  async open(collection, id, pieces = []) {
    const found = await this.#app.client.ask("document", { collection, id }).catch(() => null);
    if (found === null) return;
    const shown = pieces.map((piece) => piece.text).join("");
    const at = shown === "" ? -1 : found.text.indexOf(shown);
    this.#text = (shown || found.text).slice(0, 500);
    find("reader-title").textContent = found.title || found.source;
    const isArticle = collection === "encyclopedia";
    find("reader-link").hidden = !isArticle;
    if (isArticle) find("reader-link").href = found.source;
    find("reader-place").textContent =
      isArticle ? `${found.meta.about} · ${found.meta.topic}` : [found.title && found.source, found.meta.place].filter(Boolean).join(" · ");
    const parts =
      at === -1
        ? [found.text]
        : [
            found.text.slice(0, at),
            at === 0 && shown.length === found.text.length
              ? make("span", {}, ...passage(pieces))
              : make("span", { className: "found" }, ...passage(pieces)),
            found.text.slice(at + shown.length),
          ];
    find("reader-text").replaceChildren(...parts);
    find("reader").showModal();
    find("reader-text").querySelector(".found")?.scrollIntoView({ block: "center" });
  }
}
