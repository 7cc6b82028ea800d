/** Keeps the page for use without a network, and says when that is done. */
import { find } from "./dom.js";

/** Registers the service worker; to be called when the engine's own files are here. */
export async function keepForOffline() {
  const { serviceWorker } = navigator;
  if (serviceWorker === undefined) return; // no secure context, or a browser that has none
  try {
    // At the site's root: the engine's files lie there, and workers are served by where they lie.
    const registration = await serviceWorker.register(new URL("../sw.js", import.meta.url), { updateViaCache: "none" });
    // The browser may have found a new version before this was called.
    const tellOfNews = () => {
      if (registration.waiting && serviceWorker.controller) say("A new version comes with the next visit.");
    };
    const watch = () => registration.installing?.addEventListener("statechange", tellOfNews);
    registration.addEventListener("updatefound", watch);
    watch();
    await Promise.race([serviceWorker.ready, failureOf(registration.installing)]);
    say("Works offline from now on.");
    tellOfNews();
  } catch {
    say("Needs a network on the next visit: this browser keeps no files.");
  }
}

/**
 * Rejects when a first installation fails, which `ready` would wait out.
 *
 * @param {ServiceWorker | null} worker
 * @returns {Promise<never>}
 */
function failureOf(worker) {
  return new Promise((_, reject) => {
    worker?.addEventListener("statechange", () => {
      if (worker.state === "redundant") reject(new Error("not every file could be kept"));
    });
  });
}

/** @param {string} text */
function say(text) {
  find("offline-state").textContent = text;
}
