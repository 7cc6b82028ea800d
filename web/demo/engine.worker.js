/**
 * The engine and the indexes, off the main thread, so that typing never waits for them.
 *
 * The page sends {id, method, input} and gets {id, value} or {id, failure}. Without being asked it
 * gets {event, detail}: "progress" while the engine loads, "embedding" where the dictionary's vectors
 * have to be computed, "reading", "indexing" and "library" about the user's own material.
 */
import { classify } from "../classify.js";
import { similarity } from "../similarity.js";
import { load } from "../tern-engine.js";
import { Dictionary } from "./dictionary.js";
import { Library } from "./library.js";
import { readUpTo } from "./reading.js";
import { showable } from "./showable.js";

/** @type {import("../engine.js").Engine | null} */
let engine = null;
/**
 * @param {string} event
 * @param {any} detail
 */
const tell = (event, detail) => postMessage({ event, detail });
const dictionary = new Dictionary(tell);
const library = new Library(tell);
const collections = { dictionary, library };

const methods = {
  /** Loads the engine. @param {{model?: string}} input URL of another model than the build's own */
  async load({ model }) {
    const onProgress = (/** @type {any} */ progress) => tell("progress", progress);
    const loaded = await load({ model, onProgress });
    await dictionary.use(loaded);
    loaded.embed("the first search is the slowest");
    engine = loaded;
    const stored = await library.use(loaded);
    return { summary: JSON.parse(loaded.config_summary()), count: await dictionary.count(), stored };
  },

  /** What there is to filter by. @param {{collection: "dictionary" | "library"}} input */
  groups: ({ collection }) => collections[collection].groups(),

  /**
   * Before the engine is there, the dictionary can be searched by keyword.
   *
   * @param {{collection: "dictionary" | "library", query: string, mode: any, filter: string, k: number}} input
   */
  async query({ collection, query, mode, filter, k }) {
    const source = collections[collection];
    const used = engine === null ? "keyword" : mode;
    const began = performance.now();
    const index = await source.index();
    const found = await index.query(query, {
      k,
      mode: used,
      filter: filter === "" ? undefined : (document) => source.groupOf(document) === filter,
      bestSentence: engine !== null && source.hasSentences,
    });
    const ms = performance.now() - began;
    const truncated = engine?.tokenCount(query).truncated ?? false;
    return { hits: found.map((result) => showable(result)), ms, mode: used, truncated, size: index.size };
  },

  /** @param {{collection: "dictionary" | "library", id: string}} input */
  async document({ collection, id }) {
    return (await collections[collection].index()).get(id) ?? null;
  },

  /** @param {{texts: [string, string]}} input */
  compare({ texts }) {
    const ready = needEngine();
    const [one, other] = ready.embedBatch(texts);
    return { score: similarity(one, other), parts: texts.map((text) => readUpTo(ready, text)) };
  },

  /** @param {{text: string, labels: string[]}} input */
  async classify({ text, labels }) {
    const ready = needEngine();
    return { scores: await classify(ready, text, labels), part: readUpTo(ready, text) };
  },

  /** @param {{files: import("./readers.js").Material[]}} input */
  addMaterial: ({ files }) => library.add(files),
  pause: () => library.pause(),
  resume: () => library.resume(),
  cancel: () => library.cancel(),
  /** @param {{source: string}} input */
  removeSource: ({ source }) => library.remove(source),
  removeAll: () => library.removeAll(),

  /** What the map shows of a collection. @param {{collection: "dictionary" | "library"}} input */
  places: ({ collection }) => collections[collection].places(),
};

function needEngine() {
  if (engine === null) throw Object.assign(new Error("the engine is not loaded"), { code: "NOT_READY" });
  return engine;
}

addEventListener("message", async ({ data: { id, method, input } }) => {
  try {
    const value = await /** @type {any} */ (methods)[method](input);
    postMessage({ id, value });
  } catch (error) {
    const { code = "UNKNOWN", message } = /** @type {any} */ (error);
    postMessage({ id, failure: { code, message: String(message) } });
  }
});
