/** How much of a text the model reads. */

/**
 * @param {import("../tern-engine.js").Engine} engine
 * @param {string} text
 * @returns {{tokens: number, limit: number, readTo: number}} readTo: how many UTF-16 units of the text
 *   are read, all of them unless it is too long
 */
export function readUpTo(engine, text) {
  const { tokens, truncated } = engine.tokenCount(text);
  const limit = engine.maxSeqLen;
  if (!truncated) return { tokens, limit, readTo: text.length };
  let [fits, tooLong] = [0, text.length];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (engine.tokenCount(text.slice(0, middle)).truncated) tooLong = middle;
    else fits = middle;
  }
  // Not through the middle of a character.
  if (/[\ud800-\udbff]/.test(text[fits - 1] ?? "")) fits--;
  return { tokens, limit, readTo: fits };
}
