/** From what a route made to a response: whole or as a stream. */
import { HttpError, asHttpError } from "./errors.js";
import { closeLog } from "./log.js";

/** So many indices of cut texts fit well into a header. */
const MOST_INDICES = 100;

/** Stands among the indices of cut texts for the one that the others are held against. */
export const QUERY = -1;

/** A write waits its turn among all requests: pieces go out together from this length on. */
const WRITTEN_AT_A_TIME = 64 * 1024;

/**
 * @typedef {object} Answer
 * @property {unknown} [json]
 * @property {AsyncGenerator<string, void, void>} [pieces] the JSON as text, instead
 * @property {boolean} [streamed] send each piece when it is made
 */

/**
 * @param {import("hono").Context} c
 * @param {Answer} answer
 * @returns {Promise<Response>}
 */
export async function wholeAnswer(c, { json, pieces }) {
  let text = "";
  if (pieces) for await (const piece of pieces) text += piece;
  else text = JSON.stringify(json);
  return new Response(text, { headers: answerHeaders(c) });
}

/**
 * Goes on when the client has taken what was made before. The status is out by then: what fails
 * later cuts the answer short.
 *
 * @param {import("hono").Context} c
 * @param {AsyncGenerator<string, void, void>} pieces
 * @param {(error: unknown) => void} atEnd called with what kept the answer from being whole, or null
 * @returns {Response}
 */
export function streamedAnswer(c, pieces, atEnd) {
  c.set("streamed", true);
  // Of workerd's streams, only this one tells its writer that the client has left.
  const Stream = /** @type {any} */ (globalThis).IdentityTransformStream ?? TransformStream;
  const { readable, writable } = new Stream();
  writePieces(writable, pieces).then((failure) => {
    const error = failure === null ? null : asHttpError(failure);
    if (error) c.set("error", error.code);
    atEnd(failure);
    closeLog(c, error?.status ?? 200);
  });
  return new Response(readable, { headers: answerHeaders(c) });
}

/**
 * @param {WritableStream<Uint8Array>} writable
 * @param {AsyncGenerator<string, void, void>} pieces
 * @returns {Promise<unknown>} null, or what kept the answer from being whole
 */
async function writePieces(writable, pieces) {
  const encoder = new TextEncoder();
  const writer = writable.getWriter();
  let writing = false;
  try {
    for await (const text of together(pieces)) {
      writing = true;
      await writer.write(encoder.encode(text));
      writing = false;
    }
    writing = true;
    await writer.close();
    return null;
  } catch (error) {
    writer.abort(error).catch(() => {});
    // A piece was made and could not be written: nobody is there to take it.
    return writing ? new HttpError("client_closed_request", "The client left.") : error;
  }
}

/**
 * @param {AsyncIterable<string>} pieces
 * @returns {AsyncGenerator<string, void, void>}
 */
async function* together(pieces) {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.length < WRITTEN_AT_A_TIME) continue;
    yield text;
    text = "";
  }
  yield text;
}

/**
 * @param {import("hono").Context} c
 * @returns {Record<string, string>}
 */
function answerHeaders(c) {
  const truncated = c.get("log").fields.truncated ?? [];
  const indices = truncated.filter((/** @type {number} */ index) => index !== QUERY);
  return {
    "content-type": "application/json",
    "x-truncated": String(truncated.length),
    ...(indices.length < truncated.length ? { "x-truncated-query": "true" } : {}),
    ...(indices.length > 0 ? { "x-truncated-inputs": indices.slice(0, MOST_INDICES).join(",") } : {}),
  };
}
