/** Shows a search's results, and says how many there are. */

const LOW = 0.35; // below it even the best match has little to do with the query

/**
 * @param {import("./corpus.js").Entry[]} corpus
 * @param {{hits: {index: number, score: number}[], ms: number, truncated: boolean} | null} found
 *   null where nothing was asked
 * @param {string} query
 * @param {(text: string) => void} lookUp
 */
export function showResults(corpus, found, query, lookUp) {
  const list = /** @type {HTMLElement} */ (document.getElementById("results"));
  const hits = found?.hits ?? [];
  list.replaceChildren(...hits.map(({ index, score }) => row(corpus[index], score, lookUp)));
  /** @type {HTMLElement} */ (document.getElementById("empty")).hidden = hits.length > 0;
  /** @type {HTMLElement} */ (document.getElementById("count")).textContent = found
    ? summary(corpus.length, found)
    : "";
  list.dataset.query = query;
}

/**
 * @param {number} count
 * @param {{hits: {score: number}[], ms: number, truncated: boolean}} found
 */
function summary(count, { hits, ms, truncated }) {
  const best = hits[0]?.score ?? 0;
  const what =
    best < LOW ? "Nothing comes very near; the closest" : `The ${hits.length} nearest`;
  const cut = truncated ? " · only the start of your text was read" : "";
  return `${what} of ${count.toLocaleString("en")} concepts, in ${ms.toFixed(1)} ms${cut}`;
}

/**
 * @param {import("./corpus.js").Entry} entry
 * @param {number} score
 * @param {(text: string) => void} lookUp
 */
function row({ word, synonyms, kind, definition }, score, lookUp) {
  const template = /** @type {HTMLTemplateElement} */ (document.getElementById("result"));
  const item = /** @type {DocumentFragment} */ (template.content.cloneNode(true));
  /** @param {string} selector */
  const part = (selector) => /** @type {HTMLElement} */ (item.querySelector(selector));
  part(".word").textContent = word;
  part(".word").addEventListener("click", () => lookUp(definition));
  part(".synonyms").textContent = synonyms.join(", ");
  part(".kind").textContent = kind;
  part(".definition").textContent = definition;
  part(".value").textContent = score.toFixed(2);
  part(".value").title = `Cosine similarity ${score.toFixed(4)}`;
  part(".bar > span").style.setProperty("--score", String(Math.max(0, score)));
  return item;
}
