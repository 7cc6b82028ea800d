/**
 * Takes modules of Python's that are written in C, and libraries that only they use, out of Pyodide's
 * wasm: those that the engine imports on no path.
 *
 * Their methods are called through pointers: numbers of slots in the function table, which lie in tables
 * of methods in the data, so that whoever removes functions that nobody calls finds all of them in use.
 * Here such slots are given a function that traps, and the modules leave the list of built-in ones, where
 * an import looks; Binaryen can remove the rest.
 *
 * A slot is given away where one of these holds:
 *
 * 1. Only unused code can know it. The linker lays out functions object file by object file, and hands out
 *    slots in the order in which the object files first name a function. So slots, too, belong to object
 *    files, in the order of the functions. One that an unused file was the first to name, for a function
 *    of its own, other files can know only if they know the function's name. So functions that are
 *    exported, under a name that is not an unused library's, keep their slots. Of identical functions one
 *    was kept, the first: the last slots before those of a file that stays may be that file's, and stay.
 *    What unused files have that others call directly (hashes) stays, with the slots whose numbers are in
 *    its code; it may not call through pointers, since those could come from its data.
 * 2. Nothing has its number: neither code that stays nor, at an address divisible by 4, the data.
 *
 * What stays is what can be reached from the exports that the script uses and from slots that stay.
 */
import { clearUnusedTables } from "./drop_unused_data.mjs";
import { functionOf, memoryOf, readWasm, replaceBody } from "./wasm_binary.mjs";

/** @typedef {import("./wasm_binary.mjs").Binary} Binary */

/** Those that an import finds no more. */
export const UNUSED_MODULES = [
  "_bz2", "_codecs_cn", "_codecs_hk", "_codecs_iso2022", "_codecs_jp", "_codecs_kr", "_codecs_tw", "_csv", "_ctypes",
  "_decimal", "_elementtree", "_hmac", "_lsprof", "_lzma", "_multibytecodec", "_pickle", "_posixsubprocess", "_queue",
  "_remote_debugging", "_sqlite3", "_statistics", "_testbuffer", "_testcapi", "_testclinic", "_testclinic_limited",
  "_testinternalcapi", "_testlimitedcapi", "_xxtestfuzz", "_zoneinfo", "_zstd", "cmath", "mmap", "pyexpat", "termios",
  "unicodedata", "xxsubtype", "zlib",
];

/**
 * Object files of unused modules and libraries: from the first function of the one to the first function
 * of the other, which stays. In the linker's order.
 *
 * @type {readonly (readonly [string, string])[]}
 */
const UNUSED_CODE = [
  ["PyInit__ctypes", "PyInit_array"],
  ["PyInit__csv", "PyInit__heapq"],
  ["PyInit__lsprof", "PyInit__random"],
  ["PyInit__remote_debugging", "PyInit__struct"],
  ["PyInit__zoneinfo", "PyInit_math"],
  ["PyInit_cmath", "PyInit_binascii"],
  ["PyInit_pyexpat", "PyInit_fcntl"],
  ["PyInit_mmap", "PyInit_select"],
  ["PyInit_termios", "PyUnstable_AtExit"],
  ["lzma_version_number", "emscripten_GetProcAddress"],
  ["_ZNSt3__26__sortIRNS_6__lessIccEEPcEEvT0_S5_T_", "accept"],
];
// Names of functions that only what is unused can know.
const UNUSED_NAMES = /^(PyInit_\w+|_?sqlite3\w*|lzma_\w+|ZSTD\w*|ZDICT_\w+|HUF_\w+|FSE_\w+|HIST_\w+|COVER_\w+|POOL_\w+|divsufsort|divbwt|_Z\w+|__cxa_\w+)$/;
// So many slots, at the end of those of a row of unused object files, are left to what stays, where the
// function is used otherwise, too.
const LAST_SLOTS = 16;

/**
 * Functions in which C++'s library begins, which nothing else uses, and what they do instead, as code. The
 * one lays out std::cout and others, the other would describe a C++ exception, which nothing throws.
 */
