/** The engine in worker threads: the same calls as Engine's, answered by promises. */
import { classify } from "./classify.js";
import { TernError, abortError, abortable, checkInput, checkOptions, describe } from "./errors.js";
import { DEPTH, Pool } from "./pool.js";

// Texts to a message: few enough for an abort to be quick, and for a pool to share them out evenly.
const SLICE = 16;
const CALL = "the call";
const CALL_OPTIONS = ["signal"];
const BATCH_OPTIONS = ["signal", "onProgress"];

/**
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal] rejects the call with ABORTED, and leaves the engine as it is
 */

/**
 * @typedef {object} BatchOptions
 * @property {AbortSignal} [signal]
 * @property {(done: number, total: number) => void} [onProgress] texts embedded so far
 */

export class WorkerEngine {
  #pool;
  #summary;

  /**
   * @param {Pool} pool
   * @param {import("./engine.worker.js").Facts} facts
   */
  constructor(pool, { dim, maxSeqLen, fingerprint, summary }) {
    this.#pool = pool;
    this.#summary = summary;
    /** Length of an embedding. @readonly */
    this.dim = dim;
    /** Tokens a text is cut to, [CLS] and [SEP] included. @readonly */
    this.maxSeqLen = maxSeqLen;
    /** SHA-256 of the model, in hex: vectors of equal fingerprints can be compared. @readonly */
    this.fingerprint = fingerprint;
    /** How many worker threads there are. @readonly */
    this.workers = pool.size;
  }

  /**
   * The embedding of one text. Goes before batches that are under way.
   *
   * @param {string} text
   * @param {CallOptions} [options]
   * @returns {Promise<Float32Array>}
   * @throws {TernError} INVALID_INPUT, DISPOSED, ABORTED, WORKER_FAILED; so do the other calls
   */
  async embed(text, options = {}) {
    checkText(text, "text");
    checkOptions(options, CALL_OPTIONS, "embed");
    return this.#call("embedBatch", [[text]], options.signal);
  }

  /**
   * The embeddings of many texts, shared out over the workers. The array may be changed meanwhile.
   *
   * @param {readonly string[]} texts
   * @param {BatchOptions} [options]
   * @returns {Promise<Float32Array[]>} one a text, in order
   */
  async embedBatch(texts, options = {}) {
    checkInput(Array.isArray(texts), `texts must be an array of strings, found ${describe(texts)}`);
    const given = Array.from(texts);
    given.forEach((text, i) => checkText(text, `texts[${i}]`));
    checkOptions(options, BATCH_OPTIONS, "embedBatch");
    const { signal, onProgress } = options;
    this.#pool.check();
    /** @type {Float32Array[]} */
    const vectors = new Array(given.length);
    const stop = new AbortController();
    let next = 0;
    let done = 0;
    // As many at a time as the workers hold, so that batches side by side get on alike.
    const embedSlices = async () => {
      while (next < given.length && !stop.signal.aborted) {
        const start = next;
        const slice = given.slice(start, (next += SLICE));
        const call = { bulk: true, signal: stop.signal };
        const flat = await this.#pool.run("embedBatch", [slice], call);
        if (stop.signal.aborted) return;
        slice.forEach((_, i) => (vectors[start + i] = flat.slice(i * this.dim, (i + 1) * this.dim)));
        done += slice.length;
        onProgress?.(done, given.length);
      }
    };
    try {
      await abortable(Promise.all(Array.from({ length: DEPTH * this.workers }, embedSlices)), signal, CALL);
    } finally {
      stop.abort();
    }
    return vectors;
  }

  /**
   * The token ids of a text as the model sees them: [CLS] … [SEP], cut to `maxSeqLen`.
   *
   * @param {string} text
   * @param {CallOptions} [options]
   * @returns {Promise<Uint32Array>}
   */
  async tokenize(text, options = {}) {
    checkText(text, "text");
    checkOptions(options, CALL_OPTIONS, "tokenize");
    return this.#call("tokenize", [text], options.signal);
  }

  /**
   * How many tokens of a text the model reads, and whether the rest of it was cut off.
   *
   * @param {string} text
   * @param {CallOptions} [options]
   * @returns {Promise<{tokens: number, truncated: boolean}>}
   */
  async tokenCount(text, options = {}) {
    checkText(text, "text");
    checkOptions(options, CALL_OPTIONS, "tokenCount");
    return this.#call("tokenCount", [text], options.signal);
  }

  /**
   * Labels ranked by the cosine of their embeddings to the text's; see classify.js.
   *
   * @param {string} text
   * @param {import("./classify.js").Labels} labels
   * @param {import("./classify.js").ClassifyOptions} [options]
   */
  async classify(text, labels, options) {
    return classify(this, text, labels, options);
  }

  /**
   * A JSON object as text: engine, version, build, shapes, model size, fingerprint, host.
   *
   * @returns {Promise<string>}
   */
  async config_summary() {
    this.#pool.check();
    return this.#summary;
  }

  /**
   * @param {string} method
   * @param {any[]} args
   * @param {AbortSignal | undefined} signal
   */
  #call(method, args, signal) {
    return abortable(this.#pool.run(method, args, { signal }), signal, CALL);
  }

  /** Ends the workers; resolves when they are gone. Calls under way and later ones: DISPOSED. */
  async dispose() {
    await this.#pool.close(new TernError("DISPOSED", "the engine was used after dispose()"));
  }
}

/**
 * Starts the engine in workers. Each gets compiled modules and bytes, and fetches nothing but its
 * script and Python's, which the HTTP cache has by then.
 *
 * @param {{count: number, url: string | undefined}} workers
 * @param {import("./start.js").Parts} parts
 * @param {AbortSignal} signal
 * @param {import("./start.js").Host} host
 * @returns {Promise<WorkerEngine>}
 */
export async function startWorkers({ count, url }, parts, signal, host) {
  // Whichever fails first says why; the other is not to go unheard.
  parts.python.catch(() => {});
  parts.rest.catch(() => {});
  const pool = await Pool.open(count, url, host.spawn);
  const onAbort = () => void pool.close(abortError(signal));
  signal.addEventListener("abort", onAbort);
  try {
    if (signal.aborted) throw abortError(signal);
    const started = Promise.all([
      parts.python.then((files) => pool.everywhere("python", [files])),
      Promise.all([parts.python, parts.rest]).then(([, rest]) => pool.everywhere("model", [rest])),
    ]);
    const [, facts] = await Promise.race([started, pool.end]);
    return new WorkerEngine(pool, facts[0]);
  } catch (error) {
    const closed = pool.close(/** @type {TernError} */ (error));
    // Another start follows, which idle threads that end would not keep a Node process alive for.
    if (/** @type {Error} */ (error).name !== "SnapshotError") await closed;
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * @param {unknown} text
 * @param {string} name
 */
function checkText(text, name) {
  checkInput(typeof text === "string", `${name} must be a string, found ${describe(text)}`);
}
