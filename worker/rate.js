/** The rate limit, where a binding for it is configured. */
import { HttpError } from "./errors.js";

/**
 * @param {Request} request
 * @param {Record<string, any>} env
 * @throws {HttpError} rate_limit_exceeded
 */
export async function checkRate({ headers }, env) {
  if (!env.RATE_LIMITER) return;
  const key = headers.get("authorization") ?? headers.get("cf-connecting-ip") ?? "";
  const { success } = await env.RATE_LIMITER.limit({ key });
  if (success) return;
  throw new HttpError("rate_limit_exceeded", "Too many requests; try again later.", {
    headers: { "retry-after": String(env.RATE_LIMIT_PERIOD ?? 60) },
  });
}
