/** A start from the memory of an interpreter that has imported the engine, and without it. */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bootPyodide } from "../../web/pyodide-boot.js";
import { headerOf, packSnapshot, unpackSnapshot } from "../../web/snapshot.js";

const SITE = fileURLToPath(new URL("../../dist/web/", import.meta.url));
const manifest = JSON.parse(readFileSync(join(SITE, "manifest.json"), "utf8"));
const golden = JSON.parse(readFileSync(new URL("../golden/vectors.json", import.meta.url), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "tern-snapshot-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Names of the files that a load of the site in `at` fetched, and the engine. */
async function load(at, options = {}) {
  const { load } = await import(pathToFileURL(join(at, "tern-engine.js")).href);
  const fetched = new Set();
  const engine = await load({ ...options, onProgress: ({ file }) => fetched.add(file) });
  return { engine, fetched };
}

/** An interpreter that goes on from the site's snapshot. */
async function resume() {
  const bytesOf = (name) => new Uint8Array(readFileSync(join(SITE, manifest.files[name].path)));
  const { id, memoryBytes } = manifest.files.snapshot;
  return bootPyodide({
    createModule: (await import(pathToFileURL(join(SITE, manifest.files["pyodide.asm.mjs"].path)).href)).default,
    wasm: await WebAssembly.compile(bytesOf("pyodide.asm.wasm")),
    archive: bytesOf("package"),
    snapshot: { bytes: bytesOf("snapshot"), memoryBytes },
    snapshotId: id,
  });
}

test("the snapshot has no piece of the vocabulary in it, and what a load needs to know of it", async () => {
  const content = readFileSync(join(SITE, manifest.files.snapshot.path));
  for (const piece of ["##ization", "wednesday", "philosophical"]) {
    assert.ok(!content.includes(piece), piece);
  }
  const python = await resume();
  const pieces = python.pyimport("tern_engine.engine").own_pieces;
  assert.equal(pieces.cache_info().currsize, 1);
  assert.equal(pieces().size, 30522);
  assert.equal(pieces()._tokenizer, undefined);
  assert.equal(pieces().tokenizer().tokenize("\u00c4rger").length, 4);
  assert.equal(pieces()._tokenizer.vocab_size, 30522);
});

test("the snapshot has no code of what the engine never calls, and says so", async () => {
  const python = await resume();
  const asyncio = python.pyimport("asyncio");
  assert.throws(() => asyncio.run(null), /NotImplementedError: the snapshot has no code for this/);
  assert.equal(asyncio.__doc__, undefined);
  // What formats an error is there, and knows the lines.
  assert.throws(() => python.pyimport("json").loads("{"), /decoder\.py", line \d+, in raw_decode[^]*JSONDecodeError/);
});

test("what was freed before the snapshot was taken is not in it", () => {
  const content = readFileSync(join(SITE, manifest.files.snapshot.path));
  const source = readFileSync(new URL("../../tools/snapshot_inside.py", import.meta.url), "utf8");
  const [, comment] = source.match(/# (Found by name at run time.*)/);
  assert.ok(!content.includes(comment)); // read and compiled while it was made
});

async function assertGolden(engine) {
  const [{ text, vector }] = golden.cases;
  const found = await engine.embed(text);
  vector.forEach((value, i) => assert.ok(Math.abs(found[i] - value) <= 2e-3));
}

test("the site starts from the snapshot, without the standard library", async () => {
  const { engine, fetched } = await load(SITE);
  assert.ok(fetched.has("snapshot"));
  assert.ok(!fetched.has("python_stdlib.zip"));
  await assertGolden(engine);
  assert.throws(() => engine.embed(3), { code: "INVALID_INPUT" });
  engine.dispose();
});

for (const worker of [false, true]) {
  test(`a snapshot that does not fit is done without, ${worker ? "in a worker" : "here"}`, async () => {
    const site = join(folder, String(worker));
    cpSync(SITE, site, { recursive: true });
    const files = { ...manifest.files, snapshot: { ...manifest.files.snapshot, id: "0".repeat(64) } };
    writeFileSync(join(site, "manifest.json"), JSON.stringify({ ...manifest, files }));
    const { engine, fetched } = await load(site, { worker });
    assert.ok(fetched.has("snapshot"));
    assert.ok(fetched.has("python_stdlib.zip"));
    await assertGolden(engine);
    await engine.dispose();
  });
}

/** Pyodide's form: a header of 16 bytes, which says so, and a memory of 64 words. */
function snapshotOf(memory) {
  const bytes = new Uint8Array(16 + 4 * memory.length);
  new Uint32Array(bytes.buffer).set([7, 16, 0, 9]);
  new Uint32Array(bytes.buffer, 16).set(memory);
  return bytes;
}

const INITIAL = Uint32Array.of(1, 2, 3, 0, 5);
const MEMORY = Uint32Array.from({ length: 64 }, (_, i) => (i < 5 ? INITIAL[i] : i === 40 ? 99 : 0));

test("a packed snapshot holds what differs from the beginning", () => {
  const { bytes, memoryBytes } = packSnapshot(snapshotOf(MEMORY), INITIAL);
  assert.equal(memoryBytes, 256);
  assert.equal(bytes.length, 4 * (3 + 2 + 4 + 16)); // one run, of the one block that differs
  assert.deepEqual([...new Uint32Array(headerOf(bytes).buffer)], [7, 16, 0, 9]);
  const memory = new Uint32Array(64);
  memory.set(INITIAL);
  unpackSnapshot(bytes, memory);
  assert.deepEqual(memory, MEMORY);
});

test("a run from where something lay before to where nothing did is two", () => {
  const initial = Uint32Array.from({ length: 20 }, () => 3); // of two blocks
  const memory = Uint32Array.from({ length: 64 }, (_, i) => i + 1);
  const { bytes } = packSnapshot(snapshotOf(memory), initial);
  const [, runs, before] = new Uint32Array(bytes.buffer);
  assert.deepEqual([runs, before], [2, 2]);
  const found = new Uint32Array(64);
  found.set(initial);
  unpackSnapshot(bytes, found);
  assert.deepEqual(found, memory);
});

test("a packed snapshot may lie anywhere in a buffer, and must fit", () => {
  const { bytes } = packSnapshot(snapshotOf(MEMORY), INITIAL);
  const moved = new Uint8Array(bytes.length + 3);
  moved.set(bytes, 3);
  const memory = new Uint32Array(64);
  memory.set(INITIAL);
  unpackSnapshot(moved.subarray(3), memory);
  assert.deepEqual(memory, MEMORY);
  assert.throws(() => unpackSnapshot(bytes, new Uint32Array(32)), RangeError);
});
