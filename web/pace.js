/**
 * Long work in short tasks: what runs on a page's main thread lets the page draw and answer in
 * between.
 */
import { abortError } from "./errors.js";

/** Work between two pauses, in ms. Well under the 50 ms from which on a pause is felt. */
export const SLICE_MS = 8;

/** Tells when it is time for a pause, and makes it. */
export class Pacer {
  #what;
  #since = performance.now();

  /**
   * @param {AbortSignal | undefined} signal
   * @param {string} what what is aborted, for the message: "adding documents"
   */
  constructor(signal, what) {
    /** @readonly */
    this.signal = signal;
    this.#what = what;
    this.check();
  }

  /** Whether this task has run long enough. */
  get due() {
    return performance.now() - this.#since > SLICE_MS;
  }

  /**
   * Lets others run. To be awaited where `due`: an await that is not needed costs time, too.
   *
   * @throws {TernError} ABORTED
   */
  async pause() {
    this.check();
    await nextTask();
    this.check();
    this.#since = performance.now();
  }

  /** @throws {TernError} ABORTED */
  check() {
    if (this.signal?.aborted) throw abortError(this.signal, this.#what);
  }
}

/** @type {(() => void)[]} */
const waiting = [];
/** @type {MessageChannel | undefined} */
let channel;

/**
 * Resolves in a task of its own. Timers will not do: browsers stretch nested ones to 4 ms, and in a
 * hidden tab to a second.
 *
 * @returns {Promise<void>}
 */
function nextTask() {
  const { scheduler, setImmediate } = /** @type {any} */ (globalThis);
  if (typeof scheduler?.yield === "function") return scheduler.yield();
  if (typeof setImmediate === "function") return new Promise((resolve) => setImmediate(resolve));
  if (channel === undefined) {
    channel = new MessageChannel();
    channel.port1.onmessage = () => waiting.shift()?.();
  }
  const { port2 } = channel;
  return new Promise((resolve) => {
    waiting.push(resolve);
    port2.postMessage(null);
  });
}
