/**
 * What drop_unused_modules.mjs needs of a WebAssembly binary: where functions, table and data lie in the
 * bytes, and which functions and numbers a function's code names. Such files only as Emscripten links
 * them: one table, filled by one active segment, and data at constant addresses.
 *
 * https://webassembly.github.io/spec/core/binary/index.html
 */

/**
 * @typedef {object} Code a function's body
 * @property {number} at where it begins, at the count of its locals
 * @property {number} size
 * @property {number[]} calls functions that it calls or takes references of
 * @property {number[]} constants of its i32.const, as unsigned numbers
 * @property {number[]} offsets what loads and stores add to an address
 * @property {boolean} indirect whether it calls through pointers
 */

/**
 * @typedef {object} Binary
 * @property {Uint8Array} bytes
 * @property {number} imported how many functions are imported: they come first
 * @property {Code[]} code
 * @property {Map<string, number>} functions exported ones: name -> index
 * @property {Map<string, number>} addresses exported data: name -> address
 * @property {number} firstSlot
 * @property {{at: number, size: number, index: number}[]} slots of the table: where the index is written
 * @property {{at: number, size: number, address: number}[]} data
 */

/** Reads numbers and skips what is not needed. */
class Reader {
  at = 0;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
  }

  byte() {
    return this.bytes[this.at++];
  }

  /** LEB128 of up to 32 bits, unsigned. */
  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  }

  /** LEB128 of 32 bits, signed, as what it is unsigned. */
  signed() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 127) << shift;
      if (byte < 128) return (shift < 28 && byte & 64 ? value | (-1 << (shift + 7)) : value) >>> 0;
    }
  }

  skip(count = 1) {
    for (; count > 0; count--) while (this.byte() >= 128);
  }

  name() {
    const size = this.number();
    this.at += size;
    return new TextDecoder().decode(this.bytes.subarray(this.at - size, this.at));
  }

  /** An initializer, i32.const or global.get; undefined for the latter. */
  initializer() {
    const value = this.byte() === 0x41 ? this.signed() : this.skip();
    this.expect(this.byte() === 0x0b, "an initializer of one instruction");
    return value ?? undefined;
  }

  /**
   * @param {boolean} found
   * @param {string} what
   */
  expect(found, what) {
    if (!found) throw new Error(`wasm, byte ${this.at}: expected ${what}`);
  }
}

/**
 * @param {Uint8Array} bytes
 * @returns {Binary}
 */
export function readWasm(bytes) {
  const reader = new Reader(bytes);
  /** @type {Binary} */
  const binary = { bytes, imported: 0, code: [], functions: new Map(), addresses: new Map(), firstSlot: 0, slots: [], data: [] };
  /** @type {(number | undefined)[]} */
  const globals = [];
  /** @type {Record<number, () => void>} */
  const items = {
    2: () => {
      reader.name();
      reader.name();
      const kind = reader.byte();
      reader.expect(kind === 0 || kind === 3, "an imported function or global");
      if (kind === 0) {
        reader.skip();
        binary.imported++;
      } else {
        reader.at += 2;
        globals.push(undefined);
      }
    },
    6: () => {
      reader.at += 2;
      globals.push(reader.initializer());
    },
    7: () => {
      const [name, kind, index] = [reader.name(), reader.byte(), reader.number()];
      if (kind === 0) binary.functions.set(name, index);
      const address = globals[index];
      if (kind === 3 && address !== undefined) binary.addresses.set(name, address);
    },
    9: () => {
      reader.expect(reader.byte() === 0 && binary.slots.length === 0, "one segment of the table");
      binary.firstSlot = Number(reader.initializer());
      for (let left = reader.number(); left > 0; left--) {
        const at = reader.at;
        const index = reader.number();
        binary.slots.push({ at, size: reader.at - at, index });
      }
    },
    10: () => {
      const size = reader.number();
      binary.code.push({ at: reader.at, size, ...namesOf(reader, reader.at + size) });
    },
    11: () => {
      reader.expect(reader.byte() === 0, "data at an address");
      const address = Number(reader.initializer());
      const size = reader.number();
      binary.data.push({ at: reader.at, size, address });
      reader.at += size;
    },
  };
  for (reader.at = 8; reader.at < bytes.length; ) {
    const [id, size] = [reader.byte(), reader.number()];
    const end = reader.at + size;
    const read = items[id];
    if (read) for (let left = reader.number(); left > 0; left--) read();
    reader.expect(!read || reader.at === end, "the end of a section");
    reader.at = end;
  }
  return binary;
}

