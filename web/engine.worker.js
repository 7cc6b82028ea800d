/**
 * The engine's side of a worker. Each request {id, method, args} gets one answer: {id, value}, or
 * {id, error}. A start is two requests, "python" and "model"; the others are calls.
 */
import { startEngine, startPython } from "./boot.js";
import { isNode, nodeModule } from "./host.js";
import { importModule } from "./import-module.js";
import { bootPyodide } from "./pyodide-boot.js";

/**
 * @typedef {{id: number, method: keyof typeof METHODS, args: any[]}} Request
 * @typedef {{name: string, message: string, code?: string, stack?: string}} PackedError
 * @typedef {{id: number, value?: any, error?: PackedError}} Answer
 * @typedef {{dim: number, maxSeqLen: number, fingerprint: string, summary: string}} Facts
 */

/** @type {Promise<import("./pyodide-boot.js").Interpreter>} */
let python;
/** @type {import("./engine.js").Engine} */
let engine;

const METHODS = {
  /** @param {import("./boot.js").PythonParts} parts */
  async python(parts) {
    python = startPython(parts, { importModule, boot: bootPyodide });
    await python;
  },

  /**
   * @param {import("./boot.js").ModelParts} parts
   * @returns {Promise<Facts>}
   */
  async model(parts) {
    engine = startEngine(await python, parts);
    const { dim, maxSeqLen, fingerprint } = engine;
    return { dim, maxSeqLen, fingerprint, summary: engine.config_summary() };
  },

  /**
   * @param {string[]} texts
   * @returns {Float32Array} all vectors, end to end
   */
  embedBatch(texts) {
    const flat = new Float32Array(texts.length * engine.dim);
    engine.embedBatch(texts).forEach((vector, i) => flat.set(vector, i * engine.dim));
    return flat;
  },

  /** @param {string} text */
  tokenize: (text) => engine.tokenize(text),

  /** @param {string} text */
  tokenCount: (text) => engine.tokenCount(text),
};

/**
 * @param {Request} request
 * @param {(answer: Answer, transfer: Transferable[]) => void} post
 */
async function answer({ id, method, args }, post) {
  try {
    const value = await /** @type {Function} */ (METHODS[method])(...args);
    post({ id, value }, ArrayBuffer.isView(value) ? [/** @type {ArrayBuffer} */ (value.buffer)] : []);
  } catch (error) {
    post({ id, error: pack(error) }, []);
  }
}

/**
 * An error in a form that keeps its code on the way; thread boundaries drop what is not standard.
 *
 * @param {any} error
 * @returns {PackedError}
 */
function pack(error) {
  const { name = "Error", message = String(error), code, stack } = error ?? {};
  return { name, message, stack, ...(typeof code === "string" && { code }) };
}

if (isNode()) {
  nodeModule("worker_threads").then(({ parentPort }) => {
    parentPort.on("message", (/** @type {Request} */ request) =>
      answer(request, (message, transfer) => parentPort.postMessage(message, transfer)),
    );
  });
} else {
  addEventListener("message", ({ data }) =>
    answer(data, (message, transfer) => postMessage(message, { transfer })),
  );
}
