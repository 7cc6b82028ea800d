/** A query, from what the caller asked to results with passages and highlights. */
import { CodePoints } from "./code-points.js";
import { TernError, abortable, checkInput, checkOptions, describe } from "./errors.js";
import { Best, RRF_DEPTH, bestOfDocuments, fuse } from "./fusion.js";
import { Pacer } from "./pace.js";
import { sentencesOf } from "./sentences.js";
import { vectorLength } from "./vectors.js";
import { highlightsOf, wordsOf } from "./words.js";

/** @typedef {import("./documents.js").Document} Document */
/** @typedef {import("./fusion.js").Hit} Hit */
/** @typedef {"meaning" | "keyword" | "hybrid"} Mode */

const QUERY = "the query";
const OPTIONS = ["k", "mode", "filter", "vector", "bestSentence", "signal"];

/**
 * @typedef {object} QueryOptions
 * @property {number} [k] how many results at most; default 10
 * @property {Mode} [mode] default "meaning"
 * @property {(document: Document) => boolean} [filter] which documents count
 * @property {ArrayLike<number>} [vector] the query's embedding, where it is known already
 * @property {boolean} [bestSentence] whether to find the sentence of each passage nearest to the query
 * @property {AbortSignal} [signal]
 *
 * @typedef {object} Result
 * @property {string} id
 * @property {number} score by which results are ranked: the cosine, what MiniSearch gives, or the sum
 *   of reciprocal ranks
 * @property {Document} document
 * @property {{index: number, start: number, end: number, text: string} | null} passage the best one,
 *   its place in the document's text in code points; null for a document without any
 * @property {[start: number, end: number][]} highlights words of passage.text that match, in code
 *   points of it
 * @property {{rank: number, score: number} | null} meaning where it stands by meaning alone
 * @property {{rank: number, score: number} | null} keyword where it stands by keyword alone
 * @property {{start: number, end: number, text: string} | null} [sentence] with bestSentence: its
 *   place in the document's text in code points
 */

/**
 * @param {string | ArrayLike<number>} query
 * @param {QueryOptions | undefined} options
 * @param {object} index
 * @param {import("./embedder.js").Embedder} index.embedder
 * @param {() => import("./rows.js").Rows} index.rows
 * @param {() => Promise<import("./keywords.js").Keywords>} index.keywords up to date
 * @returns {Promise<Result[]>}
 */
export async function runQuery(query, options = {}, { embedder, rows, keywords }) {
  checkOptions(options, OPTIONS, "query");
  const { k = 10, mode = "meaning", signal, bestSentence = false } = options;
  const text = typeof query === "string" ? query : null;
  const given = typeof query === "string" ? options.vector : query;
  checkInput(Number.isInteger(k) && k > 0, `k must be a positive integer, found ${String(k)}`);
  checkInput(
    mode === "meaning" || mode === "keyword" || mode === "hybrid",
    `mode must be "meaning", "keyword" or "hybrid", found ${String(mode)}`,
  );
  const filter = checkedFilter(options.filter);
  checkInput(text !== null || mode === "meaning", `the mode ${mode} needs a text, found ${describe(query)}`);
  const pacer = new Pacer(signal, QUERY);
  const size = mode === "hybrid" ? Math.max(RRF_DEPTH, k) : k;

  /** @type {Float32Array | null} */
  let vector = null;
  if (mode !== "keyword" || bestSentence) {
    if (given !== undefined) vector = unit(given, embedder.dim);
    else vector = await embedder.embed(/** @type {string} */ (text), signal);
    pacer.check();
  }
  /** @type {Hit[]} */
  let byMeaning = [];
  if (mode !== "keyword" && vector !== null) byMeaning = await rows().nearest(vector, size, filter, pacer);

  const terms = new Set(wordsOf(text ?? "").map(({ term }) => term));
  /** @type {Hit[]} */
  let byKeyword = [];
  if (mode !== "meaning" && text !== null) {
    // The half goes on being made: the next query needs it, too.
    const prepared = await abortable(keywords(), signal, QUERY);
    const best = new Best(size);
    for (const { entry, part, score, terms: matched } of bestOfDocuments(prepared.find(text))) {
      if (entry.removed || (filter !== undefined && !filter(entry.document))) continue;
      for (const term of matched) terms.add(term);
      best.offer(entry, part, score);
    }
    byKeyword = best.ranked();
  }
  byMeaning = byMeaning.filter(({ entry }) => !entry.removed);
  const hits = { meaning: byMeaning, keyword: byKeyword, hybrid: fuse(byMeaning, byKeyword) }[mode];
  const ranks = { meaning: rankMap(byMeaning), keyword: rankMap(byKeyword) };
  const results = hits.slice(0, k).map(({ entry, part, score }) => {
    const { document } = entry;
    const passage = entry.passageCount > 0 ? entry.passage(part) : null;
    const highlights = passage === null ? [] : highlightsOf(passage.text, terms);
    const meaning = ranks.meaning.get(entry) ?? null;
    const keyword = ranks.keyword.get(entry) ?? null;
    /** @type {Result} */
    const result = { id: document.id, score, document, passage, highlights, meaning, keyword };
    return result;
  });
  if (bestSentence && vector !== null) await addSentences(results, vector, embedder, pacer);
  return results;
}

