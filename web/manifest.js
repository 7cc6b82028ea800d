/** manifest.json: where a build's files are, how long they are and what their hashes are. */
import { TernError } from "./errors.js";

/** What a load needs; a manifest may list more. */
export const FILES = /** @type {const} */ ([
  "pyodide.asm.mjs",
  "pyodide.asm.wasm",
  "python_stdlib.zip",
  "package",
  "kernels",
  "model",
]);

/**
 * In the place of python_stdlib.zip where the build made one: the memory of an interpreter that has
 * imported the engine.
 *
 * @typedef {ListedFile & {id: string, memoryBytes: number}} SnapshotFile
 */

/** @typedef {(typeof FILES)[number]} FileName */
/** @typedef {import("./fetch-file.js").FileSpec & {bytes: number, sha256: string}} ListedFile */

/**
 * @param {any} manifest
 * @param {string} url where it came from; its paths are relative to that
 * @returns {Record<FileName, ListedFile> & {snapshot?: SnapshotFile}}
 * @throws {TernError} LOAD_CONTENT for anything but a whole manifest, KERNEL_MISSING for one
 *   without a kernel
 */
export function listFiles(manifest, url) {
  const files = manifest?.files ?? {};
  const listed = Object.fromEntries(FILES.map((name) => [name, readEntry(name, files[name], url)]));
  if (files.snapshot) {
    const { id, memoryBytes } = files.snapshot;
    listed.snapshot = Object.assign(readEntry("snapshot", files.snapshot, url), { id, memoryBytes });
  }
  return /** @type {any} */ (listed);
}

/**
 * @param {Uint8Array} content
 * @param {string} url
 * @returns {unknown}
 * @throws {TernError} LOAD_CONTENT for what is no JSON
 */
export function parseManifest(content, url) {
  try {
    return JSON.parse(new TextDecoder().decode(content));
  } catch (error) {
    throw new TernError("LOAD_CONTENT", `manifest.json (${url}) is no JSON: ${error}`, {
      cause: error,
    });
  }
}

/**
 * @param {FileName | "snapshot"} name
 * @param {any} entry
 * @param {string} url
 * @returns {ListedFile}
 */
function readEntry(name, entry, url) {
  const complete =
    typeof entry?.path === "string" &&
    Number.isSafeInteger(entry.bytes) &&
    /^[0-9a-f]{64}$/.test(entry.sha256);
  if (!complete) {
    const code = name === "kernels" ? "KERNEL_MISSING" : "LOAD_CONTENT";
    const message = `manifest.json (${url}) has no complete entry for ${name}, expected path, bytes and sha256`;
    throw new TernError(code, message);
  }
  const { bytes, sha256, slices } = entry;
  return { name, url: new URL(entry.path, url).href, bytes, sha256, slices: isSliced(slices) ? slices : undefined };
}

/**
 * Slices only save time: what is no list of them is as good as none.
 *
 * @param {any} slices
 */
function isSliced(slices) {
  return Number.isSafeInteger(slices?.bytes) && slices.bytes > 0 && Array.isArray(slices.sha256);
}
