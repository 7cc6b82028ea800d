/** The index as one file: docs/index-format.md. */
import { codePointLength } from "./code-points.js";
import { documentRecord, parseRecord } from "./documents.js";
import { Entry } from "./entries.js";
import { TernError, describe } from "./errors.js";
import { Rows } from "./rows.js";
import { hex, sha256 } from "./sha256.js";

const MAGIC = Uint8Array.of(0x54, 0x45, 0x52, 0x4e, 0x49, 0x44, 0x58, 0x0a);
const VERSION = 1;
const HEADER_BYTES = 64;
const CHECKSUM_BYTES = 32;
const CHECKSUM_BLOCK = 1 << 20;
const KINDS = /** @type {const} */ (["float32", "int8"]);
const MIN_PASSAGE_TOKENS = 3;

/** @typedef {import("./pace.js").Pacer} Pacer */

/**
 * @typedef {object} Content
 * @property {string} fingerprint
 * @property {number} dim
 * @property {number} passageTokens
 * @property {Rows} rows
 * @property {Entry[]} entries in the index's order, their rows in `rows`
 */

/**
 * @param {Content} content
 * @param {Pacer} pacer
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 * @throws {TernError} INDEX_TOO_LARGE, ABORTED
 */
export async function writeIndex({ fingerprint, dim, passageTokens, rows, entries }, pacer) {
  const { table } = rows;
  const encoder = new TextEncoder();
  /** @type {Uint8Array[]} */
  const records = [];
  let recordBytes = 0;
  let passages = 0;
  for (const entry of entries) {
    const record = encoder.encode(documentRecord(entry.document));
    records.push(record);
    recordBytes += record.length;
    passages += entry.passageCount;
    if (pacer.due) await pacer.pause();
  }
  const at = sections(table.kind, dim, entries.length, passages);
  const bytes = allocate(at.records + recordBytes + CHECKSUM_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  view.setUint32(8, VERSION, true);
  view.setUint32(12, KINDS.indexOf(table.kind), true);
  for (let i = 0; i < 32; i++) bytes[16 + i] = parseInt(fingerprint.slice(2 * i, 2 * i + 2), 16);
  [dim, passageTokens, entries.length, passages].forEach((n, i) => view.setUint32(48 + 4 * i, n, true));

  let passage = 0;
  let recordAt = at.records;
  for (const [i, { ranges, passageCount, row }] of entries.entries()) {
    view.setUint32(at.lengths + 4 * i, records[i].length, true);
    view.setUint32(at.counts + 4 * i, passageCount, true);
    ranges.forEach((offset, j) => view.setUint32(at.ranges + 8 * passage + 4 * j, offset, true));
    for (let r = row; r < row + passageCount; r++, passage++) {
      const vector = table.row(r);
      const vectorBytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
      bytes.set(vectorBytes, at.vectors + passage * vectorBytes.length);
      if (table.kind === "int8") view.setFloat32(at.scales + 4 * passage, table.scale(r), true);
      if (pacer.due) await pacer.pause();
    }
    bytes.set(records[i], recordAt);
    recordAt += records[i].length;
    if (pacer.due) await pacer.pause();
  }
  bytes.set(await checksum(bytes.subarray(0, -CHECKSUM_BYTES), pacer), bytes.length - CHECKSUM_BYTES);
  return bytes;
}

/**
 * @param {Uint8Array} bytes
 * @param {{fingerprint: string, dim: number}} model what the index must be of
 * @param {Pacer} pacer
 * @returns {Promise<Content>}
 * @throws {TernError} INDEX_FORMAT for a damaged file, INDEX_STALE for one of another model
 */
export async function readIndex(bytes, model, pacer) {
  const header = readHeader(bytes);
  const { kind, fingerprint, dim, passageTokens, documents, passages, view } = header;
  const at = sections(kind, dim, documents, passages);
  const end = bytes.length - CHECKSUM_BYTES;
  const least = at.records + CHECKSUM_BYTES;
  check(at.records <= end, `the file has ${bytes.length} bytes, its header implies ${least} or more`);
  let recordEnd = at.records;
  for (let i = 0; i < documents; i++) recordEnd += view.getUint32(at.lengths + 4 * i, true);
  check(recordEnd === end, `the file has ${bytes.length} bytes, its lengths imply ${recordEnd + CHECKSUM_BYTES}`);
  const found = hex(bytes.subarray(end));
  const expected = hex(await checksum(bytes.subarray(0, end), pacer));
  check(found === expected, `the checksum is ${found}, that of the content is ${expected}`);
  if (fingerprint !== model.fingerprint) {
    throw stale(`it was made with the model ${fingerprint}, the engine has ${model.fingerprint}`);
  }
  if (dim !== model.dim) throw stale(`it has ${dim} dimensions, the engine's vectors have ${model.dim}`);

  const rows = new Rows(kind, dim);
  const readRow = kind === "int8" ? int8Reader(bytes, view, at, rows) : float32Reader(bytes, at, rows);
  /** @type {Entry[]} */
  const entries = [];
  const ids = new Set();
  let passage = 0;
  let recordAt = at.records;
  for (let i = 0; i < documents; i++) {
    const count = view.getUint32(at.counts + 4 * i, true);
    check(count <= passages - passage, `document ${i} has ${count} passages, ${passages - passage} are left`);
    const length = view.getUint32(at.lengths + 4 * i, true);
    const document = parseRecord(decode(bytes.subarray(recordAt, recordAt + length), i));
    check(document !== null, `record ${i} is not the canonical text of a document`);
    check(!ids.has(document.id), `two documents have the id ${document.id}`);
    ids.add(document.id);
    const ranges = new Uint32Array(2 * count);
    for (let j = 0; j < ranges.length; j++) ranges[j] = view.getUint32(at.ranges + 8 * passage + 4 * j, true);
    checkRanges(ranges, codePointLength(document.text), i);
    const entry = new Entry(document, i, ranges);
    const first = passage;
    rows.add(entry, (part) => readRow(first + part));
    entries.push(entry);
    passage += count;
    recordAt += length;
    if (pacer.due) await pacer.pause();
  }
  check(passage === passages, `the documents have ${passage} passages, the header says ${passages}`);
  return { fingerprint, dim, passageTokens, rows, entries };
}

/** @param {Uint8Array} bytes */
function readHeader(bytes) {
  const least = HEADER_BYTES + CHECKSUM_BYTES;
  check(bytes.length >= least, `the file has ${bytes.length} bytes, expected ${least} or more`);
  const magic = hex(bytes.subarray(0, 8));
  check(magic === hex(MAGIC), `the file starts with ${magic}, expected ${hex(MAGIC)}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [version, kind] = [view.getUint32(8, true), view.getUint32(12, true)];
  check(version === VERSION, `the file has version ${version}, expected ${VERSION}`);
  check(kind < KINDS.length, `the vector kind is ${kind}, expected 0 (float32) or 1 (int8)`);
  const [dim, passageTokens, documents, passages] = [48, 52, 56, 60].map((at) => view.getUint32(at, true));
  check(dim >= 1 && dim <= 65535, `there are ${dim} dimensions, expected 1 to 65535`);
  check(
    passageTokens >= MIN_PASSAGE_TOKENS && passageTokens < 2 ** 31,
    `the passage tokens are ${passageTokens}, expected ${MIN_PASSAGE_TOKENS} to ${2 ** 31 - 1}`,
  );
  const fingerprint = hex(bytes.subarray(16, 48));
  return { kind: KINDS[kind], fingerprint, dim, passageTokens, documents, passages, view };
}

/**
 * Where the sections start.
 *
 * @param {"float32" | "int8"} kind
 * @param {number} dim
 * @param {number} documents
 * @param {number} passages
 */
function sections(kind, dim, documents, passages) {
  const lengths = HEADER_BYTES;
  const counts = lengths + 4 * documents;
  const ranges = counts + 4 * documents;
  const scales = ranges + 8 * passages;
  const vectors = scales + (kind === "int8" ? 4 * passages : 0);
  const records = vectors + passages * dim * (kind === "int8" ? 1 : 4);
  return { lengths, counts, ranges, scales, vectors, records };
}

/**
 * @param {Uint8Array} bytes
 * @param {{vectors: number}} at
 * @param {Rows} rows
 * @returns {(passage: number) => void} adds the passage's vector to the table
 */
function float32Reader(bytes, at, { table, dim }) {
  const row = new Float32Array(dim);
  const rowBytes = new Uint8Array(row.buffer);
  const words = new Uint32Array(row.buffer);
  return (passage) => {
    const start = at.vectors + 4 * dim * passage;
    rowBytes.set(bytes.subarray(start, start + 4 * dim));
    for (let i = 0; i < dim; i++) {
      const isFinite = (words[i] & 0x7f800000) !== 0x7f800000;
      if (!isFinite) throw damaged(`vector ${passage} has an element that is not finite`);
    }
    /** @type {import("./vectors.js").Float32Table} */ (table).add(row);
  };
}

/**
 * @param {Uint8Array} bytes
 * @param {DataView} view
 * @param {{scales: number, vectors: number}} at
 * @param {Rows} rows
 * @returns {(passage: number) => void} adds the passage's vector to the table
 */
function int8Reader(bytes, view, at, { table, dim }) {
  return (passage) => {
    const scale = view.getFloat32(at.scales + 4 * passage, true);
    check(scale >= 0 && scale < Infinity, `scale ${passage} is ${scale}, expected a finite one of 0 or more`);
    const codes = new Int8Array(bytes.buffer, bytes.byteOffset + at.vectors + dim * passage, dim);
    check(!codes.includes(-128), `vector ${passage} has the code -128`);
    /** @type {import("./vectors.js").Int8Table} */ (table).addCodes(codes, scale);
  };
}

/**
 * @param {Uint32Array} ranges
 * @param {number} length code points of the text
 * @param {number} i
 */
function checkRanges(ranges, length, i) {
  for (let j = 0; j < ranges.length; j += 2) {
    const [start, end] = [ranges[j], ranges[j + 1]];
    const fits = start >= (j > 0 ? ranges[j - 1] : 0) && start < end && end <= length;
    check(fits, `passage ${j / 2} of document ${i} reaches from ${start} to ${end} in a text of ${length}`);
  }
}

/**
 * @param {Uint8Array} record
 * @param {number} i
 * @returns {string}
 */
function decode(record, i) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(record);
  } catch {
    throw damaged(`record ${i} is not UTF-8`);
  }
}

/**
 * SHA-256 over the SHA-256 of each block.
 *
 * @param {Uint8Array} bytes
 * @param {Pacer} pacer
 * @returns {Promise<Uint8Array>} 32 bytes
 */
async function checksum(bytes, pacer) {
  let digests = "";
  for (let start = 0; start < bytes.length; start += CHECKSUM_BLOCK) {
    digests += await sha256(bytes.slice(start, start + CHECKSUM_BLOCK));
    if (pacer.due) await pacer.pause();
  }
  return fromHex(await sha256(fromHex(digests)));
}

/** @param {string} text */
const fromHex = (text) =>
  Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));

/**
 * Room for a file.
 *
 * @param {number} length
 * @returns {Uint8Array<ArrayBuffer>}
 * @throws {TernError} INDEX_TOO_LARGE
 */
export function allocate(length) {
  try {
    return new Uint8Array(length);
  } catch (cause) {
    const message = `the index takes a file of ${length} bytes, which this host cannot hold in memory`;
    throw new TernError("INDEX_TOO_LARGE", `${message}; vectors: "int8" takes a quarter`, { cause });
  }
}

/**
 * The bytes of a file, whatever they lie in.
 *
 * @param {unknown} file
 * @returns {Uint8Array}
 * @throws {TernError} INVALID_INPUT
 */
export function bytesOf(file) {
  if (file instanceof ArrayBuffer) return new Uint8Array(file);
  if (ArrayBuffer.isView(file)) return new Uint8Array(file.buffer, file.byteOffset, file.byteLength);
  throw new TernError("INVALID_INPUT", `the index must be bytes, found ${describe(file)}`);
}

/**
 * @param {unknown} condition
 * @param {string} message
 * @returns {asserts condition}
 */
function check(condition, message) {
  if (!condition) throw damaged(message);
}

/** @param {string} message */
const damaged = (message) => new TernError("INDEX_FORMAT", `the index cannot be read: ${message}`);

/** @param {string} message */
const stale = (message) => new TernError("INDEX_STALE", `the index has to be made again: ${message}`);
