/**
 * Errors as clients of OpenAI's API read them: {"error": {message, type, param, code}}.
 *
 * `code` in capitals is one of the engine's own, the same as on every host; those in small letters
 * belong to HTTP and are listed here.
 */
import { TernError } from "../web/errors.js";

/** @typedef {{status: number, type?: string, meaning: string}} Kind */

/** @type {Readonly<Record<string, Kind>>} */
export const HTTP_ERRORS = Object.freeze({
  invalid_json: { status: 400, meaning: "The body is not a JSON object in UTF-8." },
  too_many_inputs: { status: 400, meaning: "More texts than one request may hold." },
  too_many_tokens: { status: 400, meaning: "The texts have more tokens than one request may hold." },
  invalid_api_key: { status: 401, meaning: "No key was sent, or one that is not valid." },
  not_found: { status: 404, meaning: "No such path." },
  model_not_found: { status: 404, meaning: "This endpoint has another model." },
  method_not_allowed: { status: 405, meaning: "The path does not take this method." },
  body_broken: { status: 400, meaning: "The body is not framed as its headers say." },
  body_timeout: { status: 408, meaning: "The body did not arrive in time." },
  body_too_large: { status: 413, meaning: "The body is larger than one request may be." },
  unsupported_media_type: { status: 415, meaning: "The body is not application/json." },
  rate_limit_exceeded: {
    status: 429,
    type: "rate_limit_error",
    meaning: "Too many requests from this client.",
  },
  client_closed_request: { status: 499, meaning: "The client went away before the answer." },
  internal_error: { status: 500, type: "server_error", meaning: "A fault of the endpoint." },
  engine_unavailable: {
    status: 503,
    type: "server_error",
    meaning: "The engine did not start, or had to be started anew.",
  },
  overloaded: { status: 503, type: "server_error", meaning: "Too much is being worked on." },
});

export class HttpError extends Error {
  /**
   * @param {string} code one of HTTP_ERRORS, or INVALID_INPUT
   * @param {string} message for the client; never holds what the client sent as text
   * @param {{param?: string | null, headers?: Record<string, string>}} [options]
   */
  constructor(code, message, { param = null, headers = {} } = {}) {
    super(message);
    this.name = "HttpError";
    this.code = code;
    this.param = param;
    this.headers = headers;
    this.status = HTTP_ERRORS[code]?.status ?? 400;
    this.type = HTTP_ERRORS[code]?.type ?? "invalid_request_error";
  }
}

/**
 * @param {string} message
 * @param {string | null} [param] the field at fault
 * @returns {HttpError}
 */
export function invalidInput(message, param = null) {
  return new HttpError("INVALID_INPUT", message, { param });
}

const MOST_MESSAGE = 500;

/** Codes of the engine that blame the request; every other one is a fault of the endpoint. */
const CALLERS_FAULT = new Set(["INVALID_INPUT", "DIMENSION"]);

/**
 * @param {unknown} error anything that was thrown
 * @returns {HttpError}
 */
export function asHttpError(error) {
  if (error instanceof HttpError) return error;
  if (error instanceof TernError && CALLERS_FAULT.has(error.code)) {
    // It may quote the name of a label, however long.
    return new HttpError(error.code, error.message.slice(0, MOST_MESSAGE));
  }
  return new HttpError("internal_error", "The endpoint failed; the request id names the log entry.");
}

/**
 * @param {HttpError} error
 * @returns {Response}
 */
export function errorResponse({ message, type, param, code, status, headers }) {
  return Response.json({ error: { message, type, param, code } }, { status, headers });
}
