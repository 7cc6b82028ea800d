/** Documents in the index, with how they are cut into passages. */
import { CodePoints } from "./code-points.js";

export class Entry {
  /**
   * @param {import("./documents.js").Document} document
   * @param {number} order rank among documents of equal score
   * @param {Uint32Array} ranges start and end of each passage in code points, in order
   */
  constructor(document, order, ranges) {
    this.document = document;
    this.order = order;
    this.ranges = ranges;
    this.passageCount = ranges.length / 2;
    /** The first of its rows in the index's table. */
    this.row = 0;
    /** Whether it has left the index: a search under way may still come upon it. */
    this.removed = false;
  }

  /** @returns {string[]} the text of every passage */
  passageTexts() {
    const points = new CodePoints(this.document.text);
    return Array.from({ length: this.passageCount }, (_, part) =>
      points.slice(this.ranges[2 * part], this.ranges[2 * part + 1]),
    );
  }

  /**
   * @param {number} part
   * @returns {{index: number, start: number, end: number, text: string}}
   */
  passage(part) {
    const [start, end] = this.ranges.subarray(2 * part, 2 * part + 2);
    return { index: part, start, end, text: new CodePoints(this.document.text).slice(start, end) };
  }
}
