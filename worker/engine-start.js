/**
 * Starts the engine in a Worker: the same interpreter, package, kernel and shim as in a page. Only
 * where they come from differs: what holds code was uploaded with the script as compiled modules,
 * what is data comes from the static assets.
 */
import createModule from "pyodide/pyodide.asm.mjs";
import { Engine, bridgeError } from "../web/engine.js";
import { TernError } from "../web/errors.js";
import { bootPyodide } from "../web/pyodide-boot.js";
import kernels from "./kernels.wasm";
import wasm from "./pyodide.asm.wasm";
import { reseed } from "./reseed.js";

/** @typedef {{ASSETS: {fetch(url: string): Promise<Response>}}} Env */

/**
 * @param {Env} env
 * @param {{id: string, memoryBytes: number} | null} snapshot of an interpreter that has imported the
 *   engine, where the build made one
 * @returns {Promise<Engine>}
 * @throws {TernError}
 */
export async function startEngine(env, snapshot) {
  const modelBytes = readAsset(env, "model.bin");
  modelBytes.catch(() => {}); // awaited below, unless Python fails first
  const python = await startPython(env, snapshot);
  const module = python.pyimport("tern_engine._js");
  const bridge = module.create(await modelBytes, kernels);
  module.destroy();
  if (bridge.error_code !== "") {
    const error = bridgeError(bridge);
    bridge.destroy();
    throw error;
  }
  return new Engine(bridge);
}

/**
 * @param {Env} env
 * @param {{id: string, memoryBytes: number} | null} snapshot
 */
async function startPython(env, snapshot) {
  // python.zip holds the standard library and the engine's package.
  const names = snapshot ? ["python.zip", "snapshot.bin"] : ["python.zip"];
  const [stdlib, bytes] = await Promise.all(names.map((name) => readAsset(env, name)));
  if (!snapshot) return bootPyodide({ createModule, wasm, stdlib });
  const { id, memoryBytes } = snapshot;
  const parts = { createModule, wasm, stdlib, snapshot: { bytes, memoryBytes }, snapshotId: id };
  const python = await bootPyodide(parts);
  reseed(python);
  return python;
}

/**
 * @param {Env} env
 * @param {string} name
 */
async function readAsset(env, name) {
  let response;
  try {
    response = await env.ASSETS.fetch(`https://assets.invalid/${name}`);
  } catch (error) {
    throw new TernError("LOAD_NETWORK", `the asset ${name} could not be read: ${error}`, {
      cause: error,
    });
  }
  if (!response.ok) {
    throw new TernError("LOAD_HTTP", `the asset ${name} was answered with ${response.status}`);
  }
  return new Uint8Array(await response.arrayBuffer());
}
