/** The demo's corpus and its stored vectors: pure functions, no page, no engine. */
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
 * The model that a vectors file is of.
 *
 * @param {Uint8Array} file
 * @returns {string | null} its fingerprint; null for what is no vectors file
 */
export function vectorsModel(file) {
  const isOne = file.length > HEADER_BYTES && new TextDecoder().decode(file.subarray(0, 8)) === MAGIC;
  return isOne ? hex(file.subarray(8, 40)) : null;
}
