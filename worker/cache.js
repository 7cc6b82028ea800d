/** Answers kept in the data centre's cache, by what was asked and by which model. */

const KEPT_SECONDS = 86_400;

/**
 * @param {string} path
 * @param {Uint8Array} body
 * @param {import("./app.js").Build} build
 * @param {import("./settings.js").Settings} settings
 * @returns {Promise<Request>}
 */
export async function cacheKey(path, body, build, settings) {
  const { maxInputs, maxTokens, modelNames } = settings;
  const context = new TextEncoder().encode(JSON.stringify([maxInputs, maxTokens, modelNames]));
  const hashes = await Promise.all([body, context].map(sha256));
  const address = [build.version, build.fingerprint, path.slice(1), ...hashes].join("/");
  return new Request(`https://cache.tern-engine.invalid/${address}`);
}

/**
 * @param {Request} key
 * @returns {Promise<Response | undefined>}
 */
export async function fromCache(key) {
  let kept;
  try {
    kept = await openCache()?.match(key);
  } catch {
    return undefined; // a cache that fails is no reason to fail
  }
  if (!kept) return undefined;
  const response = new Response(kept.body, kept);
  response.headers.set("x-cache", "hit");
  // Ours to the data centre, not the answer's to the client.
  for (const name of ["cache-control", "cf-cache-status", "age"]) response.headers.delete(name);
  return response;
}

/**
 * Keeps a copy, and marks the answer as one that was not kept before.
 *
 * @param {Request} key
 * @param {Response} response
 * @returns {Promise<void>}
 */
export async function intoCache(key, response) {
  const copy = response.clone();
  copy.headers.set("cache-control", `max-age=${KEPT_SECONDS}`);
  response.headers.set("x-cache", "miss");
  try {
    await openCache()?.put(key, copy);
  } catch {
    // As above.
  }
}

/** @returns {Cache | undefined} */
function openCache() {
  return /** @type {any} */ (globalThis.caches)?.default;
}

/** @param {Uint8Array} bytes */
async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