const REPLACED = {
  _ZNSt3__28ios_base4InitC1Ev: [0x20, 0x00], // returns its argument, as constructors do: local.get 0
  __get_exception_message: [0x00], // unreachable
};

/** @typedef {{from: number, to: number}} Knowing functions that can know a slot, if they stay */
const EVERYBODY = { from: 0, to: Infinity };

/**
 * @param {Uint8Array} linked Pyodide's wasm as it was linked: with all its exports
 * @param {Iterable<string>} used names of exports that the script uses
 * @param {readonly (readonly [string, string])[]} [unusedCode]
 * @returns {Uint8Array} the wasm, of the same size
 */
export function dropUnusedModules(linked, used, unusedCode = UNUSED_CODE) {
  const binary = readWasm(linked.slice());
  // Where rows of object files begin that are unused and stay in turns; the first begins before all of them.
  const borders = unusedCode.flat().map((name) => functionOf(binary, name));
  if (borders.some((border, i) => i > 0 && border <= borders[i - 1])) throw new Error("pyodide.asm.wasm is in another order");
  const memory = memoryOf(binary);
  for (const [name, instead] of Object.entries(REPLACED)) replaceBody(binary, functionOf(binary, name), instead);
  const unused = new Map([...dropFromList(binary, memory), ...slotsOfUnusedCode(binary, borders)]);
  const inData = new Set(memory);
  binary.slots.forEach((_, i) => {
    const slot = binary.firstSlot + i;
    if (!inData.has(slot) && !unused.has(slot)) unused.set(slot, EVERYBODY);
  });
  const roots = [...used].flatMap((name) => binary.functions.get(name) ?? []);
  const live = withoutKnown(binary, unused, roots);
  checkShared(binary, borders, live, roots);
  trap(binary, unused, live);
  clearUnusedTables(binary, live);
  return binary.bytes;
}

/**
 * Closes the gaps of unused modules in Python's list of built-in ones: pairs of a name and a slot.
 *
 * @param {Binary} binary changed
 * @param {Uint32Array} memory changed
 * @returns {[number, Knowing][]} slots that only the list knew
 */
function dropFromList(binary, memory) {
  const list = memory[Number(binary.addresses.get("PyImport_Inittab")) >>> 2] >>> 2;
  /** @type {[number, Knowing][]} */
  const dropped = [];
  const missing = new Set(UNUSED_MODULES);
  let end = list;
  let kept = list;
  for (; memory[end] !== 0; end += 2) {
    const name = text(memory, memory[end]);
    if (missing.delete(name)) dropped.push([memory[end + 1], EVERYBODY]);
    else for (const word of [0, 1]) memory[kept++] = memory[end + word];
  }
  if (missing.size > 0) throw new Error(`pyodide.asm.wasm has no module ${[...missing].join(", ")}`);
  memory.fill(0, kept, end);
  for (const segment of binary.data) {
    const [from, to] = [Math.max(segment.address, list * 4), Math.min(segment.address + segment.size, end * 4)];
    if (from < to) binary.bytes.set(new Uint8Array(memory.buffer, from, to - from), segment.at + from - segment.address);
  }
  return dropped;
}

/**
 * @param {Uint32Array} memory
 * @param {number} address of a string that ends in a zero
 */
function text(memory, address) {
  const bytes = new Uint8Array(memory.buffer, address);
  return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
}

/**
 * Slots of unused functions that only they know.
 *
 * @param {Binary} binary
 * @param {number[]} borders
 * @returns {[number, Knowing][]}
 */
function slotsOfUnusedCode({ functions, slots, firstSlot, imported, code }, borders) {
  const rowOf = slots.map(({ index }) => borders.filter((border) => border <= index).length);
  const owners = inOrder(rowOf, borders.length + 1);
  const named = new Set(functions.values());
  const uses = new Uint32Array(imported + code.length);
  for (const { index } of slots) uses[index]++;
  for (const { calls } of code) for (const index of calls) uses[index]++;
  const foreign = new Set([...functions].filter(([name]) => !UNUSED_NAMES.test(name)).map(([, index]) => index));
  /** @type {[number, Knowing][]} */
  const found = [];
  slots.forEach(({ index }, i) => {
    const row = owners[i];
    if (row % 2 === 0 || rowOf[i] !== row || foreign.has(index)) return;
    const own = uses[index] === 1 && !named.has(index); // the slot that made the linker keep the function
    if (owners[i + LAST_SLOTS] !== row && !own) return;
    found.push([firstSlot + i, { from: borders[row - 1], to: named.has(index) ? Infinity : borders[row] }]);
  });
  return found;
}

