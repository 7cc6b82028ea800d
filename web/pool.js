/**
 * Calls shared out over worker threads. What a person waits for goes before bulk work; a thread holds
 * two calls at most, so that it never waits for the next, and an abort has little left to wait for.
 */
import { TernError } from "./errors.js";
import { ERROR_CODES } from "./errors-list.js";

/** Calls that a thread holds at a time. */
export const DEPTH = 2;

/**
 * @typedef {object} Call
 * @property {string} method
 * @property {any[]} args
 * @property {(value: any) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {AbortSignal} [signal]
 */

export class Pool {
  /** @type {Lane[]} */
  #lanes = [];
  /** @type {Call[]} */
  #urgent = [];
  /** @type {Call[]} */
  #bulk = [];
  /** @type {TernError | undefined} */
  #ended;
  /** @type {(error: TernError) => void} */
  #tellEnd = () => {};
  /**
   * Rejected when the pool is closed, with the reason.
   *
   * @type {Promise<never>}
   * @readonly
   */
  end = new Promise((_, reject) => (this.#tellEnd = reject));

  constructor() {
    this.end.catch(() => {}); // there need not be anyone who waits for it
  }

  /**
   * @param {number} count of threads
   * @param {string | undefined} url of their script
   * @param {import("./start.js").Host["spawn"]} spawn
   * @returns {Promise<Pool>}
   */
  static async open(count, url, spawn) {
    const pool = new Pool();
    const fail = (/** @type {string} */ reason) => {
      const at = url ? ` (${url})` : "";
      void pool.close(new TernError("WORKER_FAILED", `a worker${at} failed: ${reason}`));
    };
    try {
      for (let i = 0; i < count && !pool.#ended; i++) {
        const lane = new Lane(() => pool.#pump());
        lane.thread = await spawn(url, (answer) => lane.take(answer), fail);
        lane.thread.hold(false);
        pool.#lanes.push(lane);
        if (pool.#ended) await lane.thread.terminate();
      }
    } catch (error) {
      fail(String(error));
    }
    return pool;
  }

  get size() {
    return this.#lanes.length;
  }

  /** @throws {TernError} what the pool was closed with */
  check() {
    if (this.#ended) throw this.#ended;
  }

  /**
   * One call in every thread.
   *
   * @param {string} method
   * @param {any[]} args
   * @returns {Promise<any[]>}
   */
  everywhere(method, args) {
    return Promise.all(
      this.#lanes.map(
        (lane) =>
          new Promise((resolve, reject) => {
            if (this.#ended) reject(this.#ended);
            else lane.send({ method, args, resolve, reject });
          }),
      ),
    );
  }

  /**
   * One call in whichever thread is free first. One whose signal has fired before its turn is left
   * out, and never settles.
   *
   * @param {string} method
   * @param {any[]} args
   * @param {{bulk?: boolean, signal?: AbortSignal}} [options]
   * @returns {Promise<any>}
   */
  run(method, args, { bulk = false, signal } = {}) {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      (bulk ? this.#bulk : this.#urgent).push({ method, args, resolve, reject, signal });
      this.#pump();
    });
  }

  /**
   * Ends the threads. Calls under way and all later ones are rejected with `error`.
   *
   * @param {TernError} error
   */
  async close(error) {
    if (this.#ended) return;
    this.#ended = error;
    this.#tellEnd(error);
    const calls = [...this.#lanes.flatMap((lane) => lane.drain()), ...this.#urgent, ...this.#bulk];
    this.#urgent = [];
    this.#bulk = [];
    for (const call of calls) call.reject(error);
    await Promise.all(this.#lanes.map((lane) => lane.thread?.terminate()));
  }

  #pump() {
    while (!this.#ended && (this.#urgent.length > 0 || this.#bulk.length > 0)) {
      const lane = this.#lanes.reduce((best, other) => (other.load < best.load ? other : best));
      if (lane.load >= DEPTH) return;
      const call = /** @type {Call} */ (this.#urgent.shift() ?? this.#bulk.shift());
      if (!call.signal?.aborted) lane.send(call);
    }
  }
}

/** One thread and the calls that it has. */
class Lane {
  /** @type {import("./thread.js").Thread | undefined} */
  thread;
  #lastId = 0;
  /** @type {Map<number, Call>} */
  #calls = new Map();
  #onFree;

  /** @param {() => void} onFree */
  constructor(onFree) {
    this.#onFree = onFree;
  }

  get load() {
    return this.#calls.size;
  }

  /** @param {Call} call */
  send(call) {
    const id = ++this.#lastId;
    this.#calls.set(id, call);
    this.thread?.hold(true);
    try {
      this.thread?.post({ id, method: call.method, args: call.args });
    } catch (error) {
      this.take({ id, error });
    }
  }

  /**
   * One that comes late, to a call that was drained, changes nothing: the thread is being ended, and
   * Node waits for that only while it is held.
   *
   * @param {{id: number, value?: any, error?: any}} answer
   */
  take({ id, value, error }) {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#calls.delete(id);
    if (this.load === 0) this.thread?.hold(false);
    if (error) call.reject(unpack(error));
    else call.resolve(value);
    this.#onFree();
  }

  /** Forgets its calls, and says which they were. */
  drain() {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    return calls;
  }
}

/** @param {import("./engine.worker.js").PackedError} packed */
function unpack({ name, message, code, stack }) {
  if (code !== undefined && Object.hasOwn(ERROR_CODES, code)) {
    return new TernError(/** @type {any} */ (code), message, { cause: stack });
  }
  return Object.assign(new Error(message, { cause: stack }), { name });
}
