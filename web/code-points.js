/**
 * Text by code points, as Python and the index file count them. JavaScript counts UTF-16 units; the
 * two differ where a text holds characters outside the Basic Multilingual Plane, such as emoji. A lone
 * surrogate is a code point.
 */

const PAIR = /[\ud800-\udbff][\udc00-\udfff]/;

export class CodePoints {
  #text;
  /** @type {Uint32Array | null} where each code point starts, and the text's end; null: at its own index */
  #starts = null;

  /** @param {string} text */
  constructor(text) {
    this.#text = text;
    this.length = text.length;
    if (!PAIR.test(text)) return;
    const starts = new Uint32Array(text.length + 1);
    let count = 0;
    for (let unit = 0; unit < text.length; count++) {
      starts[count] = unit;
      unit += isPair(text, unit) ? 2 : 1;
    }
    starts[count] = text.length;
    this.#starts = starts.subarray(0, count + 1);
    this.length = count;
  }

  /**
   * @param {number} index 0 ≤ index < length
   * @returns {number} the code point
   */
  at(index) {
    if (this.#starts === null) return this.#text.charCodeAt(index);
    return /** @type {number} */ (this.#text.codePointAt(this.#starts[index]));
  }

  /**
   * @param {number} start
   * @param {number} end
   * @returns {string}
   */
  slice(start, end) {
    return this.#text.slice(this.unit(start), this.unit(end));
  }

  /**
   * Where a code point starts in UTF-16 units.
   *
   * @param {number} index 0 ≤ index ≤ length
   */
  unit(index) {
    return this.#starts === null ? index : this.#starts[index];
  }

  /**
   * The number of code points before a UTF-16 unit that starts one.
   *
   * @param {number} unit
   */
  index(unit) {
    if (this.#starts === null) return unit;
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle] < unit) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/**
 * @param {string} text
 * @returns {number}
 */
export function codePointLength(text) {
  if (!PAIR.test(text)) return text.length;
  let count = 0;
  for (let unit = 0; unit < text.length; count++) unit += isPair(text, unit) ? 2 : 1;
  return count;
}

/**
 * @param {string} text
 * @param {number} unit
 */
function isPair(text, unit) {
  return (text.charCodeAt(unit) & 0xfc00) === 0xd800 && (text.charCodeAt(unit + 1) & 0xfc00) === 0xdc00;
}
