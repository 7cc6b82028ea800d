/**
 * Makes a snapshot of an interpreter that has imported the engine.
 *
 *     node worker/build/snapshot.mjs PYODIDE_DIR PYTHON_ZIP OUT
 *
 * Prints {id, memoryBytes}, which bootPyodide needs to go on from it. The seed of Python's hashes is
 * in the snapshot; it is drawn at each run, so that no two builds share it.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { bootPyodide } from "../../web/pyodide-boot.js";

const [pyodideDir, pythonZip, out] = process.argv.slice(2).map((path) => resolve(path));
process.argv.length = 1; // where this script lies would be in the snapshot
const { default: createModule } = await import(pathToFileURL(`${pyodideDir}/pyodide.asm.mjs`).href);
const wasm = await WebAssembly.compile(readFileSync(`${pyodideDir}/pyodide.asm.wasm`));
const stdlib = new Uint8Array(readFileSync(pythonZip));
const snapshotId = createHash("sha256").update(stdlib).digest("hex");

const python = await bootPyodide({ createModule, wasm, stdlib, snapshotId, forSnapshot: true });
// Modules that import `js` are left to the Worker: what they hold of this host is not there.
for (const name of ["tern_engine.engine", "tern_engine.embeddings._int4", "random"]) {
  python.pyimport(name).destroy();
}
python.pyimport("gc").collect();
const { bytes, memoryBytes } = python.makeMemorySnapshot();
writeFileSync(out, bytes);
console.log(JSON.stringify({ id: snapshotId, memoryBytes }));
process.exit(); // the interpreter keeps the event loop busy