/**
 * A filter that refuses a promise for an answer, which would let every document pass.
 *
 * @param {QueryOptions["filter"]} filter
 * @returns {QueryOptions["filter"]}
 */
function checkedFilter(filter) {
  if (filter === undefined) return undefined;
  checkInput(typeof filter === "function", `filter must be a function, found ${describe(filter)}`);
  return (document) => {
    const answer = /** @type {any} */ (filter(document));
    if (typeof answer?.then !== "function") return answer;
    answer.then(undefined, () => {}); // or its failure would end a Node process
    throw new TernError("INVALID_INPUT", "filter must answer true or false at once, found a promise");
  };
}

/** @param {readonly Hit[]} hits */
function rankMap(hits) {
  return new Map(hits.map(({ entry, score }, i) => [entry, { rank: i + 1, score }]));
}

/**
 * A vector that a caller gave, at length 1.
 *
 * @param {ArrayLike<number>} vector
 * @param {number} dim
 * @returns {Float32Array}
 */
function unit(vector, dim) {
  const isVector = Array.isArray(vector) || (ArrayBuffer.isView(vector) && !(vector instanceof DataView));
  checkInput(isVector, `a query must be a text or a vector of numbers, found ${describe(vector)}`);
  if (vector.length !== dim) {
    throw new TernError("DIMENSION", `the query has ${vector.length} elements, the index's vectors have ${dim}`);
  }
  const numbers = Array.from(vector);
  checkInput(numbers.every(Number.isFinite), "the query has an element that is not a finite number");
  const length = vectorLength(numbers);
  checkInput(length > 0 && length < Infinity, `the query is a vector of length ${length}, which has no direction`);
  return Float32Array.from(numbers, (x) => x / length);
}

/**
 * Finds the sentence of each result's passage that is nearest to the query.
 *
 * @param {Result[]} results
 * @param {Float32Array} vector
 * @param {import("./embedder.js").Embedder} embedder
 * @param {Pacer} pacer
 */
async function addSentences(results, vector, embedder, pacer) {
  for (const result of results) {
    result.sentence = null;
    const { passage } = result;
    if (passage === null) continue;
    const points = new CodePoints(passage.text);
    const ranges = Array.from(sentencesOf(points));
    const texts = ranges.map(([start, end]) => points.slice(start, end));
    let best = 0;
    if (texts.length > 1) {
      const scores = [];
      while (scores.length < texts.length) {
        const batch = texts.slice(scores.length, scores.length + embedder.batchSize);
        for (const sentence of await embedder.embedBatch(batch, pacer.signal)) scores.push(dot(vector, sentence));
        if (pacer.due) await pacer.pause();
      }
      best = scores.indexOf(Math.max(...scores));
    }
    const [start, end] = ranges[best];
    result.sentence = { start: passage.start + start, end: passage.start + end, text: texts[best] };
  }
}

/**
 * @param {Float32Array} a
 * @param {Float32Array} b
 */
function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
