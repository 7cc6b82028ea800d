/**
 * The engine and the indexes, off the main thread, so that typing never waits for them.
 *
 * The page sends {id, method, input} and gets {id, value} or {id, failure}. Without being asked it
 * gets {event, detail}: "progress" while the engine loads, "embedding" where the encyclopedia's vectors
 * have to be computed, "reading" and "indexing" about the user's own material.
 */
import { classify } from "../classify.js";
import { similarity } from "../similarity.js";
import { load } from "../tern-engine.js";
import { Encyclopedia } from "./encyclopedia.js";
import { failure } from "./failure.js";
import { Library } from "./library.js";
import { readUpTo } from "./reading.js";
import { piecesOf, showable } from "./showable.js";

/** @type {import("../tern-engine.js").Engine | null} */
let engine = null;
/**
 * @param {string} event
 * @param {any} detail
 */
const tell = (event, detail) => postMessage({ event, detail });
const encyclopedia = new Encyclopedia(tell);
const library = new Library(tell);
const collections = { encyclopedia, library };
/** Ends the search for sentences that the last query began. */
let looking = new AbortController();

/**
 * @typedef {object} Asked
 * @property {"encyclopedia" | "library"} collection
 * @property {string} query
 * @property {any} mode
 * @property {string} filter
 * @property {number} k
 */

/** @param {Asked} asked */
function options({ collection, mode, filter, k }) {
  const source = collections[collection];
  const wanted = filter === "" ? undefined : (/** @type {any} */ document) => source.groupOf(document) === filter;
  return { k, filter: wanted, mode: engine === null ? "keyword" : mode };
}

const methods = {
  /** Loads the engine. @param {{model?: string}} input URL of another model than the build's own */
  async load({ model }) {
    const onProgress = (/** @type {any} */ progress) => tell("progress", progress);
    const loaded = await load({ model, onProgress });
    const { count, problem } = await encyclopedia.use(loaded);
    loaded.embed("the first search is the slowest");
    engine = loaded;
    const stored = await library.use(loaded, model);
    return { summary: JSON.parse(loaded.config_summary()), count, problem, stored };
  },

  /** What there is to filter by. @param {{collection: "encyclopedia" | "library"}} input */
  groups: ({ collection }) => collections[collection].groups(),

  /**
   * Before the engine is there, the encyclopedia can be searched by keyword.
   *
   * @param {Asked} asked
   */
  async query(asked) {
    looking.abort();
    const { query, collection } = asked;
    const began = performance.now();
    const index = await collections[collection].index();
    const how = options(asked);
    const found = await index.query(query, how);
    const ms = performance.now() - began;
    const truncated = engine?.tokenCount(query).truncated ?? false;
    return { hits: found.map((result) => showable(result)), ms, mode: how.mode, truncated, size: index.size };
  },

  /**
   * The same results with the sentence of each that is nearest to the query, which takes longer. The
   * next query ends it.
   *
   * @param {Asked} asked
   */
  async sentences(asked) {
    looking.abort();
    looking = new AbortController();
    const { signal } = looking;
    const index = await collections[asked.collection].index();
    const found = await index.query(asked.query, { ...options(asked), bestSentence: true, signal });
    return found.map((result) => ({ id: result.id, pieces: piecesOf(result) }));
  },

  /** @param {{collection: "encyclopedia" | "library", id: string}} input */
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
  /** Indexes again what is kept with vectors of another model. */
  indexAgain: () => library.add([]),
  /** @param {{source: string}} input */
  removeSource: ({ source }) => library.remove(source),
  removeAll: () => library.removeAll(),

  /** What the map shows of a collection. @param {{collection: "encyclopedia" | "library"}} input */
  places: ({ collection }) => collections[collection].places(),
};

function needEngine() {
  if (engine === null) throw failure("NOT_READY", "the engine is not loaded");
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
