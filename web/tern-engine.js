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
export { WorkerEngine } from "./worker-engine.js";

/**
 * Loads the engine: its files are fetched from `baseUrl`, checked and started. Calls for the same
 * thing share one load while it is under way; a failed or aborted one leaves nothing behind. With
 * `worker` the engine runs in threads of its own, and answers by promises.
 *
 * @type {typeof import("./tern-engine.js").load}
 */
export const load = /* @__PURE__ */ createLoad();
