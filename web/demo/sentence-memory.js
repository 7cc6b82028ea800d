/**
 * Vectors of sentences, kept for a while: the results of one keystroke are mostly those of the one
 * before, and their sentences need not be embedded again.
 */

const MOST = 1500; // some 2 MB of vectors
const LONGEST = 64; // texts of a batch that is worth keeping; longer ones are indexing

/**
 * @param {(texts: string[]) => Float32Array[] | Promise<Float32Array[]>} embedBatch
 * @returns {(texts: string[]) => Promise<Float32Array[]>}
 */
export function remembering(embedBatch) {
  /** @type {Map<string, Float32Array>} oldest first */
  const known = new Map();
  return async (texts) => {
    if (texts.length > LONGEST) return embedBatch(texts);
    const missing = [...new Set(texts)].filter((text) => !known.has(text));
    const vectors = missing.length > 0 ? await embedBatch(missing) : [];
    missing.forEach((text, i) => known.set(text, vectors[i]));
    const found = texts.map((text) => /** @type {Float32Array} */ (known.get(text)));
    for (const text of known.keys()) {
      if (known.size <= MOST) break;
      known.delete(text);
    }
    return found;
  };
}
