/** Cross-origin access: which pages of other sites may call the endpoint. */

const MAX_AGE = "86400";
const EXPOSED =
  "x-request-id, x-truncated, x-truncated-inputs, x-truncated-query, retry-after, x-cache";

/**
 * @param {Request} request
 * @param {readonly string[]} origins "*" allows any
 * @returns {Record<string, string>} headers for the answer
 */
export function corsHeaders(request, origins) {
  const origin = request.headers.get("origin");
  if (origins.includes("*")) {
    return { "access-control-allow-origin": "*", "access-control-expose-headers": EXPOSED };
  }
  if (origins.length === 0) return {};
  const vary = { vary: "origin" };
  if (origin === null || !origins.includes(origin)) return vary;
  return {
    ...vary,
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED,
  };
}

/**
 * What a preflight is told besides. The headers asked for are granted: which ones SDKs send changes
 * with their versions, and none of them is of consequence here.
 *
 * @param {Request} request
 * @param {string} methods
 * @returns {Record<string, string>}
 */
export function preflightHeaders(request, methods) {
  return {
    "access-control-allow-methods": methods,
    "access-control-allow-headers":
      request.headers.get("access-control-request-headers") ?? "authorization, content-type",
    "access-control-max-age": MAX_AGE,
  };
}
