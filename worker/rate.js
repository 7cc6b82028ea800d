/** The rate limit, where a binding for it is configured. */
import { bearerKey } from "./auth.js";
import { HttpError } from "./errors.js";

/**
 * @param {Request} request whose key, if one is asked for, has been checked
 * @param {Record<string, any>} env
 * @param {readonly string[] | null} keys null = open to all
 * @throws {HttpError} rate_limit_exceeded
 */
export async function checkRate(request, env, keys) {
  if (!env.RATE_LIMITER) return;
  // What nobody checks would be a way around: a client could send another key each time.
  const client = keys === null ? request.headers.get("cf-connecting-ip") : bearerKey(request);
  const key = client ?? "";
  const { success } = await env.RATE_LIMITER.limit({ key });
  if (success) return;
  throw new HttpError("rate_limit_exceeded", "Too many requests; try again later.", {
    headers: { "retry-after": String(env.RATE_LIMIT_PERIOD ?? 60) },
  });
}
