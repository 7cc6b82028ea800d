/**
 * The service worker's half that does not change with the site: sw.js sets self.FILES, [path, SHA-256]
 * of every file the page may need, and imports this.
 *
 * Files are kept under their hashes and checked against them, so that nothing broken is kept, a file
 * that did not change is not fetched again, and a page never sees files of two versions: those of the
 * next version are used once no page of this one is open.
 */
const scope = /** @type {any} */ (self);
const CACHE = "tern-demo";
const AT_ONCE = 4;
const PAGE = "demo/";

/** @type {Map<string, string>} key in the cache, by URL */
const keys = new Map();
for (const [path, hash] of scope.FILES) {
  const url = new URL(path, scope.registration.scope).href;
  keys.set(url, `${url}?sha256=${hash}`);
  if (path === `${PAGE}index.html`) {
    keys.set(new URL(PAGE, scope.registration.scope).href, `${url}?sha256=${hash}`);
  }
}

scope.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(keepAll()));
scope.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(takeOver()));
scope.addEventListener("fetch", (/** @type {any} */ event) => {
  const { method, url } = event.request;
  const key = keys.get(url.replace(/[?#].*$/, ""));
  if (method === "GET" && key !== undefined) event.respondWith(answer(event.request, key));
});

async function keepAll() {
  const cache = await caches.open(CACHE);
  const waiting = Array.from(scope.FILES);
  const fetchNext = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [path, hash] = /** @type {[string, string]} */ (next);
      const url = new URL(path, scope.registration.scope).href;
      const key = `${url}?sha256=${hash}`;
      if ((await cache.match(key)) === undefined) await cache.put(key, await fetchChecked(url, hash));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fetchNext));
}

/**
 * @param {string} url
 * @param {string} hash
 * @returns {Promise<Response>}
 */
async function fetchChecked(url, hash) {
  const response = await fetch(url, { cache: "no-cache" });
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  const body = await response.arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
  const found = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (found !== hash) throw new Error(`${url}: its SHA-256 is ${found}, expected ${hash}`);
  const headers = new Headers(response.headers);
  headers.delete("Content-Encoding"); // the body is as it was before
  headers.delete("Content-Length");
  return new Response(body, { headers });
}

async function takeOver() {
  const cache = await caches.open(CACHE);
  const wanted = new Set(keys.values());
  for (const { url } of await cache.keys()) if (!wanted.has(url)) await cache.delete(url);
  await scope.clients.claim();
}

/**
 * @param {Request} request
 * @param {string} key
 */
async function answer(request, key) {
  const kept = await (await caches.open(CACHE)).match(key);
  return kept ?? fetch(request);
}
