/** Shows a search's results, and says how many there are. */
import { find, fromTemplate, make, number } from "./dom.js";

const LOW = 0.35; // below it even the best match has little to do with the query

/** @typedef {import("./showable.js").Hit} Hit */

/**
 * @param {Hit[]} hits
 * @param {{query: string, collection: string, mode: string, open: (hit: Hit) => void}} how
 */
export function showHits(hits, { query, collection, mode, open }) {
  const best = hits[0]?.score ?? 1;
  find("results").replaceChildren(...hits.map((hit) => row(hit, { collection, mode, best, open })));
  find("empty").hidden = hits.length > 0;
  find("results").dataset.query = query;
  find("results").dataset.mode = mode;
}

/**
 * @param {{hits: Hit[], ms: number, mode: string, truncated: boolean, size: number, collection: string}} found
 */
export function summary({ hits, ms, mode, truncated, size, collection }) {
  const things = collection === "dictionary" ? "concepts" : "passages";
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
  return `${what} of ${number(size)} ${things}, in ${ms.toFixed(ms < 10 ? 1 : 0)} ms${cut}`;
}

/**
 * @param {Hit} hit
 * @param {{collection: string, mode: string, best: number, open: (hit: Hit) => void}} how
 */
function row(hit, { collection, mode, best, open }) {
  const { element, part } = fromTemplate("result");
  const [word, ...synonyms] = collection === "dictionary" ? hit.title.split("; ") : [hit.title || hit.source];
  part(".word").textContent = word;
  part(".synonyms").textContent = collection === "dictionary" ? synonyms.join(", ") : hit.title ? hit.source : "";
  part(".kind").textContent = collection === "dictionary" ? hit.meta.kind : (hit.meta.place ?? "");
  part(".definition").append(...passage(hit.pieces));
  part(".why").textContent = why(hit, mode);
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
