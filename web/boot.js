/** The two halves of a start, in this thread: an interpreter, then the engine in it. */
import { Engine, bridgeError } from "./engine.js";

/**
 * What the interpreter is made of; it can be posted to another thread.
 *
 * @typedef {object} PythonParts
 * @property {import("./import-module.js").Script} script pyodide.asm.mjs
 * @property {Uint8Array<ArrayBuffer>} source its content
 * @property {Promise<any>} [imported] what importModule gives for it, where it was asked already; not to
 *   be posted
 * @property {WebAssembly.Module} wasm pyodide.asm.wasm
 * @property {Uint8Array} [stdlib] python_stdlib.zip; a snapshot does without
 * @property {Uint8Array} archive the engine's package, zipped
 * @property {import("./pyodide-boot.js").Snapshot} [snapshot] of an interpreter with the engine in it
 * @property {string} [snapshotId]
 */

/**
 * What the engine is made of, besides.
 *
 * @typedef {object} ModelParts
 * @property {WebAssembly.Module} kernels
 * @property {Uint8Array} model
 * @property {string} [sha256] of the model, where it was checked
 */

/**
 * The interpreter with the engine's package in it.
 *
 * @param {PythonParts} parts
 * @param {Pick<import("./start.js").Host, "importModule" | "boot">} host
 */
export async function startPython({ script, source, imported, ...parts }, host) {
  const createModule = await (imported ?? host.importModule(script, source));
  return host.boot({ createModule, ...parts });
}

/**
 * @param {import("./pyodide-boot.js").Interpreter} python
 * @param {ModelParts} parts
 * @returns {Engine}
 * @throws {import("./errors.js").TernError} MODEL_…, KERNEL_SELF_TEST
 */
export function startEngine(python, { model, kernels, sha256 = "" }) {
  const module = python.pyimport("tern_engine._js");
  const bridge = module.create(model, kernels, sha256);
  module.destroy();
  if (bridge.error_code !== "") {
    const error = bridgeError(bridge);
    bridge.destroy();
    throw error;
  }
  return new Engine(bridge);
}
