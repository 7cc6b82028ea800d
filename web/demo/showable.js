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

// Words that are in nearly every passage: to mark them tells nothing.
const COMMON = new Set(
  "a about after all an and are as at be been by can do for from has have how i in into is it its me my not of on or so than that the their them there they this to was were what when where which who why will with you your".split(" "),
);

/**
 * @param {import("../search.js").Result | any} result
 * @returns {Hit}
 */
export function showable(result) {
  const { id, score, document, meaning, keyword } = result;
  return {
    id,
    title: document.title ?? "",
    source: document.source ?? "",
    meta: document.meta ?? {},
    pieces: piecesOf(result),
    shares: telling(result).length > 0 || keyword !== null,
    score,
    meaning,
    keyword,
  };
}

/**
 * @param {import("../search.js").Result | any} result
 * @returns {Piece[]}
 */
export function piecesOf(result) {
  const { passage, sentence } = result;
  return passage === null ? [] : cut(passage, telling(result), sentence ?? null);
}

/**
 * The highlights of a result that are worth a mark.
 *
 * @param {any} result
 * @returns {[start: number, end: number][]}
 */
function telling({ passage, highlights }) {
  const points = Array.from(passage?.text ?? "");
  return highlights.filter((/** @type {[number, number]} */ [from, to]) => !COMMON.has(points.slice(from, to).join("").toLowerCase()));
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
