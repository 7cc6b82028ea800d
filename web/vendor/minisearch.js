/**
 * Where the search index takes MiniSearch from. In this checkout, and in Node, that is the npm
 * package. The build of the site puts the package's own ES module in this file's place, so that a
 * page without a bundler finds it by a relative URL: no import map, no rewriting of sources, and a
 * bundler, a worker and a service worker see an ordinary module.
 */
export { default } from "minisearch";
