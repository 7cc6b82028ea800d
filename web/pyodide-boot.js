/**
 * Boots Pyodide's interpreter from bytes that were fetched and checked already.
 *
 * Pyodide's own `loadPyodide` fetches for itself: without progress, hashes or abort, and it hangs
 * when the wasm file is not served as application/wasm. What it does besides is little, and is done
 * here against the one Pyodide release that the build pins. `loadPackage` needs the lock file and is
 * not available in an interpreter booted this way; the engine needs no package.
 */
import { TernError } from "./errors.js";
import { isNode } from "./host.js";

const HOME = "/home/pyodide";

/**
 * What the engine uses of a Pyodide interpreter.
 *
 * @typedef {object} Interpreter
 * @property {(archive: Uint8Array, format: string, options: {extractDir: string}) => void} unpackArchive
 * @property {(name: string) => any} pyimport
 * @property {string} sitePackages
 * @property {() => Uint8Array} makeMemorySnapshot works where `forSnapshot` was set
 */

/**
 * An interpreter's memory, as makeMemorySnapshot gave it. Neither files nor JavaScript objects are in
 * it, so that it goes with the very standard library that it was made with.
 *
 * @typedef {object} Snapshot
 * @property {Uint8Array} bytes zeros at its end may have been cut off
 * @property {number} memoryBytes how large the memory was
 */

/**
 * @param {object} parts
 * @param {(settings: object) => Promise<any>} parts.createModule default export of pyodide.asm.mjs
 * @param {WebAssembly.Module} parts.wasm pyodide.asm.wasm, compiled
 * @param {Uint8Array} parts.stdlib python_stdlib.zip
 * @param {Snapshot} [parts.snapshot] go on from there instead of starting anew
 * @param {string} [parts.snapshotId] 64 hex digits; a snapshot made under others is refused
 * @param {boolean} [parts.forSnapshot] have makeMemorySnapshot
 * @returns {Promise<Interpreter>}
 * @throws {TernError} WASM_BLOCKED when the wasm cannot be instantiated
 */
export async function bootPyodide(parts) {
  const { createModule, wasm, stdlib, snapshot } = parts;
  const api = {
    config: {
      jsglobals: globalThis,
      args: [],
      env: { HOME },
      packages: [],
      enableRunUntilComplete: false,
      BUILD_ID: parts.snapshotId,
      _makeSnapshot: parts.forSnapshot ?? false,
    },
    runtimeEnv: runtimeEnvironment(),
  };
  /** @type {(error: unknown) => void} */
  let fail = () => {};
  const failed = new Promise((_, reject) => (fail = reject));
  const settings = {
    noImageDecoding: true,
    noAudioDecoding: true,
    noWasmDecoding: true,
    API: api,
    arguments: [],
    locateFile: (/** @type {string} */ path) => path,
    instantiateWasm(/** @type {any} */ imports, /** @type {Function} */ done) {
      // Marks "a JavaScript error is pending" in calls from Python; any unique value will do.
      const marker = Symbol("error");
      imports.env.Jsv_GetError_import = () => marker;
      imports.env.JsvError_Check = (/** @type {unknown} */ value) => value === marker;
      WebAssembly.instantiate(wasm, imports).then((instance) => done(instance, wasm), fail);
      return {};
    },
    preRun: [(/** @type {any} */ module) => installStdlib(module, stdlib)],
    ...(snapshot && { noInitialRun: true, INITIAL_MEMORY: snapshot.memoryBytes }),
    onExit: (/** @type {number} */ status) => fail(new Error(`Python exited with status ${status}`)),
  };
  try {
    await Promise.race([createModule(settings), failed]);
  } catch (error) {
    throw new TernError("WASM_BLOCKED", `Python could not be started: ${error}`, { cause: error });
  }
  const internal = /** @type {any} */ (api);
  const state = snapshot && internal.restoreSnapshot(snapshot.bytes);
  const python = internal.finalizeBootstrap(state);
  return {
    unpackArchive: python.unpackArchive,
    pyimport: python.pyimport,
    sitePackages: internal.sitePackages,
    makeMemorySnapshot: () => internal.makeSnapshot(),
  };
}

/**
 * Lays out the file system that CPython looks for at its start.
 *
 * @param {any} module the Emscripten module
 * @param {Uint8Array} stdlib
 */
function installStdlib(module, stdlib) {
  const packed = module.HEAPU32[module._Py_Version >>> 2];
  const [major, minor, micro] = [24, 16, 8].map((shift) => (packed >>> shift) & 0xff);
  const library = `/lib/python${major}.${minor}`;
  module.API.pyVersionTuple = [major, minor, micro];
  module.API.sitePackages = `${library}/site-packages`;
  module.FS.mkdirTree(`${library}/site-packages`);
  module.FS.mkdirTree(`${library}/lib-dynload`);
  module.FS.writeFile(`/lib/python${major}${minor}.zip`, stdlib);
  module.FS.mkdirTree(HOME);
  module.FS.chdir(HOME);
  Object.assign(module.ENV, module.API.config.env);
}

/** Which host this is, in the words that Pyodide's code looks for. */
function runtimeEnvironment() {
  const node = isNode();
  const worker = !node && "WorkerGlobalScope" in globalThis;
  return {
    IN_NODE: node,
    IN_NODE_ESM: node,
    IN_NODE_COMMONJS: false,
    IN_BROWSER: !node,
    IN_BROWSER_MAIN_THREAD: !node && !worker,
    IN_BROWSER_WEB_WORKER: worker,
    IN_BUN: false,
    IN_DENO: false,
    IN_SAFARI: !node && /^((?!chrome).)*safari/i.test(globalThis.navigator?.userAgent ?? ""),
    IN_SHELL: false,
    IN_WORKERD: false,
  };
}
