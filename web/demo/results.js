/** Shows a search's results, and says how many there are. */
import { counted, find, fromTemplate, make } from "./dom.js";

const LOW = 0.3; // below it even the best match has little to do with the query

/** @typedef {import("./showable.js").Hit} Hit */

/** @type {Map<string, {hit: Hit, passage: HTMLElement}>} what is shown, by id */
const rows = new Map();

/**
 * @param {Hit[]} hits
 * @param {{query: string, collection: string, mode: string, open: (hit: Hit) => void}} how
 */
export function showHits(hits, { query, collection, mode, open }) {
  const best = hits[0]?.score ?? 1;
  rows.clear();
  find("results").replaceChildren(...hits.map((hit) => row(hit, { collection, mode, best, open })));
  find("empty").hidden = hits.length > 0;
  find("results").dataset.query = query;
  find("results").dataset.mode = mode;
}

/**
 * Marks in the results shown the sentence of each that is nearest to the query.
 *
 * @param {{id: string, pieces: import("./showable.js").Piece[]}[]} found
 */
export function showSentences(found) {
  for (const { id, pieces } of found) {
    const shown = rows.get(id);
    if (shown === undefined) continue;
    shown.hit.pieces = pieces;
    shown.passage.replaceChildren(...passage(pieces));
  }
}

/**
 * @param {{hits: Hit[], ms: number, mode: string, truncated: boolean, size: number}} found
 */
export function summary({ hits, ms, mode, truncated, size }) {
  const best = hits[0]?.score ?? 0;
  const what =
    hits.length === 0
      ? "No result"
      : mode !== "meaning"
        ? `${hits.length} found`
        : best < LOW
          ? "Nothing comes very near; the closest"
          : `The ${hits.length} nearest`;
  const cut = truncated ? " · only the start of your text was read" : "";
  return `${what} of ${counted(size, "passage")}, in ${ms.toFixed(ms < 10 ? 1 : 0)} ms${cut}`;
}

/**
 * @param {Hit} hit
 * @param {{collection: string, mode: string, best: number, open: (hit: Hit) => void}} how
 */
function row(hit, { collection, mode, best, open }) {
  const { element, part } = fromTemplate("result");
  const isArticle = collection === "encyclopedia";
  part(".word").textContent = hit.title || hit.source;
  part(".about").textContent = isArticle ? hit.meta.about : "";
  part(".kind").textContent = isArticle ? hit.meta.topic : (hit.meta.place ?? "");
  part(".passage").append(...passage(hit.pieces));
  const source = isArticle ? "Wikipedia" : hit.title ? hit.source : "";
  part(".why").textContent = [source, why(hit, mode)].filter(Boolean).join(" · ");
  rows.set(hit.id, { hit, passage: part(".passage") });
  part(".value").textContent = mode === "hybrid" ? (hit.meaning?.score.toFixed(2) ?? "–") : hit.score.toFixed(mode === "keyword" ? 1 : 2);
  part(".value").title =
    mode === "keyword" ? `Keyword score (BM25) ${hit.score.toFixed(3)}` : `Cosine similarity ${(hit.meaning?.score ?? hit.score).toFixed(4)}`;
  const share = mode === "meaning" ? hit.score : hit.score / best;
  part(".bar > span").style.setProperty("--score", String(Math.min(1, Math.max(0, share))));
  part(".hit").addEventListener("click", () => open(hit));
  return element;
}

/**
 * @param {import("./showable.js").Piece[]} pieces
 * @returns {Node[]}
 */
export function passage(pieces) {
  return pieces.map(({ text, mark, best }) => {
    const inner = mark ? make("mark", { textContent: text }) : document.createTextNode(text);
    return best ? make("span", { className: "best" }, inner) : inner;
  });
}

/**
 * How it was found, where that is news.
 *
 * @param {Hit} hit
 * @param {string} mode
 */
function why({ meaning, keyword, shares }, mode) {
  if (mode === "meaning") return shares ? "" : "no word in common";
  if (mode === "keyword") return "";
  const ranks = [meaning && `no. ${meaning.rank} by meaning`, keyword && `no. ${keyword.rank} by keyword`];
  return ranks.filter(Boolean).join(" · ");
}
