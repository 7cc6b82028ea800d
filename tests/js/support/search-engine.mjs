/**
 * An engine for tests of the search index, words hashed into a few dimensions (same words, same vector),
 * and documents.
 */
import { SearchIndex } from "../../../web/search.js";

export const FINGERPRINT = "00112233445566778899aabbccddeeff".repeat(2);

/** Tokens as this engine counts them: two, and one for every eight code points of a word begun. */
export function countTokens(text) {
  const words = text.split(/\s+/u).filter(Boolean);
  return words.reduce((sum, word) => sum + Math.ceil(Array.from(word).length / 8), 2);
}

export function embedText(text, dim) {
  const sums = new Float64Array(dim);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [""]) {
    let hash = 2166136261;
    for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 16777619);
    for (let i = 0; i < dim; i++) {
      hash = Math.imul(hash ^ (hash >>> 15), 2246822519) + i;
      sums[i] += (hash >> 8) / 2 ** 23;
    }
  }
  const length = Math.hypot(...sums);
  return Float32Array.from(sums, (x) => x / length);
}

/**
 * @param {object} [options]
 * @param {number} [options.dim]
 * @param {number} [options.maxSeqLen]
 * @param {boolean} [options.async] whether it answers by promises
 * @param {(texts: string[]) => void | Promise<void>} [options.onBatch] called before each batch; may throw
 */
export function fakeEngine({ dim = 16, maxSeqLen = 16, async = false, onBatch } = {}) {
  const later = (value) => (async ? Promise.resolve(value) : value);
  const engine = {
    dim,
    fingerprint: FINGERPRINT,
    maxSeqLen,
    batches: /** @type {string[][]} */ ([]),
    counted: 0,
    embed: (text) => later(embedText(text, dim)),
    embedBatch(texts) {
      engine.batches.push(texts);
      const wait = onBatch?.(texts);
      const vectors = texts.map((text) => embedText(text, dim));
      return wait ? wait.then(() => vectors) : later(vectors);
    },
    tokenCount(text) {
      engine.counted++;
      const tokens = countTokens(text);
      return later({ tokens: Math.min(tokens, maxSeqLen), truncated: tokens > maxSeqLen });
    },
  };
  return engine;
}

/** Checks an error's code, and that it is one of ours. */
export const code = (expected) => (error) => {
  if (error.code !== expected || !error.message.startsWith("tern-engine: ")) throw error;
  return true;
};

export const ids = (results) => results.map(({ id }) => id);
export const doc = (id, text, more = {}) => ({ id, text, ...more });
export const PETS = [
  doc("cat", "the cat sleeps on a warm sofa"),
  doc("dog", "a dog barks at the postman", { title: "Noise", meta: { loud: true } }),
  doc("fish", "fish swim in cold water", { source: "pond.txt" }),
];
export const LONG = doc("long", "The first sentence is here. Another one follows it now. The volcano erupts at night. Nobody was hurt at all.");

export async function indexOf(documents, options, engine = fakeEngine()) {
  const index = new SearchIndex(engine, options);
  await index.add(documents);
  return index;
}
