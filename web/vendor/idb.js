/** Where the index store takes idb from; see minisearch.js beside this file. */
export { openDB } from "idb";
