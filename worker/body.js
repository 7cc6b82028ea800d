/** Reads a request's body: whole, in time, within bounds, as a JSON object. */
import { HttpError } from "./errors.js";

const STALL_MS = 10_000;
const LONGEST_MS = 60_000;
/** A larger body is read to its end all the same, so that the client gets to read the answer. */
const DRAIN_BYTES = 64 * 1024 * 1024;
/** All bodies at work at the same time: a Worker has 128 MB for everything. */
const BYTES_AT_WORK = 16 * 1024 * 1024;
/** No request is at work for longer. */
const FORGOTTEN_MS = 300_000;
/** Brackets within brackets. A parsed `[[[[…` takes fifty times its size in memory. */
const DEEPEST = 32;

/** One request's share of BYTES_AT_WORK. */
class Share {
  bytes = 0;
  since = Date.now();

  /** @param {number} count */
  add(count) {
    const others = bytesAtWork() - this.bytes;
    // Whatever its size, one body alone is always served.
    if (others > 0 && others + this.bytes + count > BYTES_AT_WORK) {
      throw new HttpError("overloaded", "Too much is being worked on; try again in a moment.", {
        headers: { "retry-after": "1" },
      });
    }
    this.bytes += count;
    shares.add(this);
  }

  release() {
    shares.delete(this);
    this.bytes = 0;
  }
}

/** @type {Set<Share>} */
const shares = new Set();

function bytesAtWork() {
  let sum = 0;
  for (const share of shares) {
    // The runtime may have stopped the request before it could release its share.
    if (Date.now() - share.since > FORGOTTEN_MS) shares.delete(share);
    else sum += share.bytes;
  }
  return sum;
}

/**
 * @typedef {object} Body
 * @property {Record<string, unknown>} json
 * @property {Uint8Array} bytes
 * @property {() => void} release to be called when the request has been answered
 */

/**
 * @param {Request} request
 * @param {number} maxBytes
 * @param {{stallMs?: number, longestMs?: number}} [patience]
 * @returns {Promise<Body>}
 * @throws {HttpError} unsupported_media_type, body_too_large, body_timeout, body_broken, overloaded,
 *   invalid_json, client_closed_request
 */
export async function readJson(request, maxBytes, patience) {
  checkType(request.headers);
  const share = new Share();
  try {
    const bytes = await readBytes(request, maxBytes, share, patience);
    return { json: parse(bytes), bytes, release: () => share.release() };
  } catch (error) {
    share.release();
    throw error;
  }
}

/** @param {Headers} headers */
function checkType(headers) {
  const type = (headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase();
  if (type !== "application/json") {
    throw new HttpError("unsupported_media_type", "Send the header content-type: application/json");
  }
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    throw new HttpError("unsupported_media_type", "Send the body without content-encoding.");
  }
}

/**
 * @param {Request} request
 * @param {number} maxBytes
 * @param {Share} share
 * @param {{stallMs?: number, longestMs?: number}} [patience]
 * @returns {Promise<Uint8Array>}
 */
async function readBytes(request, maxBytes, share, { stallMs = STALL_MS, longestMs = LONGEST_MS } = {}) {
  const tooLarge = () =>
    new HttpError("body_too_large", `The body is larger than ${maxBytes} bytes.`, {
      headers: { connection: "close" },
    });
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > DRAIN_BYTES) throw tooLarge();
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array();
  const chunks = [];
  let total = 0;
  const end = Date.now() + longestMs;
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read(), Math.min(stallMs, end - Date.now()));
      if (done) break;
      total += value.length;
      if (total > DRAIN_BYTES) throw tooLarge();
      if (total > maxBytes) {
        chunks.length = 0;
        share.release();
      } else {
        share.add(value.length);
        chunks.push(value);
      }
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    if (error instanceof HttpError) throw error;
    // workerd marks a lost connection so; other errors are those of a body that it cannot read.
    if (/** @type {any} */ (error)?.retryable) {
      throw new HttpError("client_closed_request", "The client went away before the answer.");
    }
    throw new HttpError("body_broken", "The body is not as long, or not in such chunks, as was said.", {
      headers: { connection: "close" },
    });
  }
  if (total > maxBytes) throw tooLarge();
  return joined(chunks, total);
}

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {number} ms
 * @returns {Promise<T>}
 */
function inTime(promise, ms) {
  return new Promise((resolve, reject) => {
    const late = () => reject(new HttpError("body_timeout", "The body did not arrive in time."));
    const timer = setTimeout(late, Math.max(0, ms));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * @param {Uint8Array[]} chunks
 * @param {number} total
 */
function joined(chunks, total) {
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/**
 * @param {Uint8Array} bytes
 * @returns {Record<string, unknown>}
 */
function parse(bytes) {
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new HttpError("invalid_json", "The body is not valid UTF-8.");
  }
  if (depth(bytes) > DEEPEST) {
    throw new HttpError("invalid_json", `The body's JSON is nested deeper than ${DEEPEST} levels.`);
  }
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    // V8's own message quotes the text, which belongs in no log.
    throw new HttpError("invalid_json", "The body is not valid JSON.");
  }
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw new HttpError("invalid_json", "The body must be a JSON object.");
  }
  return json;
}

/**
 * How deep brackets go, told without parsing; exact for valid JSON.
 *
 * @param {Uint8Array} bytes
 */
function depth(bytes) {
  let level = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === 0x22) inString = !inString;
    else if (inString) i += byte === 0x5c ? 1 : 0;
    else if (byte === 0x5b || byte === 0x7b) deepest = Math.max(deepest, ++level);
    else if (byte === 0x5d || byte === 0x7d) level--;
  }
  return deepest;
}
