/** The methods of the JavaScript API as small JSON routes. */
import { classify as rankLabels } from "../web/classify.js";
import { describe } from "../web/errors.js";
import { similarity as cosine } from "../web/similarity.js";
import { QUERY } from "./answer.js";
import { HttpError, invalidInput } from "./errors.js";
import { optionalInteger, textField, textsField } from "./fields.js";
import { countTokens, embedAll } from "./texts.js";

/**
 * @typedef {import("./app.js").Work} Work
 * @typedef {import("./answer.js").Answer} Answer
 */

/** One answer holds at most this many floats: more go through /v1/embeddings, which streams. */
const MOST_EMBEDDED = 256;

/**
 * POST /embed {text} or {texts}
 *
 * @param {Work} work
 * @returns {Promise<Answer>}
 */
export async function embed(work) {
  const { json, settings } = work;
  const one = json.texts === undefined || json.texts === null;
  const most = Math.min(settings.maxInputs, MOST_EMBEDDED);
  const texts = one ? [textField(json, "text")] : textsField(json, "texts", most);
  const { vectors, counts } = await vectorsOf(work, texts);
  const items = vectors.map((vector, i) => ({ embedding: Array.from(vector), ...counts[i] }));
  return { json: one ? items[0] : { embeddings: items } };
}

/**
 * POST /tokenize {text}
 *
 * @param {Work} work
 * @returns {Promise<Answer>}
 */
export async function tokenize(work) {
  const text = textField(work.json, "text");
  const engine = await work.engine();
  const { tokens, truncated } = engine.tokenCount(text);
  work.note({ items: 1, tokens, truncated: truncated ? [0] : [] });
  return { json: { ids: Array.from(engine.tokenize(text)), tokens, truncated } };
}

/**
 * POST /similarity {a, b}, two texts or two vectors
 *
 * @param {Work} work
 * @returns {Promise<Answer>}
 */
export async function similarity(work) {
  const { a, b } = work.json;
  if (Array.isArray(a) && Array.isArray(b)) {
    checkNumbers(a, "a");
    checkNumbers(b, "b");
    return { json: { similarity: cosine(a, b) } };
  }
  if (typeof a !== "string" || typeof b !== "string") {
    const found = `${describe(a)} and ${describe(b)}`;
    throw invalidInput(`a and b must be two strings or two arrays of numbers, found ${found}.`, "a");
  }
  const { vectors } = await vectorsOf(work, [a, b]);
  return { json: { similarity: cosine(vectors[0], vectors[1]) } };
}

/**
 * POST /classify {text, labels, threshold}, labels: texts, or examples by label
 *
 * @param {Work} work
 * @returns {Promise<Answer>}
 */
export async function classify(work) {
  const { json, settings } = work;
  const text = textField(json, "text");
  const { maxInputs } = settings;
  const labels = Array.isArray(json.labels)
    ? textsField(json, "labels", maxInputs)
    : /** @type {any} */ (json.labels);
  const threshold = /** @type {any} */ (json.threshold ?? undefined);
  const engine = {
    /** @param {string[]} texts the text, and what speaks for the labels */
    async embedBatch(texts) {
      if (texts.length - 1 > maxInputs) {
        const message = `labels have ${texts.length - 1} examples; one request takes ${maxInputs}.`;
        throw new HttpError("too_many_inputs", message, { param: "labels" });
      }
      return (await vectorsOf(work, texts, { queryFirst: true })).vectors;
    },
  };
  return { json: { labels: await rankLabels(engine, text, labels, { threshold }) } };
}

/**
 * POST /search {query, documents, top_k}
 *
 * @param {Work} work
 * @returns {Promise<Answer>}
 */
export async function search(work) {
  const { json, settings } = work;
  const query = textField(json, "query");
  const documents = textsField(json, "documents", settings.maxInputs);
  const count = optionalInteger(json, "top_k", 1, settings.maxInputs) ?? documents.length;
  const { vectors } = await vectorsOf(work, [query, ...documents], { queryFirst: true });
  const [queryVector, ...documentVectors] = vectors;
  const results = documentVectors
    .map((vector, index) => ({ index, score: cosine(queryVector, vector) }))
    .sort((one, other) => other.score - one.score)
    .slice(0, count);
  return { json: { results } };
}

/**
 * @param {Work} work
 * @param {readonly string[]} texts
 * @param {{queryFirst?: boolean}} [options] queryFirst: the first is no item of the request's list,
 *   whose indices begin after it
 */
async function vectorsOf(work, texts, { queryFirst = false } = {}) {
  const { settings, signal } = work;
  const engine = await work.engine();
  const { counts, total, truncated } = await countTokens(engine, texts, settings.maxTokens, signal);
  const cut = queryFirst ? truncated.map((at) => (at === 0 ? QUERY : at - 1)) : truncated;
  work.note({ items: texts.length, tokens: total, truncated: cut });
  return { vectors: await embedAll(engine, texts, counts, signal), counts };
}

/**
 * @param {unknown[]} vector
 * @param {string} name
 */
function checkNumbers(vector, name) {
  const at = vector.findIndex((value) => typeof value !== "number");
  if (at >= 0) {
    throw invalidInput(`${name}[${at}] must be a number, found ${describe(vector[at])}.`, name);
  }
}
