/**
 * Places the demo's corpus on a plane, so that its map opens at once.
 *
 *     node tools/build_demo_map.mjs INDEX OUT
 *
 * INDEX is the file of build_demo_index.py. OUT gets {"index": its SHA-256, "points": [x, y, x, y, …]},
 * a pair a document, each coordinate 0…1. The same input gives the same bytes.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { UMAP } from "umap-js";
import { vectorsOfFile } from "../web/demo/index-vectors.js";
import { layOut } from "../web/demo/layout.js";

const [source, out] = process.argv.slice(2);
const file = new Uint8Array(readFileSync(source));
const { passages, rows } = await vectorsOfFile(file, Infinity);
const dim = rows.length / passages.length;
const vectors = passages.map((_, i) => rows.subarray(i * dim, (i + 1) * dim));
const points = await layOut(UMAP, vectors);
const index = createHash("sha256").update(file).digest("hex");
writeFileSync(out, JSON.stringify({ index, points: Array.from(points, (x) => Number(x.toFixed(4))) }));
