/** From a search result to what the page draws. */

/**
 * A part of a passage: `mark` for a word of the query, `best` for the sentence nearest to it.
 *
 * @typedef {{text: string, mark: boolean, best: boolean}} Piece
 *
 * @typedef {object} Hit
 * @property {string} id
 * @property {string} title
 * @property {string} source
 * @property {Record<string, any>} meta
 * @property {Piece[]} pieces the passage
 * @property {boolean} shares whether a word of the query is in it
 * @property {number} score
 * @property {{rank: number, score: number} | null} meaning
 * @property {{rank: number, score: number} | null} keyword
 */

/**
 * @param {import("../search.js").Result | any} result
 * @returns {Hit}
 */
export function showable({ id, score, document, passage, highlights, meaning, keyword, sentence }) {
  return {
    id,
    title: document.title ?? "",
    source: document.source ?? "",
    meta: document.meta ?? {},
    pieces: passage === null ? [] : cut(passage, highlights, sentence ?? null),
    shares: highlights.length > 0 || keyword !== null,
    score,
    meaning,
    keyword,
  };
}

/**
 * @param {{text: string, start: number}} passage
 * @param {[start: number, end: number][]} marks in code points of the passage
 * @param {{start: number, end: number} | null} sentence in code points of the document
 * @returns {Piece[]} which together are the passage
 */
export function cut(passage, marks, sentence) {
  const points = Array.from(passage.text);
  const best = sentence === null ? [0, 0] : [sentence.start - passage.start, sentence.end - passage.start];
  // A sentence that is all of the passage is no news.
  const [from, to] = best[1] - best[0] >= points.length ? [0, 0] : best;
  const borders = new Set([0, points.length, from, to, ...marks.flat()]);
  const sorted = Array.from(borders).sort((a, b) => a - b);
  const pieces = [];
  for (let i = 0; i + 1 < sorted.length; i++) {
    const [start, end] = [sorted[i], sorted[i + 1]];
    pieces.push({
      text: points.slice(start, end).join(""),
      mark: marks.some((range) => range[0] <= start && end <= range[1]),
      best: from <= start && end <= to,
    });
  }
  return pieces;
}
