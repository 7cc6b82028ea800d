/**
 * Interpreters that go on from one snapshot draw the same numbers, unless they are seeded anew; and
 * no two snapshots share the seed of Python's hashes.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import createModule from "pyodide/pyodide.asm.mjs";
import { bootPyodide } from "../../../web/pyodide-boot.js";
import { reseed } from "../../../worker/reseed.js";

const pathOf = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const pythonZip = pathOf("dist/worker/assets/python.zip");
const pyodide = pathOf("node_modules/pyodide");
const wasm = await WebAssembly.compile(readFileSync(`${pyodide}/pyodide.asm.wasm`));

/** @returns {() => Promise<any>} starts an interpreter from a snapshot of its own */
function makeSnapshot() {
  const folder = mkdtempSync(join(tmpdir(), "tern-snapshot-"));
  try {
    const out = join(folder, "snapshot.bin");
    const script = pathOf("worker/build/snapshot.mjs");
    const { id, memoryBytes } = JSON.parse(String(execFileSync("node", [script, pyodide, pythonZip, out])));
    const snapshot = { bytes: new Uint8Array(readFileSync(out)), memoryBytes };
    const stdlib = new Uint8Array(readFileSync(pythonZip));
    return () => bootPyodide({ createModule, wasm, stdlib, snapshot, snapshotId: id });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const start = makeSnapshot();
const startOther = makeSnapshot();

test("numbers are shared without reseeding, and not with it", async () => {
  const draw = (python) => python.pyimport("random").random();
  const [one, two, three, four] = [await start(), await start(), await start(), await start()];
  assert.equal(draw(one), draw(two));
  reseed(three);
  reseed(four);
  const drawn = [draw(three), draw(four), draw(one)];
  assert.equal(new Set(drawn).size, 3);
});

test("each build has a seed of its own for Python's hashes", async () => {
  const hash = (python) => python.pyimport("builtins").hash("text");
  const [one, same, other] = [await start(), await start(), await startOther()];
  assert.equal(hash(one), hash(same));
  assert.notEqual(hash(one), hash(other));
});
