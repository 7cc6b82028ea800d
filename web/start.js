/** One load, from the manifest to an engine. load.js decides when to start one and who gets it. */
import { startEngine, startPython } from "./boot.js";
import { Downloads } from "./downloads.js";
import { TernError, abortError } from "./errors.js";
import { fetchFile } from "./fetch-file.js";
import { checkWebAssembly } from "./host.js";
import { importModule } from "./import-module.js";
import { listFiles, parseManifest } from "./manifest.js";
import { EXPECTED, FILES, FOLDER } from "./packaged.js";
import { Progress } from "./progress.js";
import { bootPyodide } from "./pyodide-boot.js";
import { spawnThread } from "./thread.js";
import { startWorkers } from "./worker-engine.js";

/**
 * @typedef {object} Target
 * @property {string | undefined} baseUrl absolute, ends in "/"; undefined for the files that came
 *   with a package
 * @property {string | Uint8Array | undefined} model an absolute URL, bytes, or the build's own
 * @property {number} timeoutMs
 * @property {{count: number, url: string | undefined} | undefined} workers how many and from where,
 *   undefined for this thread
 */

/**
 * What a start needs from outside; tests replace it.
 *
 * @typedef {object} Host
 * @property {typeof globalThis.fetch} [fetch]
 * @property {typeof checkWebAssembly} checkWebAssembly
 * @property {typeof importModule} importModule
 * @property {typeof bootPyodide} boot
 * @property {typeof spawnThread} spawn
 * @property {{baseUrl: string, manifest: object}} [expected] what the manifest in that folder is likely
 *   to say
 */

/** @type {Host} */
export const HOST = {
  checkWebAssembly,
  importModule,
  boot: bootPyodide,
  spawn: spawnThread,
  ...(FOLDER && EXPECTED && { expected: { baseUrl: FOLDER, manifest: EXPECTED } }),
};

/**
 * @param {Target} target
 * @param {AbortSignal} signal
 * @param {(event: import("./progress.js").ProgressEvent) => void} report
 * @param {Host} host
 * @returns {Promise<import("./engine.js").Engine | import("./worker-engine.js").WorkerEngine>}
 */
export async function start(target, signal, report, host) {
  const { workers } = target;
  await host.checkWebAssembly();
  const options = { signal, timeoutMs: target.timeoutMs, fetch: host.fetch };
  const downloads = new Downloads(options);
  downloads.expect(expectedFiles(target, host));
  const { model, ...listed } = await readList(target, options);
  const own = withSnapshot(listed);
  const modelFile = modelSource(target.model, model);
  const progress = new Progress(
    modelFile ? [...Object.values(own), { ...modelFile, bytes: model.bytes }] : Object.values(own),
    report,
  );
  downloads.watch((name, loaded, total) => progress.update(name, loaded, total));
  /** @type {Get} */
  const get = (file) => downloads.get(file);

  const parts = (/** @type {typeof own} */ files) =>
    pythonParts(files, get, target.timeoutMs, workers ? undefined : host);
  const python = parts(own);
  const rest = Promise.all([
    get(own.kernels).then(compileKernels),
    modelFile ? get(modelFile) : /** @type {Uint8Array} */ (target.model),
  ]).then(([kernels, model]) => ({ kernels, model, sha256: modelFile?.sha256 }));
  downloads.drop();
  downloads.all().then(
    () => progress.enter("starting"),
    () => {}, // `python` or `rest` fails of the same
  );
  /** @type {(parts: Parts) => Promise<any>} */
  const begin = (parts) =>
    workers ? startWorkers(workers, parts, signal, host) : startHere(parts, signal, host);
  const engine = await begin({ python, rest }).catch((error) => {
    if (error.name !== "SnapshotError") throw error;
    const { snapshot, ...plain } = listed;
    return begin({ python: parts(plain), rest });
  });
  progress.enter("ready");
  return engine;
}

