/** The engine's worker, seen from the page: questions with answers, and events. */

/**
 * @typedef {{code: string, message: string}} Failure
 * @typedef {(name: string, detail: any) => void} Listener
 */

export class Client {
  #listener;
  /** @type {Worker | null} */
  #worker = null;
  #lastId = 0;
  /** @type {Map<number, {resolve: (value: any) => void, reject: (failure: Failure) => void}>} */
  #open = new Map();

  /** @param {Listener} listener hears the worker's events, and "crashed" with a Failure */
  constructor(listener) {
    this.#listener = listener;
    this.restart();
  }

  /** A fresh worker; whatever the one before did has ended, and all its memory is free. */
  restart() {
    this.#worker?.terminate();
    this.#rejectAll({ code: "ABORTED", message: "the worker was ended" });
    const worker = new Worker(new URL("engine.worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }) => this.#receive(data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      const message = event.message || "the page's own scripts could not be loaded";
      const failure = { code: "LOAD_NETWORK", message };
      this.#rejectAll(failure);
      this.#listener("crashed", failure);
    });
    this.#worker = worker;
  }

  /**
   * @param {string} method of engine.worker.js
   * @param {Record<string, unknown>} [input]
   * @param {Transferable[]} [transfer]
   * @returns {Promise<any>} rejects with a Failure
   */
  ask(method, input = {}, transfer = []) {
    const id = ++this.#lastId;
    this.#worker?.postMessage({ id, method, input }, transfer);
    return new Promise((resolve, reject) => this.#open.set(id, { resolve, reject }));
  }

  /** @param {{id?: number, value?: any, failure?: Failure, event?: string, detail?: any}} data */
  #receive({ id, value, failure, event, detail }) {
    if (event !== undefined) return this.#listener(event, detail);
    const waiting = this.#open.get(/** @type {number} */ (id));
    this.#open.delete(/** @type {number} */ (id));
    if (failure) waiting?.reject(failure);
    else waiting?.resolve(value);
  }

  /** @param {Failure} failure */
  #rejectAll(failure) {
    for (const { reject } of this.#open.values()) reject(failure);
    this.#open.clear();
  }
}

/**
 * One question under way at most; of those asked for meanwhile only the latest is put.
 *
 * @template T
 * @param {() => Promise<T> | null} ask puts what is to be asked now; null for nothing
 * @param {(answer: T) => void} show
 * @param {(failure: any) => void} fail
 * @returns {() => void}
 */
export function latestWins(ask, show, fail) {
  let busy = false;
  let again = false;
  const run = async () => {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    again = false;
    try {
      const answer = await ask();
      if (answer !== null && !again) show(answer);
    } catch (failure) {
      if (!again) fail(failure);
    } finally {
      busy = false;
      if (again) run();
    }
  };
  return run;
}
