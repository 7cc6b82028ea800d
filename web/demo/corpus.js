/** The demo's corpus, its vectors and the search over them: pure functions, no page, no engine. */
import { hex } from "../sha256.js";

/**
 * One concept of the reverse dictionary.
 *
 * @typedef {object} Entry
 * @property {string} word
 * @property {string[]} synonyms
 * @property {string} kind
 * @property {string} definition
 */

const MAGIC = "TERNVEC1";
const HEADER_BYTES = 80;

/**
 * @param {{entries: [string, string, string][]}} file demo-corpus.json, parsed
 * @returns {Entry[]}
 */
export function readCorpus(file) {
  return file.entries.map(([words, kind, definition]) => {
    const [word, ...synonyms] = words.split("; ");
    return { word, synonyms, kind, definition };
  });
}

/**
 * What of an entry is embedded; tools/build_demo_vectors.py says the same.
 *
 * @param {Entry} entry
 * @returns {string}
 */
export function entryText({ word, kind, definition }) {
  return `${word} (${kind}): ${definition}`;
}

/**
 * The vectors of demo-vectors.bin, where they are those of this model and this corpus.
 *
 * @param {Uint8Array} file see tools/build_demo_vectors.py
 * @param {{fingerprint: string, corpusSha256: string, count: number, dim: number}} wanted
 * @returns {Float32Array | null} count × dim, or null for a file that does not fit
 */
export function readVectors(file, { fingerprint, corpusSha256, count, dim }) {
  if (file.length !== HEADER_BYTES + 4 * count * dim) return null;
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const fits =
    new TextDecoder().decode(file.subarray(0, 8)) === MAGIC &&
    hex(file.subarray(8, 40)) === fingerprint &&
    hex(file.subarray(40, 72)) === corpusSha256 &&
    view.getUint32(72, true) === count &&
    view.getUint32(76, true) === dim;
  return fits ? new Float32Array(file.slice(HEADER_BYTES).buffer) : null;
}

/**
 * The k entries nearest to a query, best first. All vectors have length 1, so that the dot product
 * is the cosine.
 *
 * @param {Float32Array} query
 * @param {Float32Array} vectors n × query.length
 * @param {number} k
 * @returns {{index: number, score: number}[]}
 */
export function nearest(query, vectors, k) {
  const dim = query.length;
  const count = vectors.length / dim;
  const hits = [];
  for (let index = 0; index < count; index++) {
    let score = 0;
    for (let i = 0, at = index * dim; i < dim; i++) score += query[i] * vectors[at + i];
    hits.push({ index, score });
  }
  hits.sort((one, other) => other.score - one.score || one.index - other.index);
  return hits.slice(0, k);
}

