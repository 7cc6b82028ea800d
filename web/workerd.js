/**
 * The package inside Cloudflare's Workers, which compile no code at run time: everything but the
 * engine itself. For embeddings there, deploy the Worker of this project.
 */
import { TernError } from "./errors.js";

export { classify } from "./classify.js";
export { Engine } from "./engine.js";
export { TernError } from "./errors.js";
export { ERROR_CODES } from "./errors-list.js";
export { similarity } from "./similarity.js";
export { WorkerEngine } from "./worker-engine.js";

/**
 * @returns {Promise<never>}
 * @throws {TernError} WASM_BLOCKED, always
 */
export async function load() {
  const message = "a Worker may compile no WebAssembly at run time: deploy the engine's own Worker";
  throw new TernError("WASM_BLOCKED", message);
}
