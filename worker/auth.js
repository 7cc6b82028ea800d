/** The bearer token. */
import { HttpError } from "./errors.js";

/**
 * @param {Request} request
 * @returns {string | undefined} the key that it bears, whether or not it is valid
 */
export function bearerKey(request) {
  return /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "")?.[1];
}

/**
 * @param {Request} request
 * @param {readonly string[] | null} keys null = open to all
 * @throws {HttpError} invalid_api_key
 */
export async function checkKey(request, keys) {
  if (keys === null) return;
  const given = bearerKey(request);
  if (given === undefined) {
    throw new HttpError("invalid_api_key", "Send the key as: Authorization: Bearer KEY", {
      headers: { "www-authenticate": 'Bearer realm="tern-engine"' },
    });
  }
  // Every key is compared, and all of it, so that the time tells nothing of them.
  const matches = await Promise.all(keys.map((key) => equal(given, key)));
  if (!matches.includes(true)) {
    throw new HttpError("invalid_api_key", "The key is not valid.", {
      headers: { "www-authenticate": 'Bearer realm="tern-engine", error="invalid_token"' },
    });
  }
}

/**
 * Compares hashes, whose lengths and differing places say nothing about the texts.
 *
 * @param {string} one
 * @param {string} other
 */
async function equal(one, other) {
  const [a, b] = await Promise.all([one, other].map(sha256));
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i] ^ b[i];
  return difference === 0;
}

/** @param {string} text */
async function sha256(text) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
