/**
 * Snapshots of an interpreter's memory, small: what the module itself has in it is taken out (exclusive
 * or), and of the rest only blocks that are not all zeros are kept. What C++'s constructors write is not
 * taken out: it differs between hosts, with the time, the language and the path of the program.
 *
 *     uint32: words of Pyodide's header, how many runs there are, in how many blocks something lay
 *     before; for each run its first block and how many blocks it has; Pyodide's header; the runs' blocks
 */

const BLOCK = 16; // words
const FACTS = 3; // words
/** Blocks behind each that the constructors wrote where the build ran: elsewhere they may write more. */
const ROOM = 256;

/**
 * A copy of a memory up to its last word that is not zero.
 *
 * @param {WebAssembly.Memory} memory
 */
export function contentOf(memory) {
  const words = new Uint32Array(memory.buffer);
  let end = words.length;
  while (end > 0 && words[end - 1] === 0) end--;
  return words.slice(0, end);
}

/**
 * @param {Uint8Array} bytes as Pyodide's makeSnapshot gives them: a header, whose second word is its
 *   length, and the memory
 * @param {Uint32Array} initial what is in the memory before the constructors run, the same everywhere
 * @param {Uint32Array} constructed what is in it afterwards
 * @param {number} [room]
 * @returns {import("./pyodide-boot.js").Snapshot}
 */
export function packSnapshot(bytes, initial, constructed, room = ROOM) {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const header = words.subarray(0, words[1] / 4);
  const memory = words.slice(header.length);
  for (let i = 0; i < initial.length; i++) memory[i] ^= initial[i];
  const before = Math.ceil(initial.length / BLOCK);
  let written = -Infinity; // the last block that the constructors wrote, of those behind
  /** @type {{start: number, count: number}[]} */
  const runs = [];
  for (let block = 0; block * BLOCK < memory.length; block++) {
    const used = (/** @type {Uint32Array} */ words) =>
      words.subarray(block * BLOCK, (block + 1) * BLOCK).some((word) => word !== 0);
    if (block >= before && used(constructed)) written = block;
    // Zeros are kept, too, where something else may lie by then.
    if (!used(memory) && block - written > room) continue;
    const last = runs.at(-1);
    if (last && last.start + last.count === block && block !== before) last.count++;
    else runs.push({ start: block, count: 1 });
  }
  const table = runs.flatMap(({ start, count }) => [start, count]);
  const blocks = runs.map(({ start, count }) => memory.subarray(start * BLOCK, (start + count) * BLOCK));
  const parts = [[header.length, runs.length, before], table, header, ...blocks];
  const packed = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    packed.set(part, at);
    at += part.length;
  }
  return { bytes: new Uint8Array(packed.buffer), memoryBytes: 4 * memory.length };
}

/**
 * Pyodide's header, a copy.
 *
 * @param {Uint8Array} bytes a packed snapshot
 */
export function headerOf(bytes) {
  const { header } = parse(bytes);
  return new Uint8Array(header.slice().buffer);
}

/**
 * Of how many words, from the first, something was taken out.
 *
 * @param {Uint8Array} bytes a packed snapshot
 */
export function wordsBefore(bytes) {
  return parse(bytes).before * BLOCK;
}

/**
 * Lays a snapshot's memory into one that has in its first words just what was taken out of them.
 *
 * @param {Uint8Array} bytes a packed snapshot
 * @param {Uint32Array} memory
 * @throws {RangeError} when it does not fit in
 */
export function unpackSnapshot(bytes, memory) {
  const { runs, before, blocks } = parse(bytes);
  let from = 0;
  for (let run = 0; run < runs.length; run += 2) {
    const start = runs[run] * BLOCK;
    const end = start + runs[run + 1] * BLOCK;
    if (end > memory.length) throw new RangeError(`the snapshot has ${4 * end} bytes, not ${4 * memory.length}`);
    const to = from + end - start;
    if (start < before * BLOCK) {
      for (let i = start; i < end; i++) memory[i] ^= blocks[from++];
    } else {
      memory.set(blocks.subarray(from, to), start); // a good part of the time that the loop takes
    }
    from = to;
  }
}

/** @param {Uint8Array} bytes */
function parse(bytes) {
  // Where it lies in a larger buffer, words may not be aligned.
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >>> 2);
  const [headerWords, count, before] = words;
  const header = FACTS + 2 * count;
  return {
    before,
    runs: words.subarray(FACTS, header),
    header: words.subarray(header, header + headerWords),
    blocks: words.subarray(header + headerWords),
  };
}
