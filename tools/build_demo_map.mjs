/**
 * Places the demo's corpus on a plane, so that its map opens at once.
 *
 *     node tools/build_demo_map.mjs VECTORS OUT
 *
 * VECTORS is the file of build_demo_vectors.py. OUT gets {"corpus": SHA-256 of the corpus file,
 * "points": [x, y, x, y, …]}, each coordinate 0…1. The same input gives the same bytes.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { UMAP } from "umap-js";
import { layOut } from "../web/demo/layout.js";

const HEADER_BYTES = 80;
const [source, out] = process.argv.slice(2);
const file = readFileSync(source);
const [count, dim] = [file.readUInt32LE(72), file.readUInt32LE(76)];
const floats = new Float32Array(new Uint8Array(file.subarray(HEADER_BYTES)).buffer);
const rows = Array.from({ length: count }, (_, i) => floats.subarray(i * dim, (i + 1) * dim));
const points = await layOut(UMAP, rows);
const corpus = file.subarray(40, 72).toString("hex");
writeFileSync(out, JSON.stringify({ corpus, points: Array.from(points, (x) => Number(x.toFixed(4))) }));
