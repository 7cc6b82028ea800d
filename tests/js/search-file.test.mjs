/** The index file: the bytes of docs/index-format.md, and every way in which they can be wrong. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { writeIndex } from "../../web/index-file.js";
import { Pacer } from "../../web/pace.js";
import { SearchIndex } from "../../web/search.js";
import { code, fakeEngine } from "./support/search-engine.mjs";

const folder = new URL("../golden/index/", import.meta.url);
const read = (name) => new Uint8Array(readFileSync(new URL(name, folder)));
const CASES = JSON.parse(readFileSync(new URL("index.json", folder), "utf8"));
const engineFor = ({ dim, passageTokens }) => fakeEngine({ dim, maxSeqLen: passageTokens });
const floats = (hex) => new Float32Array(Uint8Array.from(Buffer.from(hex, "hex")).buffer);

/** The file after a change, with a checksum that fits it. */
function sealed(file, change) {
  const bytes = file.slice();
  const body = change(bytes.subarray(0, -32), new DataView(bytes.buffer)) ?? bytes.subarray(0, -32);
  const digests = [];
  for (let at = 0; at < body.length; at += 2 ** 20) digests.push(createHash("sha256").update(body.subarray(at, at + 2 ** 20)).digest());
  return Buffer.concat([body, createHash("sha256").update(Buffer.concat(digests)).digest()]);
}

for (const golden of CASES) {
  const file = read(golden.file);

  test(`${golden.file}: the documents give these bytes, and the bytes these documents and rankings`, async () => {
    const engine = engineFor(golden);
    const index = new SearchIndex(engine, { vectors: golden.vectors });
    await index.add(golden.documents.map(({ document }) => document));
    assert.deepEqual(Buffer.from(await index.save()), Buffer.from(file));

    const loaded = await SearchIndex.load(engine, file);
    assert.equal(loaded.vectors, golden.vectors);
    assert.equal(loaded.passageTokens, golden.passageTokens);
    assert.deepEqual(Array.from(loaded.documents()), golden.documents.map(({ document }) => document));
    assert.equal(loaded.passageCount, golden.documents.reduce((sum, { passages }) => sum + passages.length, 0));
    for (const { vector, results } of golden.queries) {
      const found = await loaded.query(floats(vector), { k: 5 });
      assert.deepEqual(found.map(({ id, passage, score }) => [id, passage.index]), results.map(({ id, passage }) => [id, passage]));
      // A vector that was given is scaled to length 1 once more: not the last bit.
      found.forEach(({ score }, i) => assert.ok(Math.abs(score - results[i].score) < 1e-6));
    }
    assert.deepEqual(Buffer.from(await loaded.save()), Buffer.from(file));
  });

  test(`${golden.file}: any byte changed, any length cut: INDEX_FORMAT`, async () => {
    const engine = engineFor(golden);
    for (let i = 0; i < file.length; i++) {
      const changed = file.slice();
      changed[i] ^= 1 << i % 8;
      await assert.rejects(SearchIndex.load(engine, changed), code("INDEX_FORMAT"), `byte ${i}`);
    }
    for (let length = 0; length < file.length; length++) {
      await assert.rejects(SearchIndex.load(engine, file.subarray(0, length)), code("INDEX_FORMAT"), `length ${length}`);
    }
    await assert.rejects(SearchIndex.load(engine, Buffer.concat([file, Buffer.alloc(1)])), code("INDEX_FORMAT"));
  });
}

const [, FLOAT32, INT8] = CASES;
const N = FLOAT32.documents.length;
const P = FLOAT32.documents.reduce((sum, { passages }) => sum + passages.length, 0);
const COUNTS = 64 + 4 * N;
const RANGES = COUNTS + 4 * N;
const AFTER_RANGES = RANGES + 8 * P;

/** [what is wrong, change, message]: each with a good checksum, so that the check itself must find it. */
const DAMAGES = [
  ["magic", (b) => void (b[0] = 0x74), /starts with 74/],
  ["version", (_, v) => v.setUint32(8, 2, true), /version 2, expected 1/],
  ["kind", (_, v) => v.setUint32(12, 2, true), /vector kind is 2/],
  ["no dimensions", (_, v) => v.setUint32(48, 0, true), /0 dimensions/],
  ["too many dimensions", (_, v) => v.setUint32(48, 65536, true), /65536 dimensions/],
  ["passage tokens too few", (_, v) => v.setUint32(52, 2, true), /passage tokens are 2/],
  ["passage tokens too many", (_, v) => v.setUint32(52, 2 ** 31, true), /passage tokens are 2147483648/],
  ["more documents", (_, v) => v.setUint32(56, 2 ** 32 - 1, true), /header implies/],
  ["more passages", (_, v) => v.setUint32(60, 2 ** 32 - 1, true), /header implies/],
  ["one document less", (_, v) => v.setUint32(56, N - 1, true), /lengths imply/],
  ["a record too long", (_, v) => v.setUint32(64, v.getUint32(64, true) + 1, true), /lengths imply/],
  ["records cut elsewhere", (_, v) => [64, 68].forEach((at, i) => v.setUint32(at, v.getUint32(at, true) + 1 - 2 * i, true)), /record 0 is not/],
  ["too many passages of one", (_, v) => v.setUint32(COUNTS, P + 1, true), /document 0 has \d+ passages/],
  ["too few passages of the last", (_, v) => v.setUint32(COUNTS + 4 * (N - 1), 0, true), /the documents have \d+ passages, the header says/],
  ["an empty range", (_, v) => v.setUint32(RANGES + 4, 0, true), /reaches from 0 to 0/],
  ["a range past the end", (_, v) => v.setUint32(RANGES + 20, 96, true), /in a text of 95/],
  ["ranges that overlap", (_, v) => v.setUint32(RANGES + 8, 24, true), /reaches from 24/],
  ["two equal ids", (b) => replaced(b, '"id":"blank"', '"id":"plain"'), /two documents have the id plain/],
  ["a record with another key order", (b) => replaced(b, '"id":"blank","text":" \\n "', '"text":" \\n ","id":"blank"'), /record 2 is not the canonical/],
  ["a record that is not UTF-8", (b) => replaced(b, "blank", "bl\xffnk"), /record 2 is not UTF-8/],
  ["a byte order mark", (b) => replaced(b, '{"id":"blank"', '\xef\xbb\xbf{"id":"bl"'), /record 2 is not the canonical/],
]; // prettier-ignore

