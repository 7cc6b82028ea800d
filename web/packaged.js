/**
 * Where the engine's files are when the caller does not say: in a site, in the folder of this file,
 * with a manifest.json. The npm package has another packaged.js, which lists them one by one, so that
 * bundlers find them and take them along.
 */

/** @type {string | undefined} */
export const FOLDER = new URL("./", import.meta.url).href;

/**
 * What the manifest there said when this was built: its files are asked for beside it. The manifest
 * decides all the same.
 *
 * @type {object | undefined}
 */
export const EXPECTED = /** @type {any} */ (globalThis).TERN_MANIFEST; // bundle_shim.mjs puts it here

/**
 * By name. A script has neither `bytes` nor `sha256`: a bundler may have shortened it.
 *
 * @type {Record<string, {url: string, bytes?: number, sha256?: string}> | undefined}
 */
export const FILES = undefined;
