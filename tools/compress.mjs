/**
 * Lays FILE.br and FILE.gz beside the files of a folder that get smaller by them, for servers that
 * answer with those where the client takes them.
 *
 *     node tools/compress.mjs FOLDER CACHE
 *
 * CACHE, a folder, keeps what was made, by the content's hash.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const SMALLEST = 1024; // bytes; below, the headers of an answer weigh more
const QUALITY = 9;
// Brotli at its best takes another tenth off, in half a minute: worth it for what stays the same from
// build to build and is most of a page's download.
const BEST = 11;
const LASTING = /^pyodide\.asm\..*wasm$/;
const WORTH = 0.95; // of the size before
const COMPRESSED = /\.(zst|br|gz|whl|png|jpg|webp|woff2)$/;

const METHODS = {
  gz: (content) => promisify(gzip)(content, { level: 9 }),
  br: (content, quality) =>
    promisify(brotliCompress)(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: quality,
        [constants.BROTLI_PARAM_LGWIN]: 24,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
};

async function compress(path, cache) {
  const content = await readFile(path);
  if (content.length < SMALLEST) return;
  const hash = createHash("sha256").update(content).digest("hex");
  const quality = LASTING.test(basename(path)) ? BEST : QUALITY;
  for (const [ending, method] of Object.entries(METHODS)) {
    const kept = join(cache, ending === "br" ? `${hash}.${quality}.br` : `${hash}.${ending}`);
    if (!existsSync(kept)) {
      await writeFile(`${kept}.new`, await method(content, quality));
      await rename(`${kept}.new`, kept);
    }
    const smaller = await readFile(kept);
    if (smaller.length <= WORTH * content.length) await writeFile(`${path}.${ending}`, smaller);
  }
}

const [folder, cache] = process.argv.slice(2);
await mkdir(cache, { recursive: true });
const entries = await readdir(folder, { recursive: true, withFileTypes: true });
const paths = entries
  .filter((entry) => entry.isFile() && !COMPRESSED.test(entry.name))
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
// A few at a time, for the sake of memory; the same content twice must not be made twice at once.
for (const path of paths) await compress(path, cache);
