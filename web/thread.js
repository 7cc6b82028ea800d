/** Another thread to run the engine in: a Web Worker, or one of Node's worker threads. */
import { isNode, nodeModule } from "./host.js";

/**
 * @typedef {object} Thread
 * @property {(message: unknown) => void} post
 * @property {() => Promise<void>} terminate
 * @property {(busy: boolean) => void} hold whether it keeps a Node process from ending
 */

/**
 * @param {string | undefined} url of the script; default: engine.worker.js beside this file
 * @param {(message: any) => void} onMessage
 * @param {(reason: string) => void} onFailure called when the thread cannot go on
 * @returns {Promise<Thread>}
 */
export function spawnThread(url, onMessage, onFailure) {
  return isNode() ? spawnInNode(url, onMessage, onFailure) : spawnInBrowser(url, onMessage, onFailure);
}

/** @type {typeof spawnThread} */
async function spawnInBrowser(url, onMessage, onFailure) {
  const worker = url ? spawnFrom(url) : spawnOwn();
  worker.addEventListener("message", ({ data }) => onMessage(data));
  worker.addEventListener("messageerror", () => onFailure("it sent what cannot be read here"));
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    // A script that is missing or forbidden says nothing.
    onFailure(event.message || "its script could not be run");
  });
  return {
    post: (message) => worker.postMessage(message),
    terminate: async () => worker.terminate(),
    hold() {},
  };
}

/** A worker with this package's own script. */
function spawnOwn() {
  const here = import.meta.url; // apart, so that no bundler takes it for an asset
  if (here.startsWith("http") && !isOwnOrigin(here)) {
    return spawnFrom(new URL("engine.worker.js", here).href);
  }
  // Bundlers look for this form, word for word.
  return new Worker(new URL("./engine.worker.js", import.meta.url), { type: "module" });
}

/**
 * A worker's script must be of the page's own origin: for another, one that imports it. It is a classic
 * one, since Chromium runs no module from a blob in a sandboxed frame, and keeps what is sent to it until
 * the import is done.
 *
 * @param {string} url absolute
 */
function spawnFrom(url) {
  if (isOwnOrigin(url)) return new Worker(url, { type: "module" });
  const source = `
    const early = [];
    const keep = (event) => early.push(event.data);
    addEventListener("message", keep);
    import(${JSON.stringify(url)}).then(
      () => {
        removeEventListener("message", keep);
        for (const data of early) dispatchEvent(new MessageEvent("message", { data }));
      },
      (error) => setTimeout(() => { throw error; }),
    );
  `;
  return new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
}

/**
 * A sandboxed frame has an origin that nothing else has, whatever its address says.
 *
 * @param {string} url
 */
const isOwnOrigin = (url) => new URL(url).origin === globalThis.origin;

/** @type {typeof spawnThread} */
async function spawnInNode(url, onMessage, onFailure) {
  const { Worker: NodeWorker } = await nodeModule("worker_threads");
  const here = import.meta.url; // apart, so that no bundler takes it for an asset
  // The process's own flags may not suit a file: --input-type, --test.
  const worker = new NodeWorker(new URL(url ?? "engine.worker.js", here), { execArgv: [] });
  worker.on("message", onMessage);
  worker.on("messageerror", (/** @type {Error} */ error) => onFailure(error.message));
  worker.on("error", (/** @type {Error} */ error) => onFailure(error.message));
  worker.on("exit", (/** @type {number} */ code) => onFailure(`it ended with code ${code}`));
  return {
    post: (message) => worker.postMessage(message),
    async terminate() {
      await worker.terminate();
    },
    hold: (busy) => (busy ? worker.ref() : worker.unref()),
  };
}
