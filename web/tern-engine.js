/**
 * tern-engine: sentence embeddings on the machine at hand.
 *
 *     import { load, similarity } from "./tern-engine.js";
 *     const engine = await load();
 *     similarity(engine.embed("a small boat"), engine.embed("a little ship"));
 */
import { createLoad } from "./load.js";

export { classify } from "./classify.js";
export { Engine } from "./engine.js";
export { TernError } from "./errors.js";
export { ERROR_CODES } from "./errors-list.js";
export { similarity } from "./similarity.js";

/**
 * Loads the engine: its files are fetched from `baseUrl`, checked and started. Calls for the same
 * thing share one load while it is under way; a failed or aborted one leaves nothing behind.
 *
 * @type {(options?: import("./load.js").LoadOptions) => Promise<import("./engine.js").Engine>}
 */
export const load = createLoad();
