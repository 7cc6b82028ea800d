/**
 * Fetches one file whole, and trusts nothing: not the status, the type, the length, the bytes or
 * the server's will to go on. Whatever is wrong becomes a TernError with a LOAD_ code.
 */
import { TernError, abortError } from "./errors.js";
import { LONGEST_TIMER_MS, nodeModule } from "./host.js";
import { Received } from "./received.js";
import { sha256 } from "./sha256.js";

/**
 * What a file should be. A file of unknown size and hash (a model of the caller's own) has neither
 * `bytes` nor `sha256`; the engine checks what is in it.
 *
 * @typedef {object} FileSpec
 * @property {string} name for messages and progress: "model", "pyodide.asm.wasm", …
 * @property {string} url absolute
 * @property {number} [bytes]
 * @property {string} [sha256] hex
 * @property {Slices} [slices] where the file's hash would keep a reader waiting
 * @property {boolean} [revalidate] ask the server even where the HTTP cache has the file
 */

/**
 * Hashes of a file's parts. Where all of them match it is the file; else its own hash decides.
 *
 * @typedef {object} Slices
 * @property {number} bytes of each but the last
 * @property {string[]} sha256 hex
 */

/**
 * @typedef {object} FetchOptions
 * @property {AbortSignal} [signal]
 * @property {number} [timeoutMs] longest wait for the next bytes; default 30,000
 * @property {(loaded: number, total: number | undefined) => void} [onBytes] after each chunk
 * @property {typeof globalThis.fetch} [fetch]
 */

const HTML_TYPES = /^(text\/html|application\/xhtml\+xml)\b/i;
const HTML_START = /^\s*(<!doctype html|<html|<head|<\?xml)/i;

/**
 * A file that came whole and wrong is asked for once more, past the HTTP caches on the way: one of them
 * may hold a broken answer for good, and is to have the right one from then on.
 *
 * @param {FileSpec} file
 * @param {FetchOptions} [options]
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 * @throws {TernError} LOAD_HTTP, LOAD_CONTENT, LOAD_TRUNCATED, LOAD_INTEGRITY, LOAD_NETWORK,
 *   LOAD_TIMEOUT, ABORTED
 */
export async function fetchFile(file, options = {}) {
  try {
    return await fetchOnce(file, options, file.revalidate ? "no-cache" : "default");
  } catch (error) {
    if (file.url.startsWith("file:") || !cameWrong(/** @type {TernError} */ (error))) throw error;
    return fetchOnce(file, options, "reload");
  }
}

/**
 * @param {FileSpec} file
 * @param {FetchOptions} options
 * @param {RequestCache} cache
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function fetchOnce(file, options, cache) {
  const { signal, timeoutMs = 30_000 } = options;
  if (signal?.aborted) throw abortError(signal);
  const stall = stallTimer(timeoutMs);
  const controller = new AbortController();
  const stop = () => controller.abort();
  signal?.addEventListener("abort", stop);
  stall.signal.addEventListener("abort", stop);
  // Waited for beside the body: an aborted one may never end (seen in Node 20).
  const stopped = new Promise((_, reject) => controller.signal.addEventListener("abort", reject));
  stopped.catch(() => {});
  try {
    const { body, hashes } = file.url.startsWith("file:")
      ? { body: await readLocal(file), hashes: [] }
      : await Promise.race([download(file, options, cache, controller.signal, stall.touch), /** @type {Promise<never>} */ (stopped)]);
    stall.clear();
    options.onBytes?.(body.length, body.length);
    await checkBody(file, body, hashes);
    if (signal?.aborted) throw abortError(signal);
    return body;
  } catch (error) {
    if (signal?.aborted) throw abortError(signal);
    if (stall.signal.aborted) {
      const message = `${label(file)} sent no bytes for ${timeoutMs} ms`;
      throw new TernError("LOAD_TIMEOUT", message, { cause: error });
    }
    throw error;
  } finally {
    stall.clear();
    signal?.removeEventListener("abort", stop);
    controller.abort(); // frees the connection of an answer that was refused half-read
  }
}

/**
 * Whether an answer came to its end, and was not the file. One that broke off has a cause.
 *
 * @param {TernError} error
 */
function cameWrong({ code, cause }) {
  return code === "LOAD_INTEGRITY" || code === "LOAD_CONTENT" || (code === "LOAD_TRUNCATED" && cause === undefined);
}

/**
 * @param {FileSpec} file
 * @param {FetchOptions} options
 * @param {RequestCache} cache
 * @param {AbortSignal} signal
 * @param {() => void} touch called when bytes came
 * @returns {Promise<{body: Uint8Array<ArrayBuffer>, hashes: Promise<string>[]}>}
 */
async function download(file, { fetch = globalThis.fetch, onBytes }, cache, signal, touch) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(file.url, { signal, cache });
  } catch (error) {
    throw new TernError("LOAD_NETWORK", `${label(file)} could not be fetched: ${reason(error)}`, {
      cause: error,
    });
  }
  touch();
  return readBody(file, response, onBytes, touch);
}

