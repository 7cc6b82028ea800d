/**
 * Where sentences end: one rule with fixed character lists, the same on every host and in every
 * language. docs/index-format.md, section 4, has it in words.
 */
import { CodePoints } from "./code-points.js";
import { checkInput, describe } from "./errors.js";

// What a code point below 65,536 is, as bits; the others are nothing of it.
const WHITE = 1;
const STOP = 2;
const WIDE_STOP = 4;
const CLOSER = 8;
const LOWER = 16;
const LETTER_OR_DOT = 32;
const kinds = new Uint8Array(0x10000);
mark(WHITE, "\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff", [0x2000, 0x200a]);
mark(STOP, ".!?\u2026\u203c\u2047\u2048\u2049\uff0e");
mark(STOP, "\u061f\u06d4\u0589\u0964\u0965\u1362\u1367\u1368\u17d4\u17d5\u104b");
mark(STOP | WIDE_STOP, "\u3002\uff01\uff1f\uff61");
mark(CLOSER, "\"')]}\u00ab\u00bb\u2018\u2019\u201c\u201d\u203a");
mark(CLOSER, "\u3009\u300b\u300d\u300f\u3011\u3015\uff02\uff09\uff3d\uff5d");
mark(LOWER, "", [0x61, 0x7a], [0xdf, 0xf6], [0xf8, 0xff], [0x3ac, 0x3ce], [0x430, 0x45f]);
mark(LETTER_OR_DOT, ".", [0x41, 0x5a], [0x61, 0x7a]);
const ABBREVIATIONS = new Set(
  ("Mr Mrs Ms Dr Prof Rev Gen Sen Rep Gov Capt Lt Col Sgt St Mt Ft Jr Sr vs cf al Fig Figs Eq No Nos Vol " +
    "pp Ed Eds Inc Ltd Co Corp approx ca Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec").split(" "),
);
const DOT = 0x2e;
const LF = 0x0a;
const CR = 0x0d;

/** @typedef {[start: number, end: number]} Range in code points, end exclusive */

/** @param {number} point */
export const isWhite = (point) => (kinds[point] & WHITE) !== 0;

/**
 * The sentences of a text, in order, without the white space around them.
 *
 * @param {CodePoints} points
 * @returns {Generator<Range>}
 */
export function* sentencesOf(points) {
  for (let start = whiteEnd(points, 0); start < points.length; ) {
    const end = sentenceEnd(points, start);
    yield [start, end];
    start = whiteEnd(points, end);
  }
}

/**
 * @param {string} text
 * @returns {{start: number, end: number, text: string}[]} offsets in code points
 * @throws {TernError} INVALID_INPUT
 */
export function splitSentences(text) {
  checkInput(typeof text === "string", `text must be a string, found ${describe(text)}`);
  const points = new CodePoints(text);
  return Array.from(sentencesOf(points), ([start, end]) => ({ start, end, text: points.slice(start, end) }));
}

/**
 * @param {CodePoints} points
 * @param {number} start of a sentence
 * @returns {number} its end
 */
function sentenceEnd(points, start) {
  let at = start;
  while (at < points.length) {
    const point = points.at(at);
    if (is(WHITE, point)) {
      const next = whiteEnd(points, at);
      if (next === points.length || isParagraphBreak(points, at, next)) return at;
      at = next;
    } else if (is(STOP, point)) {
      const runEnd = stopRunEnd(points, at);
      if (endsSentence(points, start, at, runEnd)) return runEnd;
      at = runEnd;
    } else {
      at++;
    }
  }
  return at;
}

/**
 * Whether a run of stops and closers ends the sentence that it stands in.
 *
 * @param {CodePoints} points
 * @param {number} start of the sentence
 * @param {number} at the run's first stop
 * @param {number} end the run's end
 */
function endsSentence(points, start, at, end) {
  let stops = 0;
  for (let i = at; i < end; i++) {
    if (is(WIDE_STOP, points.at(i))) return true;
    if (is(STOP, points.at(i))) stops++;
  }
  if (end === points.length) return true;
  const next = whiteEnd(points, end);
  if (next === end) return false;
  if (next === points.length || isParagraphBreak(points, end, next)) return true;
  if (is(LOWER, points.at(next))) return false;
  return !(stops === 1 && points.at(at) === DOT && isAbbreviation(points, start, at));
}

/**
 * @param {CodePoints} points
 * @param {number} start of the sentence
 * @param {number} end of the word, where its dot is
 */
function isAbbreviation(points, start, end) {
  let at = end;
  while (at > start && is(LETTER_OR_DOT, points.at(at - 1))) at--;
  const word = points.slice(at, end);
  return word.includes(".") || (/^[A-Z]$/.test(word) && word !== "I") || ABBREVIATIONS.has(word);
}

/**
 * @param {CodePoints} points
 * @param {number} at
 */
function stopRunEnd(points, at) {
  while (at < points.length && is(STOP | CLOSER, points.at(at))) at++;
  return at;
}

/**
 * @param {CodePoints} points
 * @param {number} at
 * @returns {number} the next position that is not white, from `at` on
 */
function whiteEnd(points, at) {
  while (at < points.length && is(WHITE, points.at(at))) at++;
  return at;
}

/**
 * @param {CodePoints} points
 * @param {number} start of a whole run of white characters
 * @param {number} end
 */
function isParagraphBreak(points, start, end) {
  let lines = 0;
  for (let i = start; i < end; i++) {
    const point = points.at(i);
    if (point === 0x2029) return true;
    const afterCR = i > start && points.at(i - 1) === CR;
    if ((point === LF && !afterCR) || point === CR || point === 0x85 || point === 0x2028) lines++;
  }
  return lines >= 2;
}

/**
 * @param {number} kind bits, one of which is enough
 * @param {number} point
 */
function is(kind, point) {
  return (kinds[point] & kind) !== 0;
}

/**
 * @param {number} kind
 * @param {string} characters
 * @param {[first: number, last: number][]} ranges
 */
function mark(kind, characters, ...ranges) {
  for (let i = 0; i < characters.length; i++) kinds[characters.charCodeAt(i)] |= kind;
  for (const [first, last] of ranges) for (let point = first; point <= last; point++) kinds[point] |= kind;
}
