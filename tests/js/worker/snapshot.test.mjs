/** Interpreters that go on from one snapshot draw the same numbers, unless they are seeded anew. */
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

test("numbers are shared without reseeding, and not with it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tern-snapshot-"));
  try {
    const out = join(folder, "snapshot.bin");
    const script = pathOf("worker/build/snapshot.mjs");
    const printed = execFileSync("node", [script, pathOf("node_modules/pyodide"), pythonZip, out]);
    const { id, memoryBytes } = JSON.parse(printed.toString());
    const bytes = new Uint8Array(readFileSync(out));
    const wasm = await WebAssembly.compile(readFileSync(pathOf("node_modules/pyodide/pyodide.asm.wasm")));
    const start = () =>
      bootPyodide({
        createModule,
        wasm,
        stdlib: new Uint8Array(readFileSync(pythonZip)),
        snapshot: { bytes, memoryBytes },
        snapshotId: id,
      });
    const draw = (python) => python.pyimport("random").random();
    const [one, two, three, four] = [await start(), await start(), await start(), await start()];
    assert.equal(draw(one), draw(two));
    reseed(three);
    reseed(four);
    const drawn = [draw(three), draw(four), draw(one)];
    assert.equal(new Set(drawn).size, 3);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