/**
 * The files of a start from the snapshot, where there is one: it has the standard library in it.
 *
 * @template {Record<string, any>} Listed
 * @param {Listed} listed
 * @returns {Listed}
 */
function withSnapshot(listed) {
  const { snapshot, "python_stdlib.zip": library, ...others } = listed;
  return /** @type {Listed} */ (snapshot ? { snapshot, ...others } : listed);
}

/**
 * @callback Get
 * @param {import("./fetch-file.js").FileSpec} file
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */

/**
 * What a start will ask for, as far as that is known before the manifest is here.
 *
 * @param {Target} target
 * @param {Host} host
 * @returns {import("./fetch-file.js").FileSpec[]}
 */
function expectedFiles({ baseUrl, model }, { expected }) {
  if (expected === undefined || baseUrl !== expected.baseUrl) return [];
  const { model: own, ...others } = listFiles(expected.manifest, manifestUrl(baseUrl));
  return [...Object.values(withSnapshot(others)), ...(model === undefined ? [own] : [])];
}

/**
 * @param {Target} target
 * @param {import("./fetch-file.js").FetchOptions} options
 */
async function readList({ baseUrl }, options) {
  if (baseUrl === undefined) return packagedFiles();
  const url = manifestUrl(baseUrl);
  const content = await fetchFile({ name: "manifest.json", url, revalidate: true }, options);
  return listFiles(parseManifest(content, url), url);
}

/** @param {string} baseUrl */
const manifestUrl = (baseUrl) => new URL("manifest.json", baseUrl).href;

/**
 * @returns {Record<import("./manifest.js").FileName, import("./fetch-file.js").FileSpec> &
 *   {snapshot?: import("./manifest.js").SnapshotFile}}
 */
function packagedFiles() {
  const files = Object.entries(FILES ?? {}).map(([name, file]) => [name, { name, ...file }]);
  return Object.fromEntries(files);
}

/**
 * @param {Omit<Awaited<ReturnType<typeof readList>>, "model">} files
 * @param {Get} get
 * @param {number} timeoutMs
 * @param {Host} [here] for a start in this thread: the script is imported as soon as it is here
 * @returns {Promise<import("./boot.js").PythonParts>}
 */
async function pythonParts(files, get, timeoutMs, here) {
  const { name, url } = files["pyodide.asm.mjs"];
  const start = performance.now();
  const { snapshot: image } = files;
  const scripted = get(files["pyodide.asm.mjs"]).then((source) => {
    // An import says nothing of its progress. Where it is a second download, it may take as long again
    // as the first, and longer, but not for ever.
    const script = { name, url, patienceMs: timeoutMs + 4 * (performance.now() - start) };
    const imported = here?.importModule(script, source);
    imported?.catch(() => {}); // heard of when Python starts
    return { script, source, imported };
  });
  const [scripts, wasm, library, archive] = await Promise.all([
    scripted,
    get(files["pyodide.asm.wasm"]).then((bytes) => WebAssembly.compile(bytes)),
    get(image ?? files["python_stdlib.zip"]),
    get(files.package),
  ]);
  if (!image) return { ...scripts, wasm, archive, stdlib: library };
  const snapshot = { bytes: library, memoryBytes: image.memoryBytes };
  return { ...scripts, wasm, archive, snapshot, snapshotId: image.id };
}

/**
 * @typedef {object} Parts
 * @property {Promise<import("./boot.js").PythonParts>} python
 * @property {Promise<import("./boot.js").ModelParts>} rest
 */

/**
 * Python starts as soon as its own files are here, beside the other downloads.
 *
 * @param {Parts} parts
 * @param {AbortSignal} signal
 * @param {Host} host
 */
async function startHere(parts, signal, host) {
  const [python, rest] = await Promise.all([
    parts.python.then(async (files) => {
      await pause(signal);
      return startPython(files, host);
    }),
    parts.rest,
  ]);
  await pause(signal);
  return startEngine(python, rest);
}

/**
 * @param {Target["model"]} asked
 * @param {import("./fetch-file.js").FileSpec} own
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
