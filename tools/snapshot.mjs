/**
 * Takes a snapshot of an interpreter that has imported the engine.
 *
 *     node tools/snapshot.mjs PYODIDE_DIR STDLIB.zip PACKAGE.zip OUT.bin OUT.json
 *
 * OUT.json gets {id, memoryBytes}, which bootPyodide needs to go on from OUT.bin. The seed of Python's
 * hashes is in the snapshot; it is drawn at each run.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { bootPyodide } from "../web/pyodide-boot.js";

// Node would quote the source line of an error, which is all of Pyodide.
process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});

const [pyodideDir, stdlibZip, packageZip, out, facts] = process.argv.slice(2).map((path) => resolve(path));
process.argv.length = 1; // where this script lies would be in the snapshot
const { default: createModule } = await import(pathToFileURL(`${pyodideDir}/pyodide.asm.mjs`).href);
const wasmBytes = readFileSync(`${pyodideDir}/pyodide.asm.wasm`);
const wasm = await WebAssembly.compile(wasmBytes);
const [stdlib, archive] = [stdlibZip, packageZip].map((path) => new Uint8Array(readFileSync(path)));
const hash = createHash("sha256");
for (const part of [wasmBytes, stdlib, archive]) hash.update(part);
const id = hash.digest("hex");

const parts = { createModule, wasm, stdlib, archive, snapshotId: id, forSnapshot: true };
const python = await bootPyodide(parts);
const builtins = python.pyimport("builtins");
for (const script of ["./snapshot_inside.py", "./drop_unused_code.py", "./clear_free_memory.py"]) {
  const names = builtins.dict();
  builtins.exec(readFileSync(new URL(script, import.meta.url), "utf8"), names);
  names.destroy();
}
builtins.destroy();
const { bytes, memoryBytes } = python.makeMemorySnapshot();
writeFileSync(out, bytes);
writeFileSync(facts, JSON.stringify({ id, memoryBytes }));
process.exit(); // the interpreter keeps the event loop busy