/** Replaces bytes, given as Latin-1, by as many others. */
function replaced(bytes, old, other) {
  const buffer = Buffer.from(bytes);
  const at = buffer.indexOf(old, 0, "latin1");
  assert.ok(at > 0 && old.length === other.length, old);
  buffer.write(other, at, "latin1");
  return buffer;
}

test("each field is checked, not only the checksum", async () => {
  const file = read(FLOAT32.file);
  await SearchIndex.load(engineFor(FLOAT32), sealed(file, () => {}));
  for (const [what, change, message] of DAMAGES) {
    const damaged = sealed(file, change);
    const error = await SearchIndex.load(engineFor(FLOAT32), damaged).then(() => assert.fail(what), (e) => e);
    assert.equal(error.code, "INDEX_FORMAT", what);
    assert.match(error.message, message, what);
  }
});

test("vectors that are no numbers, scales and codes out of range: INDEX_FORMAT", async () => {
  const float32 = [NaN, Infinity, -Infinity];
  for (const value of float32) {
    const damaged = sealed(read(FLOAT32.file), (_, v) => v.setFloat32(AFTER_RANGES + 4 * FLOAT32.dim + 4, value, true));
    await assert.rejects(SearchIndex.load(engineFor(FLOAT32), damaged), /vector 1 has an element/);
  }
  for (const scale of [...float32, -1e-9]) {
    const damaged = sealed(read(INT8.file), (_, v) => v.setFloat32(AFTER_RANGES, scale, true));
    await assert.rejects(SearchIndex.load(engineFor(INT8), damaged), code("INDEX_FORMAT"));
  }
  const damaged = sealed(read(INT8.file), (_, v) => v.setInt8(AFTER_RANGES + 4 * P + 3, -128));
  await assert.rejects(SearchIndex.load(engineFor(INT8), damaged), /vector 0 has the code -128/);
});

test("a sound index of another model: INDEX_STALE, never INDEX_FORMAT", async () => {
  const file = read(FLOAT32.file);
  await assert.rejects(SearchIndex.load({ ...engineFor(FLOAT32), fingerprint: "f".repeat(64) }, file), code("INDEX_STALE"));
  await assert.rejects(SearchIndex.load(fakeEngine({ dim: 8 }), file), code("INDEX_STALE"));
  const other = sealed(file, (bytes) => void (bytes[16] ^= 1));
  await assert.rejects(SearchIndex.load(engineFor(FLOAT32), other), code("INDEX_STALE"));
});

test("a file may lie anywhere in memory, and stays as it was", async () => {
  const file = read(INT8.file);
  const shifted = new Uint8Array(new SharedArrayBuffer(file.length + 3), 3);
  shifted.set(file);
  for (const form of [shifted, file.slice().buffer, Buffer.from(file)]) {
    const index = await SearchIndex.load(engineFor(INT8), form);
    assert.deepEqual(Buffer.from(await index.save()), Buffer.from(file));
  }
  for (const wrong of [undefined, null, "file", [1, 2]]) {
    await assert.rejects(SearchIndex.load(engineFor(INT8), wrong), code("INVALID_INPUT"));
  }
});

test("more than one checksum block, many vector blocks: back as they were, and found", async () => {
  const engine = fakeEngine({ dim: 64 });
  const documents = Array.from({ length: 5000 }, (_, i) => ({ id: `${i}`, text: `number ${i} of many` }));
  for (const vectors of ["float32", "int8"]) {
    const index = new SearchIndex(engine, { vectors });
    await index.add(documents);
    const file = await index.save();
    assert.ok(vectors === "int8" || file.length > 2 ** 20);
    const loaded = await SearchIndex.load(engine, file);
    assert.equal((await loaded.query("number 4321 of many", { k: 1 }))[0].id, "4321");
    assert.deepEqual(await loaded.query("number 77"), await index.query("number 77"));
  }
});

test("loading and saving can be aborted", async () => {
  const index = await SearchIndex.load(engineFor(INT8), read(INT8.file));
  const signal = AbortSignal.abort();
  await assert.rejects(SearchIndex.load(engineFor(INT8), read(INT8.file), { signal }), code("ABORTED"));
  await assert.rejects(index.save({ signal }), code("ABORTED"));
  assert.equal((await index.save()).length, read(INT8.file).length);
});

test("an index that no memory holds: INDEX_TOO_LARGE, with the size", async () => {
  const entry = { document: { id: "1", text: "a" }, passageCount: 2 ** 32 - 1, ranges: Uint32Array.of(), row: 0 };
  const content = { fingerprint: "0".repeat(64), dim: 384, passageTokens: 16, rows: { table: { kind: "float32" } }, entries: [entry] };
  const writing = writeIndex(/** @type {any} */ (content), new Pacer(undefined, "saving"));
  const bytes = 64 + 8 + (2 ** 32 - 1) * (8 + 4 * 384) + 21 + 32;
  await assert.rejects(writing, (error) => code("INDEX_TOO_LARGE")(error) && error.message.includes(` ${bytes} bytes`));
});
