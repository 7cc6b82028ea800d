/** From what a route made to a response: whole or as a stream. */
import { asHttpError } from "./errors.js";
import { closeLog } from "./log.js";

/** So many indices of cut texts fit well into a header. */
const MOST_INDICES = 100;

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
 * A piece is made when the client has taken the one before. The status is out by then: what fails
 * later cuts the answer short.
 *
 * @param {import("hono").Context} c
 * @param {AsyncGenerator<string, void, void>} pieces
 * @param {() => void} atEnd
 * @returns {Response}
 */
export function streamedAnswer(c, pieces, atEnd) {
  c.set("streamed", true);
  const encoder = new TextEncoder();
  /** @param {number} status */
  const end = (status) => {
    atEnd();
    closeLog(c, status);
  };
  const body = new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (!done) return controller.enqueue(encoder.encode(value));
        controller.close();
        end(200);
      } catch (error) {
        const { code, status } = asHttpError(error);
        c.set("error", code);
        end(status);
        controller.error(error);
      }
    },
    async cancel() {
      end(499);
      await pieces.return();
    },
  });
  return new Response(body, { headers: answerHeaders(c) });
}

/**
 * @param {import("hono").Context} c
 * @returns {Record<string, string>}
 */
function answerHeaders(c) {
  const truncated = c.get("log").fields.truncated ?? [];
  const headers = { "content-type": "application/json", "x-truncated": String(truncated.length) };
  if (truncated.length === 0) return headers;
  return { ...headers, "x-truncated-inputs": truncated.slice(0, MOST_INDICES).join(",") };
}
