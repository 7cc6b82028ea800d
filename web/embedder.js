/** What the index needs of an engine, checked; engines may answer at once or by promises. */
import { TernError, checkInput, describe } from "./errors.js";
import { vectorLength } from "./vectors.js";

/**
 * @template T
 * @typedef {T | PromiseLike<T>} Awaitable
 */

/** @typedef {{signal?: AbortSignal}} CallOptions an engine in a worker can leave off by the signal */

/**
 * @typedef {object} SearchEngine
 * @property {number} dim
 * @property {string} fingerprint SHA-256 of the model, in lowercase hex
 * @property {number} [maxSeqLen] tokens that the model reads of a text
 * @property {number} [maxTokens] the same under another name
 * @property {(text: string, options: CallOptions) => Awaitable<ArrayLike<number>>} [embed]
 * @property {(texts: string[], options: CallOptions) => Awaitable<ArrayLike<ArrayLike<number>>>} [embedBatch]
 * @property {(text: string) => Awaitable<{tokens: number, truncated: boolean}>} tokenCount
 */

// A batch of an engine in this thread is to take this long at most, in ms.
const BATCH_MS = 12;
const FIRST_BATCH = 1;
const LARGEST_BATCH = 64;
// An engine that answers by promises has threads of its own; a pool can share out this many.
const ASYNC_BATCH = 256;
// How far a vector's length may be from 1.
const LENGTH_TOLERANCE = 0.001;

export class Embedder {
  #engine;
  #batchSize = FIRST_BATCH;

  /**
   * @param {SearchEngine} engine
   * @throws {TernError} INVALID_INPUT for what is no engine
   */
  constructor(engine) {
    checkInput(typeof engine === "object" && engine !== null, `an engine is needed, found ${describe(engine)}`);
    const isPromise = typeof (/** @type {any} */ (engine).then) === "function";
    checkInput(!isPromise, "an engine is needed, found a promise: await load(…) first");
    const { dim, fingerprint, embed, embedBatch, tokenCount } = engine;
    checkInput(
      Number.isInteger(dim) && dim >= 1 && dim <= 65535,
      `engine.dim must be an integer from 1 to 65535, found ${dim}`,
    );
    checkInput(
      typeof fingerprint === "string" && /^[0-9a-f]{64}$/.test(fingerprint),
      `engine.fingerprint must be a SHA-256 in lowercase hex, found ${fingerprint}`,
    );
    const embeds = typeof embed === "function" || typeof embedBatch === "function";
    checkInput(embeds, "engine has neither embed nor embedBatch");
    checkInput(typeof tokenCount === "function", "engine has no tokenCount");
    this.#engine = engine;
    this.dim = dim;
    this.fingerprint = fingerprint;
    this.tokenLimit = engine.maxSeqLen ?? engine.maxTokens;
  }

  /** How many texts to hand over at a time. */
  get batchSize() {
    return this.#batchSize;
  }

  /** @param {string} text */
  countTokens(text) {
    return Promise.resolve(this.#engine.tokenCount(text));
  }

  /**
   * @param {string} text
   * @param {AbortSignal} [signal]
   * @returns {Promise<Float32Array>}
   * @throws {TernError} the engine's errors; DIMENSION, INVALID_INPUT for what is no unit vector
   */
  async embed(text, signal) {
    const { embed } = this.#engine;
    if (typeof embed !== "function") return (await this.embedBatch([text], signal))[0];
    return this.#checked(await embed.call(this.#engine, text, { signal }));
  }

  /**
   * @param {string[]} texts
   * @param {AbortSignal} [signal]
   * @returns {Promise<Float32Array[]>}
   * @throws {TernError} as `embed`
   */
  async embedBatch(texts, signal) {
    const { embedBatch } = this.#engine;
    if (typeof embedBatch !== "function") {
      const vectors = [];
      for (const text of texts) vectors.push(await this.embed(text, signal));
      return vectors;
    }
    const start = performance.now();
    const answer = embedBatch.call(this.#engine, texts, { signal });
    const milliseconds = performance.now() - start;
    const isAsync = typeof (/** @type {any} */ (answer)?.then) === "function";
    this.#batchSize = isAsync ? ASYNC_BATCH : nextBatch(texts.length, milliseconds);
    const vectors = await answer;
    if (vectors?.length !== texts.length) {
      const message = `the engine gave ${vectors?.length} vectors for ${texts.length} texts`;
      throw new TernError("DIMENSION", message);
    }
    return Array.from(vectors, (vector) => this.#checked(vector));
  }

  /**
   * @param {ArrayLike<number>} vector
   * @returns {Float32Array}
   */
  #checked(vector) {
    if (vector?.length !== this.dim) {
      const message = `the engine gave a vector of ${vector?.length} elements, expected ${this.dim}`;
      throw new TernError("DIMENSION", message);
    }
    const floats = vector instanceof Float32Array ? vector : Float32Array.from(vector);
    const length = vectorLength(floats);
    // Written so that NaN fails.
    checkInput(
      Math.abs(length - 1) <= LENGTH_TOLERANCE,
      `the engine gave a vector of length ${length}, expected one of length 1`,
    );
    return floats;
  }
}

/**
 * @param {number} count texts of the last batch
 * @param {number} milliseconds that it took
 */
function nextBatch(count, milliseconds) {
  const wanted = Math.floor((BATCH_MS * count) / Math.max(milliseconds, 0.01));
  // At most doubled: one batch of short texts says little about the next.
  return Math.max(1, Math.min(wanted, 2 * count, LARGEST_BATCH));
}
