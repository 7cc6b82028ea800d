/**
 * `load`: what callers ask for, and how loads of the same thing are shared while they are under way.
 */
import { abortError, checkInput, checkOptions, describe } from "./errors.js";
import { absoluteUrl, hardwareThreads } from "./host.js";
import { FOLDER } from "./packaged.js";
import { HOST, start } from "./start.js";

/**
 * @typedef {import("./engine.js").Engine} Engine
 * @typedef {import("./worker-engine.js").WorkerEngine} WorkerEngine
 * @typedef {import("./progress.js").ProgressEvent} ProgressEvent
 */

/**
 * @typedef {object} WorkerOptions
 * @property {number | true} [pool] how many workers, at most one a hardware thread and eight in all;
 *   true leaves one hardware thread to the page; default 1
 * @property {URL | string} [url] where engine.worker.js is; default: beside tern-engine.js
 */

/**
 * @typedef {object} LoadOptions
 * @property {URL | string} [baseUrl] folder of manifest.json; default: where tern-engine.js lies
 * @property {URL | string | Uint8Array | ArrayBuffer} [model] another model of the build's own
 *   format: its URL (in Node also a path) or its bytes
 * @property {AbortSignal} [signal]
 * @property {(event: ProgressEvent) => void} [onProgress]
 * @property {number} [timeoutMs] longest wait for the next bytes of a file; default 30,000
 * @property {boolean | WorkerOptions} [worker] run in a worker, or in several; the engine is then a
 *   WorkerEngine
 */

const OPTIONS = ["baseUrl", "model", "signal", "onProgress", "timeoutMs", "worker"];
const WORKER_OPTIONS = ["pool", "url"];
// Each worker has an interpreter of its own, of some 80 MB.
const MOST_WORKERS = 8;

/**
 * A load under way. It ends when its last caller leaves.
 *
 * @typedef {object} Flight
 * @property {import("./start.js").Target} target
 * @property {AbortController} controller
 * @property {Set<(event: ProgressEvent) => void>} callers
 * @property {Promise<Engine | WorkerEngine>} engine
 */

/**
 * @param {import("./start.js").Host} [host]
 * @returns {(options?: LoadOptions) => Promise<any>} an Engine, or with `worker` a WorkerEngine
 */
export function createLoad(host = HOST) {
  /** @type {Set<Flight>} */
  const flights = new Set();

  return async function load(options = {}) {
    checkLoadOptions(options);
    const { signal, onProgress } = options;
    if (signal?.aborted) throw abortError(signal);
    const target = await resolveTarget(options);
    if (signal?.aborted) throw abortError(signal);
    let flight = [...flights].find((other) => sameTarget(other.target, target));
    flight ??= takeOff(target);
    return join(flight, signal, onProgress);
  };

  /**
   * @param {import("./start.js").Target} target
   * @returns {Flight}
   */
  function takeOff(target) {
    const controller = new AbortController();
    const callers = new Set();
    const report = (/** @type {ProgressEvent} */ event) => callers.forEach((caller) => caller(event));
    const engine = start(target, controller.signal, report, host)
      .then((engine) => {
        if (!controller.signal.aborted) return engine;
        void engine.dispose();
        throw abortError(controller.signal);
      })
      .finally(() => land(flight));
    engine.catch(() => {}); // each caller hears of it in join; there may be none left
    const flight = { target, controller, callers, engine };
    flights.add(flight);
    return flight;
  }

  /**
   * Forgets a load and stops whatever of it still runs.
   *
   * @param {Flight} flight
   */
  function land(flight) {
    flights.delete(flight);
    flight.controller.abort();
  }

  /**
   * @param {Flight} flight
   * @param {AbortSignal} [signal]
   * @param {LoadOptions["onProgress"]} [onProgress]
   * @returns {Promise<Engine | WorkerEngine>}
   */
  function join(flight, signal, onProgress) {
    return new Promise((resolve, reject) => {
      const caller = (/** @type {ProgressEvent} */ event) => {
        try {
          onProgress?.(event);
        } catch (error) {
          leave();
          reject(error);
        }
      };
      const onAbort = () => {
        leave();
        reject(abortError(signal));
      };
      const leave = () => {
        signal?.removeEventListener("abort", onAbort);
        flight.callers.delete(caller);
        if (flight.callers.size === 0) land(flight);
      };
      flight.callers.add(caller);
      signal?.addEventListener("abort", onAbort);
      if (signal?.aborted) onAbort(); // its start has begun by now, and may have had an effect on the caller
      flight.engine.then(resolve, reject).finally(leave);
    });
  }
}

