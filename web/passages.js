/**
 * Documents cut into passages that the model reads whole: docs/index-format.md, section 5.
 */
import { CodePoints } from "./code-points.js";
import { isWhite, sentencesOf } from "./sentences.js";

/**
 * @callback CountTokens
 * @param {string} text
 * @returns {{tokens: number, truncated: boolean} | Promise<{tokens: number, truncated: boolean}>}
 *
 * @typedef {import("./sentences.js").Range} Range
 * @typedef {{range: Range, tokens: number}} Part
 */

export class PassageCutter {
  #count;
  #limit;
  /** @type {number | undefined} tokens that every text has: [CLS] and [SEP] */
  #overhead;

  /**
   * @param {CountTokens} count
   * @param {number} limit tokens of a passage
   */
  constructor(count, limit) {
    this.#count = count;
    this.#limit = limit;
  }

  /**
   * The passages of a text, in order.
   *
   * @param {string} text
   * @param {import("./pace.js").Pacer} pacer
   * @returns {Promise<Uint32Array>} start and end of each, in code points
   */
  async cut(text, pacer) {
    const points = new CodePoints(text);
    const whole = trim(points, 0, points.length);
    if (whole[0] === whole[1]) return new Uint32Array(0);
    if ((await this.#tokens(points, whole)) !== null) return Uint32Array.from(whole);
    return this.#join(this.#parts(points, pacer));
  }

  /**
   * Sentences, and the parts of those too long.
   *
   * @param {CodePoints} points
   * @param {import("./pace.js").Pacer} pacer
   * @returns {AsyncGenerator<Part>}
   */
  async *#parts(points, pacer) {
    for (const sentence of sentencesOf(points)) {
      const ranges = [sentence]; // still to count, the next one last
      for (let range = ranges.pop(); range !== undefined; range = ranges.pop()) {
        const tokens = await this.#tokens(points, range);
        if (tokens !== null) yield { range, tokens };
        else if (range[1] - range[0] === 1) yield { range, tokens: this.#limit };
        else ranges.push(...halves(points, range).reverse());
        if (pacer.due) await pacer.pause();
      }
    }
  }

  /**
   * @param {AsyncIterable<Part>} parts
   * @returns {Promise<Uint32Array>}
   */
  async #join(parts) {
    this.#overhead ??= (await this.#count("")).tokens;
    /** @type {number[]} */
    const offsets = [];
    let sum = Infinity;
    for await (const { range, tokens } of parts) {
      const joined = sum + tokens - this.#overhead;
      if (joined <= this.#limit) {
        offsets[offsets.length - 1] = range[1];
        sum = joined;
      } else {
        offsets.push(...range);
        sum = tokens;
      }
    }
    return Uint32Array.from(offsets);
  }

  /**
   * @param {CodePoints} points
   * @param {Range} range
   * @returns {Promise<number | null>} null where the range does not fit
   */
  async #tokens(points, [start, end]) {
    const { tokens, truncated } = await this.#count(points.slice(start, end));
    return truncated || tokens > this.#limit ? null : tokens;
  }
}

/**
 * Cuts a range in two at a white space near its middle.
 *
 * @param {CodePoints} points
 * @param {Range} range of two code points or more, the first and the last not white
 * @returns {Range[]}
 */
function halves(points, [start, end]) {
  const middle = start + Math.floor((end - start) / 2);
  let cut = middle;
  while (cut > start && !isWhite(points.at(cut))) cut--;
  if (cut === start) {
    cut = middle + 1;
    while (cut < end && !isWhite(points.at(cut))) cut++;
    if (cut >= end) cut = middle;
  }
  return [trim(points, start, cut), trim(points, cut, end)];
}

/**
 * @param {CodePoints} points
 * @param {number} start
 * @param {number} end
 * @returns {Range} without the white space at both ends
 */
function trim(points, start, end) {
  while (start < end && isWhite(points.at(start))) start++;
  while (end > start && isWhite(points.at(end - 1))) end--;
  return [start, end];
}
