/**
 * The service worker's half that does not change with the site: sw.js sets self.FILES, [path, SHA-256
 * in base64] of every file that the page may need, and imports this as the site's build bundled it.
 *
 * Workbox asks for each file with its hash as subresource integrity, so that nothing broken is kept; it
 * keeps it under that hash, so that what did not change is not fetched again, and a page never sees
 * files of two versions: those of the next version are used once no page of this one is open.
 */
import { clientsClaim } from "workbox-core";
import { addPlugins, cleanupOutdatedCaches, precacheAndRoute } from "workbox-precaching";

const { FILES } = /** @type {{FILES: [path: string, hash: string][]}} */ (/** @type {unknown} */ (self));

// What has its hash in its name may come from the HTTP cache; for the rest it is enough that the server
// says that it is still what the page has just fetched.
const entries = FILES.map(([url, hash]) => ({
  url,
  revision: url.startsWith("files/") ? null : hash,
  integrity: `sha256-${hash}`,
}));
addPlugins([
  {
    requestWillFetch: async ({ request }) =>
      request.cache === "reload" ? new Request(request, { cache: "no-cache" }) : request,
  },
]);
precacheAndRoute(entries, { cleanURLs: false, ignoreURLParametersMatching: [/./] });
cleanupOutdatedCaches();
clientsClaim();