/** @param {LoadOptions} options */
function checkLoadOptions(options) {
  checkOptions(options, OPTIONS, "load");
  const { baseUrl, model, timeoutMs, worker } = options;
  const isLocation = (/** @type {unknown} */ value) => typeof value === "string" || value instanceof URL;
  checkInput(
    baseUrl === undefined || isLocation(baseUrl),
    `baseUrl must be a URL or a string, found ${describe(baseUrl)}`,
  );
  checkInput(
    model === undefined || isLocation(model) || isBytes(model),
    `model must be a URL, a string, a Uint8Array or an ArrayBuffer, found ${describe(model)}`,
  );
  checkInput(
    timeoutMs === undefined || (typeof timeoutMs === "number" && timeoutMs > 0),
    `timeoutMs must be a positive number, found ${timeoutMs}`,
  );
  if (worker === undefined || typeof worker === "boolean") return;
  checkInput(
    typeof worker === "object" && worker !== null,
    `worker must be a boolean or an object, found ${describe(worker)}`,
  );
  checkOptions(worker, WORKER_OPTIONS, "worker");
  const { pool, url } = worker;
  checkInput(
    pool === undefined || pool === true || (Number.isInteger(pool) && pool > 0),
    `worker.pool must be true or a positive integer, found ${String(pool)}`,
  );
  checkInput(
    url === undefined || isLocation(url),
    `worker.url must be a URL or a string, found ${describe(url)}`,
  );
}

/**
 * @param {LoadOptions} options
 * @returns {Promise<import("./start.js").Target>}
 */
async function resolveTarget({ baseUrl = FOLDER, model, timeoutMs = 30_000, worker }) {
  const base = baseUrl === undefined ? undefined : await resolve(baseUrl, "baseUrl");
  return {
    baseUrl: base === undefined || base.endsWith("/") ? base : `${base}/`,
    model: model === undefined || isBytes(model) ? bytesOf(model) : await resolve(model, "model"),
    timeoutMs,
    workers: worker ? await resolveWorkers(worker === true ? {} : worker) : undefined,
  };
}

/**
 * @param {WorkerOptions} worker
 * @returns {Promise<import("./start.js").Target["workers"]>}
 */
async function resolveWorkers({ pool = 1, url }) {
  const threads = await hardwareThreads();
  const wanted = pool === true ? threads - 1 : Math.min(pool, threads);
  return {
    count: Math.max(1, Math.min(wanted, MOST_WORKERS)),
    url: url === undefined ? undefined : await resolve(url, "worker.url"),
  };
}

/**
 * @param {URL | string} location
 * @param {string} name
 */
async function resolve(location, name) {
  const url = await absoluteUrl(location).catch(() => "");
  checkInput(url !== "", `${name} is ${JSON.stringify(String(location))}, expected a URL`);
  return url;
}

/**
 * @param {unknown} value
 * @returns {value is Uint8Array | ArrayBuffer}
 */
function isBytes(value) {
  return value instanceof Uint8Array || value instanceof ArrayBuffer;
}

/**
 * A plain view of the bytes: Pyodide takes no subclass of Uint8Array, such as Node's Buffer.
 *
 * @param {Uint8Array | ArrayBuffer | undefined} model
 */
function bytesOf(model) {
  if (model === undefined || model instanceof ArrayBuffer) return model && new Uint8Array(model);
  return new Uint8Array(model.buffer, model.byteOffset, model.byteLength);
}

/**
 * @param {import("./start.js").Target} one
 * @param {import("./start.js").Target} other
 */
function sameTarget(one, other) {
  return (
    one.baseUrl === other.baseUrl &&
    one.workers?.count === other.workers?.count &&
    one.workers?.url === other.workers?.url &&
    sameModel(one.model, other.model)
  );
}

/**
 * @param {string | Uint8Array | undefined} one
 * @param {string | Uint8Array | undefined} other
 */
function sameModel(one, other) {
  if (!(one instanceof Uint8Array) || !(other instanceof Uint8Array)) return one === other;
  return (
    one.buffer === other.buffer &&
    one.byteOffset === other.byteOffset &&
    one.byteLength === other.byteLength
  );
}
