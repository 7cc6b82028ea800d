/** Aborts: what they reject with, and waiting that hears of them. */
import { TernError } from "./errors.js";

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
