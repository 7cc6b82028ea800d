/** One log line a request, as JSON: what was done, never the text that it was done to. */

/**
 * @typedef {object} Log
 * @property {number} started
 * @property {string} id the request's
 * @property {{items?: number, tokens?: number, truncated?: number[], bytes?: number}} fields
 * @property {Promise<void>} closed
 * @property {(() => void) | null} close
 */

/**
 * @param {Request} request
 * @returns {Log}
 */
export function openLog(request) {
  const given = request.headers.get("x-request-id") ?? "";
  const id = /^[\w.-]{1,64}$/.test(given) ? given : crypto.randomUUID();
  /** @type {() => void} */
  let close = () => {};
  const closed = new Promise((resolve) => (close = () => resolve(undefined)));
  return { started: Date.now(), id, fields: {}, closed, close };
}

/**
 * Writes the request's line, the first time it is called.
 *
 * @param {import("hono").Context} c
 * @param {number} status
 */
export function closeLog(c, status) {
  const log = /** @type {Log} */ (c.get("log"));
  if (!log.close) return;
  const { items, tokens, truncated, bytes } = log.fields;
  const entry = {
    event: "request",
    request_id: log.id,
    method: c.req.method,
    // The pattern, not the path: that may be anything.
    route: c.get("route") ?? "none",
    status,
    code: c.get("error"),
    items,
    tokens,
    truncated: truncated?.length,
    bytes,
    ms: Date.now() - log.started,
  };
  console.log(JSON.stringify(entry));
  log.close();
  log.close = null;
}

/**
 * A fault of ours. Its message may quote what the client sent, so that only its kind is kept, and
 * the places it came through.
 *
 * @param {import("hono").Context} c
 * @param {any} error
 */
export function logFault(c, error) {
  const places = String(error?.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  const { id } = /** @type {Log} */ (c.get("log"));
  console.error(JSON.stringify({ event: "fault", request_id: id, name: error?.name, places }));
}
