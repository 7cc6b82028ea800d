/** Imports a script that was fetched and checked as bytes. */
import { TernError } from "./errors.js";
import { isNode, nodeModule } from "./host.js";

// How often each script failed to import: a module that failed once stays failed under its URL.
const failures = new Map();

/**
 * @param {{name: string, url: string}} file
 * @param {Uint8Array<ArrayBuffer>} bytes its content
 * @returns {Promise<any>} the module's default export
 * @throws {TernError} LOAD_CONTENT when it cannot be imported
 */
export async function importModule(file, bytes) {
  const attempt = isNode() ? importInNode(file, bytes) : importInBrowser(file, bytes);
  const module = await attempt.catch((error) => {
    const message = `${file.name} (${file.url}) could not be imported as a module: ${error}`;
    throw new TernError("LOAD_CONTENT", message, { cause: error });
  });
  return module.default;
}

/**
 * By its URL first, which a strict Content-Security-Policy allows and the HTTP cache answers; from
 * the bytes where the server gives the file another type than JavaScript's.
 *
 * @param {{url: string}} file
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
async function importInBrowser({ url }, bytes) {
  const failed = failures.get(url) ?? 0;
  try {
    const separator = url.includes("?") ? "&" : "?";
    const address = failed ? `${url}${separator}retry=${failed}` : url;
    return await import(/* webpackIgnore: true */ /* @vite-ignore */ address);
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
 * Node imports files only: one from elsewhere is laid in the temporary folder first.
 *
 * @param {{url: string}} file
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