/**
 * A series that does not descend and agrees with the given one in as many places as possible.
 *
 * @param {number[]} series of numbers below `count`
 * @param {number} count
 */
function inOrder(series, count) {
  // The most places so far for a series that has come to a number, and from where it came.
  const most = new Uint32Array(count);
  const from = series.map((number) => {
    const came = new Uint8Array(count);
    for (let to = 1; to < count; to++) {
      came[to] = to;
      if (most[to - 1] > most[to]) [most[to], came[to]] = [most[to - 1], came[to - 1]];
    }
    most[number]++;
    return came;
  });
  const result = series.slice();
  let number = most.indexOf(Math.max(...most));
  for (let i = series.length - 1; i >= 0; i--) {
    result[i] = number;
    number = from[i][number];
  }
  return result;
}

/**
 * Takes out of `unused` what code that stays knows.
 *
 * @param {Binary} binary
 * @param {Map<number, Knowing>} unused changed: slot -> who could know it
 * @param {number[]} roots functions that stay
 * @returns {Uint8Array} by function: whether it stays
 */
function withoutKnown({ imported, code, slots, firstSlot }, unused, roots) {
  const live = new Uint8Array(imported + code.length);
  /** @type {number[]} */
  const toDo = [];
  const keep = (/** @type {number} */ index) => {
    if (live[index]) return;
    live[index] = 1;
    if (index >= imported) toDo.push(index);
  };
  roots.forEach(keep);
  slots.forEach(({ index }, i) => unused.has(firstSlot + i) || keep(index));
  for (let index = toDo.pop(); index !== undefined; index = toDo.pop()) {
    const { calls, constants } = code[index - imported];
    calls.forEach(keep);
    for (const slot of constants) {
      const knowing = unused.get(slot);
      if (!knowing || index < knowing.from || index >= knowing.to) continue;
      unused.delete(slot);
      keep(slots[slot - firstSlot].index);
    }
  }
  return live;
}

/**
 * Checks that what others call of unused code does not call through pointers.
 *
 * @param {Binary} binary
 * @param {number[]} borders
 * @param {Uint8Array} live
 * @param {number[]} roots
 */
function checkShared({ imported, code }, borders, live, roots) {
  const isUnused = (/** @type {number} */ index) => borders.filter((border) => border <= index).length % 2 === 1;
  const outside = code.flatMap(({ calls }, i) => (live[imported + i] && !isUnused(imported + i) ? calls : []));
  const shared = new Set([...roots, ...outside].filter(isUnused));
  for (const index of shared) { // grows meanwhile
    const { calls, indirect } = code[index - imported];
    if (indirect) throw new Error(`pyodide.asm.wasm: function ${index}, of an unused module, is in use`);
    calls.filter(isUnused).forEach((called) => shared.add(called));
  }
}

/**
 * Has all unused slots name one function, and that function trap.
 *
 * @param {Binary} binary changed
 * @param {Map<number, Knowing>} unused
 * @param {Uint8Array} live
 */
function trap(binary, unused, live) {
  const { bytes, slots, firstSlot } = binary;
  const stub = slots.find(({ index }, i) => unused.has(firstSlot + i) && !live[index]);
  if (!stub) throw new Error("pyodide.asm.wasm: no function of an unused module was found");
  replaceBody(binary, stub.index, [0x00]); // unreachable
  for (const slot of unused.keys()) {
    const { at, size } = slots[slot - firstSlot];
    // As many bytes as before: all but the last say that there is more.
    for (let i = 0; i < size; i++) bytes[at + i] = ((stub.index >>> (7 * i)) & 127) | (i < size - 1 ? 128 : 0);
  }
}