/**
 * @param {FileSpec} file
 * @param {Response} response
 * @param {FetchOptions["onBytes"]} onBytes
 * @param {() => void} touch
 */
async function readBody(file, response, onBytes, touch) {
  if (!response.ok) {
    const found = `${response.status} ${response.statusText}`.trim();
    throw new TernError("LOAD_HTTP", `${label(file)} was answered with ${found}, expected 200`);
  }
  const type = response.headers.get("content-type") ?? "";
  if (HTML_TYPES.test(type)) throw contentError(file, type);
  const total = file.bytes ?? declaredLength(response);
  const { bytes: longest = Infinity } = file;
  const received = new Received(file.bytes, file.slices?.bytes);
  try {
    const reader = response.body?.getReader();
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      touch();
      received.add(part.value);
      onBytes?.(received.loaded, total);
      if (received.loaded > longest) break; // wrong, and perhaps without an end
    }
  } catch (error) {
    // The host itself holds the body to its Content-Length, and ends short ones with an error.
    throw truncated(file, received.loaded, total, error);
  }
  return { body: received.body(), hashes: received.hashes };
}

/**
 * @param {FileSpec} file
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function readLocal(file) {
  try {
    const { readFile } = await nodeModule("fs/promises");
    const buffer = await readFile(new URL(file.url));
    // A plain view: Pyodide takes no subclass of Uint8Array.
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  } catch (error) {
    throw new TernError("LOAD_NETWORK", `${label(file)} could not be read: ${reason(error)}`, {
      cause: error,
    });
  }
}

/**
 * @param {FileSpec} file
 * @param {Uint8Array<ArrayBuffer>} body
 * @param {Promise<string>[]} hashes of its slices, as far as they were taken
 */
async function checkBody(file, body, hashes) {
  if (looksLikeHtml(body)) throw contentError(file, "an HTML page");
  if (file.bytes !== undefined && body.length < file.bytes) {
    throw truncated(file, body.length, file.bytes);
  }
  if (file.bytes !== undefined && body.length > file.bytes) {
    const message = `${label(file)} has at least ${body.length} bytes, expected ${file.bytes}`;
    throw new TernError("LOAD_INTEGRITY", message);
  }
  if (file.sha256 === undefined || (await matches(file.slices, hashes))) return;
  const found = await sha256(body);
  if (found !== file.sha256) {
    const message = `${label(file)} has SHA-256 ${found}, expected ${file.sha256}`;
    throw new TernError("LOAD_INTEGRITY", message);
  }
}

/**
 * @param {Slices | undefined} slices
 * @param {Promise<string>[]} hashes
 */
async function matches(slices, hashes) {
  if (slices === undefined || slices.sha256.length !== hashes.length) return false;
  const found = await Promise.all(hashes);
  return found.every((hash, i) => hash === slices.sha256[i]);
}

/** @param {Uint8Array} body */
function looksLikeHtml(body) {
  return HTML_START.test(new TextDecoder().decode(body.subarray(0, 128)));
}

/**
 * The length that the server announced, for progress only: it is that of the compressed body where
 * there is one, which a page may not be allowed to see.
 *
 * @param {Response} response
 * @returns {number | undefined}
 */
function declaredLength(response) {
  const length = response.headers.get("content-length");
  const encoding = response.headers.get("content-encoding") ?? "identity";
  return length !== null && encoding === "identity" ? Number(length) : undefined;
}

/**
 * @param {FileSpec} file
 * @param {string} found
 */
function contentError(file, found) {
  const message = `${label(file)} was answered with ${found}, expected the file itself`;
  return new TernError("LOAD_CONTENT", message);
}

/**
 * @param {FileSpec} file
 * @param {number} loaded
 * @param {number | undefined} expected
 * @param {unknown} [cause]
 */
function truncated(file, loaded, expected, cause) {
  const message = `${label(file)} ended after ${loaded} bytes, expected ${expected ?? "more"}`;
  return new TernError("LOAD_TRUNCATED", message, { cause });
}

/** @param {FileSpec} file */
const label = (file) => `${file.name} (${file.url})`;

/** @param {unknown} error */
const reason = (error) => (error instanceof Error ? error.message : String(error));

/**
 * A signal that fires when `touch` was not called for `ms`.
 *
 * @param {number} ms
 */
function stallTimer(ms) {
  const controller = new AbortController();
  let last = performance.now();
  const check = () => {
    const left = last + ms - performance.now();
    if (left <= 0) controller.abort();
    else timer = setTimeout(check, Math.min(left, LONGEST_TIMER_MS));
  };
  let timer = setTimeout(check, Math.min(ms, LONGEST_TIMER_MS));
  // Called for every chunk: a timer started anew each time would cost more than the rest of it.
  const touch = () => void (last = performance.now());
  const clear = () => clearTimeout(timer);
  return { signal: controller.signal, touch, clear };
}
