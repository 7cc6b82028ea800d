/** Questions to the host: which one it is, and whether its WebAssembly will do. */
import { TernError } from "./errors.js";

/** What setTimeout can be asked for: a longer one fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

const EMPTY_MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

// (module (func (result v128) i32.const 0 i8x16.splat))
const SIMD_MODULE = Uint8Array.of(
  ...EMPTY_MODULE,
  ...[1, 5, 1, 0x60, 0, 1, 0x7b],
  ...[3, 2, 1, 0],
  ...[10, 8, 1, 6, 0, 0x41, 0, 0xfd, 0x0f, 0x0b],
);

/** @returns {boolean} */
export function isNode() {
  const versions = /** @type {any} */ (globalThis).process?.versions;
  return typeof versions?.node === "string";
}

/**
 * One of Node's own modules. Asked for by a name made up at run time, which no bundler looks into.
 *
 * @param {string} name without "node:"
 * @returns {Promise<any>}
 */
export function nodeModule(name) {
  return import(/* webpackIgnore: true */ /* @vite-ignore */ `node:${name}`);
}

/** How many threads run at a time on this machine, as far as the host tells. */
export async function hardwareThreads() {
  const count = isNode()
    ? (await nodeModule("os")).availableParallelism()
    : globalThis.navigator?.hardwareConcurrency;
  return Math.max(1, count || 1);
}

/**
 * Refuses a host that cannot run the kernel, before anything is downloaded.
 *
 * @param {typeof WebAssembly | undefined} [wasm]
 * @throws {TernError} WASM_BLOCKED, WASM_NO_SIMD
 */
export async function checkWebAssembly(wasm = globalThis.WebAssembly) {
  if (typeof wasm !== "object" || wasm === null) {
    throw new TernError("WASM_BLOCKED", "this host has no WebAssembly, expected one with SIMD");
  }
  try {
    await wasm.compile(EMPTY_MODULE);
  } catch (error) {
    const hint = "a Content-Security-Policy must allow 'wasm-unsafe-eval'";
    throw new TernError("WASM_BLOCKED", `this page may not compile WebAssembly: ${hint}`, {
      cause: error,
    });
  }
  if (!wasm.validate(SIMD_MODULE)) {
    throw new TernError("WASM_NO_SIMD", "this host's WebAssembly has no SIMD, expected simd128");
  }
}

/**
 * An absolute URL from what a caller gave: a URL, or a string relative to the page; in Node a path
 * of the file system, relative to the working directory.
 *
 * @param {URL | string} location
 * @returns {Promise<string>}
 */
export async function absoluteUrl(location) {
  if (location instanceof URL) return location.href;
  if (!isNode()) return new URL(location, globalThis.document?.baseURI ?? globalThis.location.href).href;
  if (/^[a-z][a-z0-9+.-]+:/i.test(location)) return new URL(location).href;
  const { pathToFileURL } = await nodeModule("url");
  return pathToFileURL(location).href;
}
