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
import { contentOf, headerOf, packSnapshot, unpackSnapshot, wordsBefore } from "./snapshot.js";

const HOME = "/home/pyodide";
const PACKAGES = "/lib/packages.zip";

/**
 * What the engine uses of a Pyodide interpreter.
 *
 * @typedef {object} Interpreter
 * @property {(name: string) => any} pyimport
 * @property {() => Snapshot} makeMemorySnapshot works where `forSnapshot` was set
 */

/**
 * An interpreter's memory, as makeMemorySnapshot gave it. Neither files nor JavaScript objects are in
 * it, so that it goes with the very standard library that it was made with. snapshot.js says what
 * the bytes are.
 *
 * @typedef {object} Snapshot
 * @property {Uint8Array} bytes
 * @property {number} memoryBytes how large the memory was
 */

/**
 * @param {object} parts
 * @param {(settings: object) => Promise<any>} parts.createModule default export of pyodide.asm.mjs
 * @param {WebAssembly.Module} parts.wasm pyodide.asm.wasm, compiled
 * @param {Uint8Array} [parts.stdlib] python_stdlib.zip; a snapshot may do without
 * @param {Uint8Array} [parts.archive] a zip with packages, to be imported from as it is
 * @param {Snapshot} [parts.snapshot] go on from there instead of starting anew
 * @param {string} [parts.snapshotId] 64 hex digits; a snapshot made under others is refused
 * @param {boolean} [parts.forSnapshot] have makeMemorySnapshot
 * @returns {Promise<Interpreter>}
 * @throws {TernError} WASM_BLOCKED when the wasm cannot be instantiated
 * @throws {SnapshotError} when the snapshot does not fit
 */
export async function bootPyodide(parts) {
  const { createModule, wasm, stdlib, archive, snapshot } = parts;
  const api = {
    config: {
      jsglobals: globalThis,
      args: [],
      env: { HOME, ...(archive && { PYTHONPATH: PACKAGES }) },
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
  /** What is in the memory before C++'s constructors run, and once they have. */
  const contents = [new Uint32Array(), new Uint32Array()];
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
      WebAssembly.instantiate(wasm, imports)
        .then((instance) => {
          const memory = /** @type {any} */ (instance.exports.memory ?? imports.env.memory);
          if (snapshot) {
            done({ exports: around(instance, (construct) => resume(snapshot, memory, construct)) }, wasm);
          } else if (parts.forSnapshot) {
            const watched = around(instance, (construct) => {
              contents[0] = contentOf(memory);
              construct();
              contents[1] = contentOf(memory);
            });
            done({ exports: watched }, wasm);
          } else {
            done(instance, wasm);
          }
        })
        .catch(fail);
      return {};
    },
    preRun: [(/** @type {any} */ module) => installFiles(module, stdlib, archive)],
    ...(snapshot && { noInitialRun: true }),
    onExit: (/** @type {number} */ status) => fail(new Error(`Python exited with status ${status}`)),
  };
  try {
    await Promise.race([createModule(settings), failed]);
  } catch (error) {
    if (error instanceof SnapshotError) throw error;
    throw new TernError("WASM_BLOCKED", `Python could not be started: ${error}`, { cause: error });
  }
  const internal = /** @type {any} */ (api);
  const python = internal.finalizeBootstrap(snapshot && stateOf(snapshot, internal));
  return {
    pyimport: python.pyimport,
    makeMemorySnapshot: () => packSnapshot(internal.makeSnapshot(), contents[0], contents[1]),
  };
}

/**
 * The exports, with something to be done around C++'s constructors, before anything else runs.
 *
 * @param {WebAssembly.Instance} instance
 * @param {(construct: () => void) => void} run
 */
function around({ exports }, run) {
  const construct = /** @type {() => void} */ (exports.__wasm_call_ctors);
  return { ...exports, __wasm_call_ctors: () => run(construct) };
}

/**
 * The constructors lay out tables, too, which are not in a snapshot. What they write to the memory is
 * this host's, and is undone: the snapshot has in it what they wrote where it was made.
 *
 * @param {Snapshot} snapshot
 * @param {WebAssembly.Memory} memory
 * @param {() => void} construct
 * @throws {SnapshotError}
 */
function resume({ bytes, memoryBytes }, memory, construct) {
  const initial = new Uint32Array(memory.buffer).slice(0, wordsBefore(bytes));
  construct();
  if (memory.buffer.byteLength !== memoryBytes) {
    throw new SnapshotError(`the memory has ${memory.buffer.byteLength} bytes, the snapshot's ${memoryBytes}`);
  }
  const words = new Uint32Array(memory.buffer);
  words.set(initial);
  unpackSnapshot(bytes, words);
}

/**
 * What of a snapshot is not memory.
 *
 * @param {Snapshot} snapshot
 * @param {any} internal Pyodide's own API object
 * @throws {SnapshotError}
 */
function stateOf({ bytes }, internal) {
  try {
    // Pyodide reads its header, and copies the memory that follows: none here.
    return internal.restoreSnapshot(headerOf(bytes));
  } catch (error) {
    throw new SnapshotError(String(error), { cause: error });
  }
}

/** A snapshot that does not fit this interpreter. Starting without one may still work. */
export class SnapshotError extends Error {
  name = "SnapshotError";
}

/**
 * Lays out the file system that CPython looks for at its start.
 *
 * @param {any} module the Emscripten module
 * @param {Uint8Array} [stdlib]
 * @param {Uint8Array} [archive]
 */
function installFiles(module, stdlib, archive) {
  const packed = module.HEAPU32[module._Py_Version >>> 2];
  const [major, minor, micro] = [24, 16, 8].map((shift) => (packed >>> shift) & 0xff);
  const library = `/lib/python${major}.${minor}`;
  module.API.pyVersionTuple = [major, minor, micro];
  module.API.sitePackages = `${library}/site-packages`;
  module.FS.mkdirTree(`${library}/site-packages`);
  module.FS.mkdirTree(`${library}/lib-dynload`);
  // The file system may keep the very bytes: nobody else writes to them.
  const keep = { canOwn: true };
  if (stdlib) module.FS.writeFile(`/lib/python${major}${minor}.zip`, stdlib, keep);
  if (archive) module.FS.writeFile(PACKAGES, archive, keep);
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
