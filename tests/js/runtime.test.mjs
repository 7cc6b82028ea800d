/** The shim's Pyodide without the modules, written in C, that the engine imports on no path. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { clearUnusedTables } from "../../tools/drop_unused_data.mjs";
import { dropUnusedModules, UNUSED_MODULES } from "../../tools/drop_unused_modules.mjs";
import { readWasm } from "../../tools/wasm_binary.mjs";
import { bootPyodide } from "../../web/pyodide-boot.js";
import { pathOf, SITE } from "./support/site.mjs";

const manifest = JSON.parse(readFileSync(new URL("manifest.json", SITE), "utf8"));
const bytesOf = (role) => new Uint8Array(readFileSync(new URL(manifest.files[role].path, SITE)));
const npm = () => new Uint8Array(readFileSync(pathOf("node_modules/pyodide/pyodide.asm.wasm")));

/** A start without a snapshot; its memory, too. */
async function start() {
  const { default: createModule } = await import(new URL(manifest.files["pyodide.asm.mjs"].path, SITE).href);
  let memory;
  const python = await bootPyodide({
    createModule: async (settings) => (memory = await createModule(settings)),
    wasm: await WebAssembly.compile(bytesOf("pyodide.asm.wasm")),
    stdlib: bytesOf("python_stdlib.zip"),
    archive: bytesOf("package"),
  });
  return { python, memory };
}

/** What a script of Python's, in tests/js/support, defines under a name. */
function run(python, file, name) {
  const builtins = python.pyimport("builtins");
  const names = builtins.dict();
  builtins.exec(readFileSync(pathOf(`tests/js/support/${file}`), "utf8"), names);
  return names.get(name)();
}

/** Slots of the function table that all have one function, which does nothing but trap. */
function trapsOf(wasm) {
  const { bytes, imported, code, slots, firstSlot } = readWasm(wasm);
  const traps = (index) => index >= imported && bytes[code[index - imported].at + 1] === 0x00;
  return new Set(slots.flatMap(({ index }, i) => (traps(index) ? [firstSlot + i] : [])));
}

const word = (memory, address) => memory.HEAPU32[address >>> 2];

/** The words of an array of structures of `size` words, up to one that begins with zero. */
function* entries(memory, address, size) {
  for (; address && word(memory, address); address += 4 * size) {
    yield Array.from({ length: size }, (_, i) => word(memory, address + 4 * i));
  }
}

/** Pointers to functions in the C structures of CPython 3.14, on a machine of 32 bits. */
function* pointersOf(memory, { types, functions, modules }) {
  const words = (address, from, to) => Array.from({ length: to - from }, (_, i) => word(memory, address + 4 * (from + i)));
  for (const type of types) {
    yield* words(type, 6, 7); // PyTypeObject: tp_dealloc; 8, 9: tp_getattr …; 11: tp_repr
    yield* [...words(type, 8, 10), word(memory, type + 44), ...words(type, 15, 20), ...words(type, 23, 26), ...words(type, 27, 29)];
    yield* [...words(type, 34, 36), ...words(type, 37, 42), word(memory, type + 188), word(memory, type + 196)];
    for (const [at, count] of [[10, 4], [12, 36], [13, 10], [14, 3], [20, 2]]) { // tp_as_async … tp_as_buffer
      const table = word(memory, type + 4 * at);
      if (table) yield* words(table, 0, count);
    }
    for (const [, method] of entries(memory, word(memory, type + 116), 4)) yield method;
    for (const [, get, set] of entries(memory, word(memory, type + 124), 5)) yield* [get, set];
  }
  for (const object of functions) yield word(memory, word(memory, object + 8) + 4);
  for (const object of modules) {
    const definition = word(memory, object + 12);
    if (!definition) continue;
    for (const [, method] of entries(memory, word(memory, definition + 32), 4)) yield method;
    for (const [, value] of entries(memory, word(memory, definition + 36), 2)) yield value;
    yield* words(definition, 10, 13); // m_traverse, m_clear, m_free
  }
}

test("modules that the engine imports on no path are not there, and take no place", async () => {
  const { python } = await start();
  const names = JSON.parse(run(python, "native.py", "addresses")).names;
  for (const name of UNUSED_MODULES) {
    assert.ok(!names.includes(name), name);
    assert.throws(() => python.pyimport(name), new RegExp(`ModuleNotFoundError: No module named '${name}'`));
  }
  for (const name of ["_sre", "_struct", "array", "math", "posix"]) assert.ok(names.includes(name), name);
  assert.ok(bytesOf("pyodide.asm.wasm").length < 0.62 * npm().length);
});

test("no function of a module that stays was taken for one of those", async () => {
  const traps = trapsOf(bytesOf("pyodide.asm.wasm"));
  assert.ok(traps.size > 3500, `${traps.size} slots`);
  const { python, memory } = await start();
  const pointers = new Set(pointersOf(memory, JSON.parse(run(python, "native.py", "addresses"))));
  pointers.delete(0);
  assert.ok(pointers.size > 2000, `${pointers.size} pointers`);
  assert.deepEqual([...pointers].filter((pointer) => traps.has(pointer)), []);
});

test("another wasm than the one that the lists were made for ends the build", () => {
  assert.throws(() => dropUnusedModules(bytesOf("pyodide.asm.wasm"), ["memory"]), /pyodide\.asm\.wasm has no /);
  const rows = (...rows) => () => dropUnusedModules(npm(), ["_PyEval_EvalFrameDefault"], rows);
  assert.throws(rows(["PyInit_mmap", "PyInit_select"], ["PyInit_cmath", "PyInit_binascii"]), /is in another order/);
  assert.throws(rows(["_PyEval_EvalFrameDefault", "_PyCompile_CodeGen"]), /function \d+, of an unused module, is in use/);
});

test("a table goes only where no code that stays names a place in it", () => {
  const linked = readWasm(npm());
  const all = new Uint8Array(linked.imported + linked.code.length);
  assert.throws(() => clearUnusedTables(linked, all.slice().fill(1)), /function \d+ stays and names \d+, encodings of Japan/);
  assert.deepEqual(linked.bytes, npm());
  clearUnusedTables(linked, all);
  const original = npm();
  const changed = linked.data.filter(({ at, size }) => Buffer.compare(linked.bytes.subarray(at, at + size), original.subarray(at, at + size)));
  const addresses = changed.map(({ address }) => address);
  assert.ok(Math.min(...addresses) > 1_100_000 && Math.max(...addresses) < 2_960_000, `${addresses}`);
  const zeros = linked.bytes.filter((byte, i) => byte === 0 && original[i] !== 0).length;
  assert.ok(zeros > 400_000 && zeros < 640_000, `${zeros} bytes`);
  assert.throws(() => clearUnusedTables({ ...linked, code: [] }, all), /no function names \d+, encodings of Japan/);
});
