/**
 * Search over documents, on the machine at hand.
 *
 *     const index = new SearchIndex(engine);
 *     await index.add([{ id: "1", text: "The ferry leaves at nine." }]);
 *     const [best] = await index.query("boat departure");
 */
export { RRF_DEPTH, RRF_K } from "./fusion.js";
export { SearchIndex } from "./search-index.js";
export { splitSentences } from "./sentences.js";
export { IndexStore, openIndexStore } from "./store.js";
export { markRanges } from "./words.js";
