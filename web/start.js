/** One load, from the manifest to an engine. load.js decides when to start one and who gets it. */
import { Engine, bridgeError } from "./engine.js";
import { TernError, abortError } from "./errors.js";
import { fetchFile } from "./fetch-file.js";
import { checkWebAssembly } from "./host.js";
import { importModule } from "./import-module.js";
import { readManifest } from "./manifest.js";
import { Progress } from "./progress.js";
import { bootPyodide } from "./pyodide-boot.js";

/**
 * @typedef {object} Target
 * @property {string} baseUrl absolute, ends in "/"
 * @property {string | Uint8Array | undefined} model an absolute URL, bytes, or the build's own
 * @property {number} timeoutMs
 */

/**
 * What a start needs from outside; tests replace it.
 *
 * @typedef {object} Host
 * @property {typeof globalThis.fetch} [fetch]
 * @property {typeof checkWebAssembly} checkWebAssembly
 * @property {typeof importModule} importModule
 * @property {typeof bootPyodide} boot
 */

/** @type {Host} */
export const HOST = { checkWebAssembly, importModule, boot: bootPyodide };

/**
 * @param {Target} target
 * @param {AbortSignal} signal
 * @param {(event: import("./progress.js").ProgressEvent) => void} report
 * @param {Host} host
 * @returns {Promise<Engine>}
 */
export async function start(target, signal, report, host) {
  await host.checkWebAssembly();
  const { timeoutMs } = target;
  const options = { signal, timeoutMs, fetch: host.fetch };
  const manifestUrl = new URL("manifest.json", target.baseUrl).href;
  const manifestFile = { name: "manifest.json", url: manifestUrl, revalidate: true };
  const files = readManifest(await fetchFile(manifestFile, options), manifestUrl);

  const { model, ...own } = files;
  const modelFile = modelSource(target.model, model);
  const progress = new Progress(
    modelFile ? [...Object.values(own), { ...modelFile, bytes: model.bytes }] : Object.values(own),
    report,
  );
  /** @type {Promise<unknown>[]} */
  const downloads = [];
  /** @param {import("./fetch-file.js").FileSpec} file */
  const get = (file) => {
    const onBytes = (/** @type {number} */ loaded, /** @type {number | undefined} */ total) =>
      progress.update(file.name, loaded, total);
    const download = fetchFile(file, { ...options, onBytes });
    downloads.push(download);
    return download;
  };

  // Python starts as soon as its own files are here, beside the other downloads.
  const parts = Promise.all([
    startPython(own, get, signal, host),
    get(own.kernels).then(compileKernels),
    modelFile ? get(modelFile) : /** @type {Uint8Array} */ (target.model),
  ]);
  Promise.all(downloads).then(
    () => progress.enter("starting"),
    () => {}, // `parts` fails of the same
  );
  const [python, kernels, modelBytes] = await parts;
  await pause(signal);
  const module = python.pyimport("tern_engine._js");
  const bridge = module.create(modelBytes, kernels);
  module.destroy();
  if (bridge.error_code !== "") {
    const error = bridgeError(bridge);
    bridge.destroy();
    throw error;
  }
  progress.enter("ready");
  return new Engine(bridge);
}

/**
 * The interpreter with the engine's package in it.
 *
 * @param {Omit<ReturnType<typeof readManifest>, "model">} files
 * @param {(file: import("./fetch-file.js").FileSpec) => Promise<Uint8Array<ArrayBuffer>>} get
 * @param {AbortSignal} signal
 * @param {Host} host
 */
async function startPython(files, get, signal, host) {
  const script = files["pyodide.asm.mjs"];
  const [createModule, wasm, stdlib, archive] = await Promise.all([
    get(script).then((bytes) => host.importModule(script, bytes)),
    get(files["pyodide.asm.wasm"]).then((bytes) => WebAssembly.compile(bytes)),
    get(files["python_stdlib.zip"]),
    get(files.package),
  ]);
  await pause(signal);
  const python = await host.boot({ createModule, wasm, stdlib });
  python.unpackArchive(archive, "zip", { extractDir: python.sitePackages });
  return python;
}

/**
 * @param {Target["model"]} asked
 * @param {import("./manifest.js").ListedFile} own
 * @returns {import("./fetch-file.js").FileSpec | undefined} undefined for bytes at hand
 */
function modelSource(asked, own) {
  if (asked === undefined) return own;
  // What is in a caller's own model is for the engine to judge.
  return typeof asked === "string" ? { name: "model", url: asked } : undefined;
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function compileKernels(bytes) {
  try {
    return await WebAssembly.compile(bytes);
  } catch (error) {
    throw new TernError("WASM_NO_SIMD", `this host cannot compile the kernel: ${error}`, {
      cause: error,
    });
  }
}

/**
 * Lets the page paint, and an abort through, before a stretch of work that blocks the thread.
 *
 * @param {AbortSignal} signal
 */
async function pause(signal) {
  await new Promise((resolve) => setTimeout(resolve));
  if (signal.aborted) throw abortError(signal);
}