/**
 * @param {Reader} reader at a body; at its end afterwards
 * @param {number} end
 */
function namesOf(reader, end) {
  /** @type {number[]} */
  const calls = [];
  /** @type {number[]} */
  const constants = [];
  /** @type {number[]} */
  const offsets = [];
  let indirect = false;
  for (let left = reader.number(); left > 0; left--) reader.skip(2);
  while (reader.at < end) {
    const opcode = reader.byte();
    indirect ||= opcode === 0x11 || opcode === 0x13;
    if (opcode === 0x41) constants.push(reader.signed());
    else if (opcode === 0x10 || opcode === 0x12 || opcode === 0xd2) calls.push(reader.number());
    else skipImmediates(reader, opcode, offsets);
  }
  reader.expect(reader.at === end, "the end of a function");
  return { calls, constants, offsets, indirect };
}

/**
 * @param {Reader} reader
 * @param {number} opcode any but i32.const, call, return_call and ref.func
 * @param {number[]} offsets gets that of a load or store
 */
function skipImmediates(reader, opcode, offsets) {
  const skipMemory = () => {
    reader.skip();
    offsets.push(reader.number());
  };
  if (opcode === 0xfc) {
    const operation = reader.number();
    reader.expect(operation <= 17, "a known operation");
    reader.skip(operation <= 7 ? 0 : [9, 11, 13, 15, 16, 17].includes(operation) ? 1 : 2);
  } else if (opcode === 0xfd) {
    const operation = reader.number();
    if (operation <= 11 || (operation >= 84 && operation <= 93)) skipMemory();
    if (operation === 12 || operation === 13) reader.at += 16;
    else if ((operation >= 21 && operation <= 34) || (operation >= 84 && operation <= 91)) reader.at++;
  } else if (opcode === 0x0e) reader.skip(reader.number() + 1);
  else if (opcode === 0x1c) reader.skip(reader.number());
  else if (opcode >= 0x28 && opcode <= 0x3e) skipMemory();
  else if (opcode === 0x11 || opcode === 0x13) reader.skip(2);
  else if (opcode === 0x43) reader.at += 4;
  else if (opcode === 0x44) reader.at += 8;
  else if (WITH_ONE.has(opcode) || (opcode >= 0x20 && opcode <= 0x26)) reader.skip();
  else reader.expect(WITH_NONE.has(opcode) || (opcode >= 0x45 && opcode <= 0xc4), `a known instruction, not ${opcode}`);
}

// block, loop, if, try, catch, throw, rethrow, br, br_if, delegate, memory.size, memory.grow, i64.const, ref.null
const WITH_ONE = new Set([0x02, 0x03, 0x04, 0x06, 0x07, 0x08, 0x09, 0x0c, 0x0d, 0x18, 0x3f, 0x40, 0x42, 0xd0]);
// unreachable, nop, else, end, return, catch_all, drop, select, ref.is_null
const WITH_NONE = new Set([0x00, 0x01, 0x05, 0x0b, 0x0f, 0x19, 0x1a, 0x1b, 0xd1]);

/**
 * What the data makes of the memory, as words.
 *
 * @param {Binary} binary
 */
export function memoryOf({ bytes, data }) {
  const end = Math.max(...data.map(({ address, size }) => address + size));
  const memory = new Uint8Array((end + 3) & ~3);
  for (const { at, size, address } of data) memory.set(bytes.subarray(at, at + size), address);
  return new Uint32Array(memory.buffer);
}

/**
 * @param {Binary} binary
 * @param {string} name
 */
export function functionOf({ functions }, name) {
  const index = functions.get(name);
  if (index === undefined) throw new Error(`pyodide.asm.wasm has no function ${name}`);
  return index;
}

/**
 * @param {Binary} binary changed
 * @param {number} index of a function
 * @param {number[]} instead instructions that call nothing
 */
export function replaceBody({ bytes, imported, code }, index, instead) {
  const { at, size } = code[index - imported];
  code[index - imported] = { at, size, calls: [], constants: [], offsets: [], indirect: false };
  bytes.fill(0x01, at, at + size); // nop
  bytes.set([0x00, ...instead], at); // no locals
  bytes[at + size - 1] = 0x0b; // end
}
