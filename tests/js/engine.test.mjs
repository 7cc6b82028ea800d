/** The Engine class over a fake bridge: copies, types, errors, the end of its life. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine, bridgeError } from "../../web/engine.js";
import { classify } from "../../web/tern-engine.js";
import { fakeBridge } from "./support/fakes.mjs";

const code = (expected) => (error) => (assert.equal(error.code, expected), true);

test("vectors belong to the caller: later calls and memory growth leave them alone", () => {
  const engine = new Engine(fakeBridge());
  const first = engine.embed("abc");
  const second = engine.embed("abcd");
  assert.deepEqual([...first], [4, 1, 0]);
  assert.deepEqual([...second], [5, 2, 0]);
  first.fill(9);
  assert.deepEqual([...engine.embed("abc")], [4, 3, 0]);
  assert.notEqual(first.buffer, second.buffer);
  assert.equal(first.buffer.byteLength, 12);
});

test("a plain text that is not too long is written into the kernel's memory; others are Python's", () => {
  const engine = new Engine(fakeBridge());
  // The fake marks texts that it was not handed, but found in memory, with a sign more.
  for (const [text, length] of [["abc", 4], ["", 1], ["abcdab", 7], ["abcdabc", 7], ["abx", 3], ["abé", 3], ["a", 2]]) {
    assert.equal(engine.embed(text)[0], length, text);
  }
});

test("a batch: one vector a text, in order, each with a buffer of its own", () => {
  const engine = new Engine(fakeBridge());
  const vectors = engine.embedBatch(["a", "bb", "ccc"]);
  assert.deepEqual(vectors.map((v) => [...v]), [[1, 1, 0], [2, 2, 0], [3, 3, 0]]);
  assert.ok(vectors.every((v) => v instanceof Float32Array && v.buffer.byteLength === 12));
  assert.deepEqual(engine.embedBatch([]), []);
});

test("tokens, counts and facts", () => {
  const engine = new Engine(fakeBridge());
  const ids = engine.tokenize("hello");
  assert.ok(ids instanceof Uint32Array);
  assert.deepEqual([...ids], [101, 5]);
  assert.deepEqual(engine.tokenCount("short"), { tokens: 5, truncated: false });
  assert.deepEqual(engine.tokenCount("a longer text"), { tokens: 8, truncated: true });
  assert.equal(engine.dim, 3);
  assert.equal(engine.maxSeqLen, 8);
  assert.equal(engine.fingerprint, "f".repeat(64));
  assert.equal(JSON.parse(engine.config_summary()).engine, "tern-engine");
});

test("anything but a string is INVALID_INPUT, and Python never sees it", () => {
  const engine = new Engine(fakeBridge({ embed: () => assert.fail("called"), embed_batch: () => assert.fail("called") }));
  for (const value of [undefined, null, 7, ["a"], new String("a"), Symbol("a"), 7n]) {
    for (const method of ["embed", "tokenize", "tokenCount"]) {
      assert.throws(() => engine[method](value), code("INVALID_INPUT"));
    }
    assert.throws(() => engine.embedBatch(["fine", value]), /texts\[1\] must be a string/);
  }
  for (const value of [undefined, null, "a", { length: 1, 0: "a" }]) {
    assert.throws(() => engine.embedBatch(value), code("INVALID_INPUT"));
  }
  assert.throws(() => engine.embedBatch(new Array(2)), code("INVALID_INPUT"));
});

test("−1 from Python becomes the error that Python had", () => {
  const failing = { embed: () => -1, embed_written: () => -1, embed_batch: () => -1, tokenize: () => -1, token_count: () => -1 };
  const message = "tern-engine: text is odd, expected even";
  const engine = new Engine(fakeBridge({ ...failing, error_code: "INVALID_INPUT", error_message: message }));
  for (const call of [
    () => engine.embed("a"),
    () => engine.embed("[a]"),
    () => engine.embedBatch(["a"]),
    () => engine.tokenize("a"),
    () => engine.tokenCount("a"),
  ]) {
    assert.throws(call, { name: "TernError", code: "INVALID_INPUT", message });
  }
});

test("dispose frees once; everything afterwards is DISPOSED", () => {
  const bridge = fakeBridge();
  const engine = new Engine(bridge);
  const vector = engine.embed("kept");
  engine.dispose();
  engine.dispose();
  assert.equal(bridge.disposed, 1);
  assert.equal(bridge.destroyed, 1);
  for (const call of [
    () => engine.embed("a"),
    () => engine.embed(7),
    () => engine.embedBatch([]),
    () => engine.tokenize("a"),
    () => engine.tokenCount("a"),
    () => engine.config_summary(),
    () => engine.classify("a", ["b"]),
  ]) {
    assert.throws(call, code("DISPOSED"));
  }
  assert.deepEqual([...vector], [4, 1, 0]);
});

test("an error code that the list does not have cannot be made", () => {
  assert.throws(() => bridgeError({ error_code: "NO_SUCH_CODE", error_message: "" }), TypeError);
});

test("classify ranks labels by cosine, keeps ties in order, takes none", () => {
  const table = { text: [1, 0, 0], near: [0.9, 0.1, 0], far: [0, 1, 0], opposite: [-1, 0, 0], far2: [0, 0, 1] };
  const engine = { embedBatch: (texts) => texts.map((t) => Float32Array.from(table[t])) };
  const ranked = classify(engine, "text", ["far", "opposite", "near", "far2"]);
  assert.deepEqual(ranked.map((r) => r.label), ["near", "far", "far2", "opposite"]);
  assert.ok(Math.abs(ranked[0].score - 0.9 / Math.hypot(0.9, 0.1)) < 1e-6);
  assert.equal(ranked[3].score, -1);
  assert.deepEqual(classify(engine, "text", []), []);
  for (const labels of [undefined, "near", { near: 1 }]) {
    assert.throws(() => classify(engine, "text", labels), code("INVALID_INPUT"));
  }
  assert.throws(() => classify(engine, 7, ["near"]), code("INVALID_INPUT"));
});

test("engine.classify is the same, and refuses labels that are no strings", () => {
  const engine = new Engine(fakeBridge());
  assert.equal(engine.classify("abc", ["abc", "d"]).length, 2);
  assert.throws(() => engine.classify("abc", ["abc", 7]), code("INVALID_INPUT"));
});
