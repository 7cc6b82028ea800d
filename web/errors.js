/**
 * The engine's error type, and the checks and waits that end in one. `code` is one of the codes in
 * errors-list.js, the same on every host.
 */
import { ERROR_CODES } from "./errors-list.js";

const PREFIX = "tern-engine: ";

export class TernError extends Error {
  /**
   * @param {import("./errors-list.js").ErrorCode} code
   * @param {string} message says what was found and what was expected; gets the prefix if it lacks it
   * @param {{cause?: unknown}} [options]
   */
  constructor(code, message, options) {
    if (!Object.hasOwn(ERROR_CODES, code)) {
      throw new TypeError(`${code} is not an error code of tern-engine`);
    }
    super(message.startsWith(PREFIX) ? message : PREFIX + message, options);
    this.name = "TernError";
    /** @readonly */
    this.code = code;
  }
}

/**
 * What an abort rejects with: code ABORTED, the AbortError as its cause.
 *
 * @param {AbortSignal | undefined} signal
 * @param {string} [what] what is aborted
 * @returns {TernError}
 */
export function abortError(signal, what = "the load") {
  const reason = signal?.reason;
  const cause =
    reason instanceof Error && reason.name === "AbortError"
      ? reason
      : new DOMException("The operation was aborted.", "AbortError");
  return new TernError("ABORTED", `${what} was aborted by its caller`, { cause });
}

/**
 * What `promise` gives, or ABORTED as soon as the signal fires; what `promise` does then goes unheard.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal | undefined} signal
 * @param {string} what what is aborted
 * @returns {Promise<T>}
 */
export function abortable(promise, signal, what) {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(abortError(signal, what));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/**
 * @param {unknown} condition
 * @param {string} message
 * @returns {asserts condition}
 */
export function checkInput(condition, message) {
  if (!condition) throw new TernError("INVALID_INPUT", message);
}

/**
 * What every call's options have in common: they are an object, without a misspelt option, which would
 * do nothing; `signal` and `onProgress` mean the same everywhere. To be called before anything is begun.
 *
 * @param {any} options
 * @param {readonly string[]} known
 * @param {string} what takes them
 * @throws {TernError} INVALID_INPUT
 */
export function checkOptions(options, known, what) {
  // By its tag, which a signal given in their place, an array and a promise have another of.
  const isObject = Object.prototype.toString.call(options) === "[object Object]";
  checkInput(isObject, `${what} takes an object of options, found ${describe(options)}`);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  checkInput(unknown === undefined, `${what} has no option ${unknown}, only ${known.join(", ")}`);
  const { signal, onProgress } = options;
  checkInput(
    signal === undefined || (typeof signal?.aborted === "boolean" && typeof signal.addEventListener === "function"),
    `signal must be an AbortSignal, found ${describe(signal)}`,
  );
  checkInput(
    onProgress === undefined || typeof onProgress === "function",
    `onProgress must be a function, found ${describe(onProgress)}`,
  );
}

/**
 * Says what a value is, for messages: "a number", "null", "an Array".
 *
 * @param {unknown} value
 * @returns {string}
 */
export function describe(value) {
  if (value === null || value === undefined) return String(value);
  const type = typeof value;
  if (type !== "object") return type === "function" ? "a function" : `a ${type}`;
  const name = Object.getPrototypeOf(value)?.constructor?.name ?? "object";
  return /^[AEIOU]/.test(name) ? `an ${name}` : `a ${name}`;
}
