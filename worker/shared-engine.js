/** One engine for all requests of an isolate: started by the first that needs it. */
import { HttpError } from "./errors.js";

const PATIENCE_MS = 20_000;

/**
 * @template E
 */
export class SharedEngine {
  /** @type {Promise<E> | null} */
  #starting = null;
  /** @type {E | null} */
  #engine = null;
  #start;
  #patience;

  /**
   * @param {(env: any) => Promise<E>} start
   * @param {number} [patienceMs] how long a request waits for a start
   */
  constructor(start, patienceMs = PATIENCE_MS) {
    this.#start = start;
    this.#patience = patienceMs;
  }

  /** @returns {"cold" | "starting" | "ready"} */
  get state() {
    if (this.#engine) return "ready";
    return this.#starting ? "starting" : "cold";
  }

  /**
   * The engine; starts it unless it runs or another request is starting it. A failed start is
   * forgotten: the next request tries again.
   *
   * @param {any} env
   * @param {(work: Promise<unknown>) => void} keepAlive has the runtime finish a start whose request
   *   was given up by its client
   * @returns {Promise<E>}
   * @throws {HttpError} engine_unavailable
   */
  async get(env, keepAlive) {
    if (this.#engine) return this.#engine;
    if (!this.#starting) keepAlive(this.#begin(env).catch(() => {}));
    const starting = /** @type {Promise<E>} */ (this.#starting);
    try {
      return await this.#inTime(starting);
    } catch (error) {
      // Also one that never ends: its request may have been cut off together with its reads.
      if (this.#starting === starting) this.#starting = null;
      throw this.#unavailable(error);
    }
  }

  /** Forgets an engine that failed in a way it should not: the next request starts another. */
  reset() {
    this.#engine = null;
  }

  /** @param {any} env */
  #begin(env) {
    const began = Date.now();
    const starting = this.#start(env).then(
      (engine) => {
        console.log(JSON.stringify({ event: "engine_started", ms: Date.now() - began }));
        if (this.#starting === starting) {
          this.#engine = engine;
          this.#starting = null;
        }
        return engine;
      },
      (error) => {
        if (this.#starting === starting) this.#starting = null;
        throw error;
      },
    );
    this.#starting = starting;
    return starting;
  }

  /** @param {Promise<E>} starting */
  #inTime(starting) {
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`no end after ${this.#patience} ms`));
      const timer = setTimeout(late, this.#patience);
      starting.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  /** @param {any} error */
  #unavailable(error) {
    const code = error?.code ?? "";
    console.error(JSON.stringify({ event: "start_failed", code, message: String(error?.message) }));
    return new HttpError("engine_unavailable", `The engine did not start. ${code}`.trim(), {
      headers: { "retry-after": "2" },
    });
  }
}
