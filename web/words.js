/** Words of a text as the keyword half sees them, and where they stand, for highlights. */
import { CodePoints } from "./code-points.js";

// A word with inner apostrophes, or one pictogram: people do search for emoji.
const WORD = /[\p{L}\p{N}\p{M}]+(?:['\u2019][\p{L}\p{M}]+)*|\p{Extended_Pictographic}/gu;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const UNSPACED_OR_REST =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu;
const ASCII = /^[\0-\x7f]*$/;
const LONGEST_TERM = 64;

/** @typedef {{term: string, start: number, end: number}} Word offsets in UTF-16 units */

/**
 * The words of a text, in order. Characters of scripts without spaces are words of their own.
 *
 * @param {string} text
 * @returns {Word[]}
 */
export function wordsOf(text) {
  /** @type {Word[]} */
  const words = [];
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (ASCII.test(word) || !UNSPACED.test(word)) {
      words.push({ term: fold(word), start: index, end: index + word.length });
      continue;
    }
    for (const { 0: part, index: offset } of word.matchAll(UNSPACED_OR_REST)) {
      const start = index + offset;
      words.push({ term: fold(part), start, end: start + part.length });
    }
  }
  return words.filter(({ term }) => term !== "");
}

/**
 * One form for the ways to write a word: no case, no accents, no apostrophes, one sigma.
 *
 * @param {string} word
 * @returns {string}
 */
export function fold(word) {
  const letters = word.replace(/['\u2019]/g, "");
  if (ASCII.test(letters)) return letters.toLowerCase().slice(0, LONGEST_TERM);
  const plain = letters.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/\u03c2/g, "\u03c3");
  return plain.slice(0, LONGEST_TERM);
}

/**
 * Where words that match stand in a text.
 *
 * @param {string} text
 * @param {ReadonlySet<string>} terms as `fold` gives them
 * @returns {[start: number, end: number][]} in code points
 */
export function highlightsOf(text, terms) {
  if (terms.size === 0) return [];
  const points = new CodePoints(text);
  return wordsOf(text)
    .filter(({ term }) => terms.has(term))
    .map(({ start, end }) => [points.index(start), points.index(end)]);
}

/**
 * A text in pieces, for showing highlights without a thought about offsets.
 *
 * @param {string} text
 * @param {readonly (readonly [start: number, end: number])[]} ranges in code points, in order and apart
 * @returns {{text: string, marked: boolean}[]} which together are the text; none is empty
 */
export function markRanges(text, ranges) {
  const points = new CodePoints(text);
  const pieces = [];
  let at = 0;
  for (const [start, end] of ranges) {
    pieces.push({ text: points.slice(at, start), marked: false });
    pieces.push({ text: points.slice(start, end), marked: true });
    at = end;
  }
  pieces.push({ text: points.slice(at, points.length), marked: false });
  return pieces.filter((piece) => piece.text !== "");
}
