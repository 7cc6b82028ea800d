/**
 * Clears large tables of what drop_unused_modules.mjs takes out of Pyodide's wasm.
 *
 * The linker lays out data, as functions, object file by object file, and constants before variables. So what lies
 * between two tables of one object file, or of a row of them, is theirs. None of these tables has a name that
 * another object file could know. That the addresses are right is checked: code that goes names
 * where a table begins, and no code that stays names a place in it.
 */

/** @typedef {import("./wasm_binary.mjs").Binary} Binary */

/**
 * Addresses in Pyodide 314.0.7.
 *
 * @type {readonly {what: string, from: number, to: number, numbers?: readonly number[]}[]}
 */
const UNUSED_TABLES = [
  { what: "encodings of Japan, Korea and Taiwan: _codecs_jp to _multibytecodec", from: 1186736, to: 1391264 },
  // 1664525 is a factor of random numbers (init_by_array of _random), no address.
  { what: "names of characters: unicodedata", from: 1574128, to: 1856640, numbers: [1664525] },
  { what: "encodings of C's iconv, the last of 6879 numbers", from: 2823168, to: 2948768 + 6879 * 2 },
];

/**
 * @param {Binary} binary changed
 * @param {Uint8Array} live by function: whether it stays
 */
export function clearUnusedTables({ bytes, imported, code, data }, live) {
  for (const { what, from, to, numbers = [] } of UNUSED_TABLES) {
    let begun = false;
    code.forEach(({ constants, offsets }, i) => {
      for (const address of [...constants, ...offsets]) {
        if (address < from || address >= to || numbers.includes(address)) continue;
        if (live[imported + i]) throw new Error(`pyodide.asm.wasm: function ${imported + i} stays and names ${address}, ${what}`);
        begun ||= address === from;
      }
    });
    if (!begun) throw new Error(`pyodide.asm.wasm: no function names ${from}, ${what}`);
    for (const { at, size, address } of data) {
      const [first, end] = [Math.max(address, from), Math.min(address + size, to)];
      if (first < end) bytes.fill(0, at + first - address, at + end - address);
    }
  }
}
