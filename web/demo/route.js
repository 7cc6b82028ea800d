/**
 * Where the page is: view, query and how to search, in the part of the address behind "#". That part
 * is never sent to a server, so that a query stays on the machine even in a link.
 */

export const VIEWS = /** @type {const} */ (["search", "map", "compare", "classify", "library"]);
export const MODES = /** @type {const} */ (["meaning", "keyword", "hybrid"]);
const COLLECTIONS = /** @type {const} */ (["encyclopedia", "library"]);
const LONGEST = 2000; // characters of a query that a link carries

/**
 * @typedef {object} Route
 * @property {typeof VIEWS[number]} view
 * @property {string} query
 * @property {typeof MODES[number]} mode
 * @property {typeof COLLECTIONS[number]} collection
 * @property {string} filter a topic of the encyclopedia, a source of the library; "" for all
 */

/** @type {Readonly<Route>} */
export const HOME = Object.freeze({ view: "search", query: "", mode: "meaning", collection: "encyclopedia", filter: "" });

/**
 * @param {string} hash location.hash
 * @returns {Route} anything that is not understood is as at home
 */
export function readRoute(hash) {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  /**
   * @template {string} T
   * @param {string} name
   * @param {readonly T[]} known
   */
  const choice = (name, known) => known.find((value) => value === found.get(name)) ?? known[0];
  return {
    view: choice("view", VIEWS),
    query: found.get("q") ?? "",
    mode: choice("mode", MODES),
    collection: choice("in", COLLECTIONS),
    filter: found.get("only") ?? "",
  };
}

/**
 * @param {Route} route
 * @returns {string} "" at home, else "#…"
 */
export function writeRoute({ view, query, mode, collection, filter }) {
  const parts = new URLSearchParams();
  if (view !== HOME.view) parts.set("view", view);
  if (query !== "") parts.set("q", query.slice(0, LONGEST));
  if (mode !== HOME.mode) parts.set("mode", mode);
  if (collection !== HOME.collection) parts.set("in", collection);
  if (filter !== "") parts.set("only", filter);
  const text = parts.toString();
  return text === "" ? "" : `#${text}`;
}
