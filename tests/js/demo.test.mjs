/** The demo's pure half: its corpus, its stored vectors, its search. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { entryText, nearest, readCorpus, readVectors } from "../../web/demo/corpus.js";
import { readJson } from "./support/site.mjs";

const MODEL = "ab".repeat(32);
const CORPUS = "cd".repeat(32);
const WANTED = { fingerprint: MODEL, corpusSha256: CORPUS, count: 2, dim: 3 };

/** A vectors file, as tools/build_demo_vectors.py lays it out. */
function file({ magic = "TERNVEC1", model = MODEL, corpus = CORPUS, count = 2, dim = 3, floats = [1, 2, 3, 4, 5, 6] } = {}) {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(count, 0);
  head.writeUInt32LE(dim, 4);
  const rows = Buffer.from(Float32Array.from(floats).buffer);
  const parts = [Buffer.from(magic), Buffer.from(model, "hex"), Buffer.from(corpus, "hex"), head, rows];
  const whole = Buffer.concat(parts);
  const shifted = Buffer.concat([Buffer.alloc(3), whole]); // a view that is not aligned
  return new Uint8Array(shifted.buffer, shifted.byteOffset + 3, whole.length);
}

test("stored vectors are read where they fit", () => {
  assert.deepEqual([...readVectors(file(), WANTED)], [1, 2, 3, 4, 5, 6]);
});

test("and left alone where they are another model's, another corpus's or damaged", () => {
  for (const other of [
    { magic: "TERNVEC2" },
    { model: CORPUS },
    { corpus: MODEL },
    { count: 3 },
    { dim: 2 },
    { floats: [1, 2, 3, 4, 5] },
  ]) {
    assert.equal(readVectors(file(other), WANTED), null, JSON.stringify(other));
  }
  assert.equal(readVectors(new Uint8Array(0), WANTED), null);
});

test("the nearest come first, equal ones in the corpus's order, no more than asked for", () => {
  const vectors = Float32Array.of(0, 1, 1, 0, 0.6, 0.8, 1, 0);
  const hits = nearest(Float32Array.of(1, 0), vectors, 3);
  assert.deepEqual(hits.map((hit) => hit.index), [1, 3, 2]);
  assert.equal(hits[0].score, 1);
  assert.equal(nearest(Float32Array.of(1, 0), vectors, 99).length, 4);
});

test("the corpus: words apart, every entry whole", () => {
  const corpus = readCorpus(readJson("assets/demo-corpus.json"));
  assert.ok(corpus.length > 2000);
  for (const { word, synonyms, kind, definition } of corpus) {
    assert.ok(word && kind && definition);
    assert.ok(!word.includes(";") && !synonyms.includes(word));
  }
  const entry = corpus.find(({ word }) => word === "grief");
  assert.equal(entryText(entry), `grief (feeling): ${entry.definition}`);
});
