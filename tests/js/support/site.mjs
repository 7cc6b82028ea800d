/** The built site (python3 build.py web) and what the tests read beside it. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const ROOT = new URL("../../../", import.meta.url);
export const SITE = new URL("dist/web/", ROOT);

/** The shim as it was built. Imported late, so that a missing build is one test's failure. */
export const shim = () => import(new URL("tern-engine.js", SITE).href);

/** @param {string} path from the repository's root */
export const readJson = (path) => JSON.parse(readFileSync(new URL(path, ROOT), "utf8"));

/** @param {string} path from the repository's root */
export const pathOf = (path) => fileURLToPath(new URL(path, ROOT));

/** @param {Float32Array} vector */
export const bits = (vector) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
