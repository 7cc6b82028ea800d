/**
 * Prints [raw, gzip, brotli] bytes of each file named, as JSON.
 *
 *     node tools/sizes.mjs FILE…
 *
 * gzip at level 9, brotli at quality 9: its best, 11, takes half a minute for Pyodide alone.
 */
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const brotli = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 };
const sizes = process.argv.slice(2).map((path) => {
  const content = readFileSync(path);
  const compressed = [gzipSync(content, { level: 9 }), brotliCompressSync(content, { params: brotli })];
  return [content.length, ...compressed.map((result) => result.length)];
});
console.log(JSON.stringify(sizes));
