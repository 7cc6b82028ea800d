/** Imports a script that was fetched and checked as bytes. */
import { TernError } from "./errors.js";
import { LONGEST_TIMER_MS, isNode, nodeModule } from "./host.js";

// How often each script failed to import: a module that failed once stays failed under its URL.
const failures = new Map();

/**
 * @typedef {object} Script
 * @property {string} name
 * @property {string} url
 * @property {number} [patienceMs] longest wait for the host to import it; default 60,000
 */

/**
 * @param {Script} file
 * @param {Uint8Array<ArrayBuffer>} bytes its content
 * @returns {Promise<any>} the module's default export, a function
 * @throws {TernError} LOAD_CONTENT when it cannot be imported, LOAD_INTEGRITY when the host imported
 *   something else from its URL, LOAD_TIMEOUT
 */
export async function importModule(file, bytes) {
  const attempt = isNode() ? importInNode(file, bytes) : importInBrowser(file, bytes);
  const module = await attempt.catch((error) => {
    if (error instanceof TernError) throw error;
    const message = `${file.name} (${file.url}) could not be imported as a module: ${error}`;
    throw new TernError("LOAD_CONTENT", message, { cause: error });
  });
  return module.default;
}

/**
 * By its URL first, which a strict Content-Security-Policy allows and the HTTP cache answers; from
 * the bytes where the server gives the file another type than JavaScript's, or answers the second time
 * with something else or not at all.
 *
 * @param {Script} file
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
async function importInBrowser(file, bytes) {
  const { url } = file;
  const failed = failures.get(url) ?? 0;
  try {
    const separator = url.includes("?") ? "&" : "?";
    const address = failed ? `${url}${separator}retry=${failed}` : url;
    const module = await inTime(file, import(/* webpackIgnore: true */ /* @vite-ignore */ address));
    checkSource(file, module.default, bytes);
    return module;
  } catch (error) {
    failures.set(url, failed + 1);
    const copy = URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }));
    try {
      return await import(/* webpackIgnore: true */ /* @vite-ignore */ copy);
    } catch {
      throw error;
    } finally {
      URL.revokeObjectURL(copy);
    }
  }
}

/**
 * @template T
 * @param {Script} file
 * @param {Promise<T>} importing
 * @returns {Promise<T>}
 */
async function inTime({ name, url, patienceMs = 60_000 }, importing) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    const fail = () => reject(new TernError("LOAD_TIMEOUT", `${name} (${url}) was not imported within ${patienceMs} ms`));
    timer = setTimeout(fail, Math.min(patienceMs, LONGEST_TIMER_MS));
  });
  try {
    return await Promise.race([importing, /** @type {Promise<never>} */ (late)]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The host asked for the script by itself, perhaps of the server: what it got is to be what was checked.
 *
 * @param {Script} file
 * @param {unknown} main the module's default export
 * @param {Uint8Array} bytes
 */
function checkSource({ name, url }, main, bytes) {
  if (typeof main === "function" && new TextDecoder().decode(bytes).includes(String(main))) return;
  throw new TernError("LOAD_INTEGRITY", `${name} (${url}) was imported with another content than it was fetched with`);
}

/**
 * Node imports files only: one from elsewhere is laid in the temporary folder first.
 *
 * @param {Script} file
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
async function importInNode({ url }, bytes) {
  if (url.startsWith("file:")) return import(/* webpackIgnore: true */ /* @vite-ignore */ url);
  const [{ mkdtemp, rm, writeFile }, { tmpdir }, { join }, { pathToFileURL }] = await Promise.all([
    nodeModule("fs/promises"),
    nodeModule("os"),
    nodeModule("path"),
    nodeModule("url"),
  ]);
  const folder = await mkdtemp(join(tmpdir(), "tern-engine-"));
  try {
    const path = join(folder, "module.mjs");
    await writeFile(path, bytes);
    return await import(/* webpackIgnore: true */ /* @vite-ignore */ pathToFileURL(path).href);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
