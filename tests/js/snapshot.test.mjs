/** A start from the memory of an interpreter that has imported the engine, and without it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bootPyodide } from "../../web/pyodide-boot.js";
import { headerOf, packSnapshot, unpackSnapshot, wordsBefore } from "../../web/snapshot.js";

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
async function resume(start = (createModule, settings) => createModule(settings)) {
  const bytesOf = (name) => new Uint8Array(readFileSync(join(SITE, manifest.files[name].path)));
  const { default: createModule } = await import(pathToFileURL(join(SITE, manifest.files["pyodide.asm.mjs"].path)).href);
  const { id, memoryBytes } = manifest.files.snapshot;
  return bootPyodide({
    createModule: (settings) => start(createModule, settings),
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

test("the snapshot does not say where it was made", () => {
  const content = readFileSync(join(SITE, manifest.files.snapshot.path));
  assert.ok(!content.includes(fileURLToPath(new URL("../..", import.meta.url))));
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
  const { bytes, memoryBytes } = packSnapshot(snapshotOf(MEMORY), INITIAL, INITIAL, 0);
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
  const { bytes } = packSnapshot(snapshotOf(memory), initial, initial, 0);
  const [, runs, before] = new Uint32Array(bytes.buffer);
  assert.deepEqual([runs, before], [2, 2]);
  const found = new Uint32Array(64);
  found.set(initial);
  unpackSnapshot(bytes, found);
  assert.deepEqual(found, memory);
});

test("the memory laid in is the same, whatever C++'s constructors find on a host", async () => {
  const program = process.argv[1];
  const hashes = [];
  const start = (createModule, settings) => {
    const { instantiateWasm } = settings;
    settings.instantiateWasm = (imports, done) =>
      instantiateWasm(imports, ({ exports }, wasm) => {
        const memory = exports.memory ?? imports.env.memory;
        const __wasm_call_ctors = () => {
          exports.__wasm_call_ctors();
          hashes.push(createHash("sha256").update(new Uint8Array(memory.buffer)).digest("hex"));
        };
        done({ exports: { ...exports, __wasm_call_ctors } }, wasm);
      });
    return createModule(settings);
  };
  for (const path of ["/p.mjs", `/${"longer/".repeat(500)}p.mjs`]) {
    process.argv[1] = path; // among the environment's variables, which are laid out on the heap
    await resume(start);
  }
  process.argv[1] = program;
  assert.equal(hashes.length, 2);
  assert.equal(hashes[0], hashes[1]);
});

test("zeros are kept where another host's constructors may have written", () => {
  const initial = Uint32Array.from({ length: 16 }, (_, i) => i + 1);
  const constructed = Uint32Array.from({ length: 40 }, (_, i) => (i < 16 || i === 39 ? i + 1 : 0)); // blocks 0, 2
  const memory = Uint32Array.from({ length: 96 }, (_, i) => (i < 16 ? 7 : 0));
  const { bytes } = packSnapshot(snapshotOf(memory), initial, constructed, 1);
  assert.equal(wordsBefore(bytes), 16);
  const found = new Uint32Array(96);
  found.set(initial);
  found.fill(9, 32, 64); // of more blocks than where it was made
  found.fill(9, 80); // and what no constructor wrote
  unpackSnapshot(bytes, found);
  assert.deepEqual([...found.subarray(0, 80)], [...memory.subarray(0, 80)]);
  assert.ok(found.subarray(80).every((word) => word === 9));
});

test("a packed snapshot may lie anywhere in a buffer, and must fit", () => {
  const { bytes } = packSnapshot(snapshotOf(MEMORY), INITIAL, INITIAL, 0);
  const moved = new Uint8Array(bytes.length + 3);
  moved.set(bytes, 3);
  const memory = new Uint32Array(64);
  memory.set(INITIAL);
  unpackSnapshot(moved.subarray(3), memory);
  assert.deepEqual(memory, MEMORY);
  assert.throws(() => unpackSnapshot(bytes, new Uint32Array(32)), RangeError);
});
