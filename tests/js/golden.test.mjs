/** The built engine in Node: golden ids and vectors, and what a caller may rely on. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { bits, pathOf, readJson, shim, SITE } from "./support/site.mjs";

const golden = readJson("tests/golden/vectors.json");
const tokens = readJson("tests/golden/tokens.json");
const LONG = "many words one after another ".repeat(60);
let module;
let engine;

before(async () => {
  module = await shim();
  engine = await module.load();
});
after(() => engine.dispose());

const code = (expected) => (error) => {
  assert.ok(error instanceof module.TernError);
  assert.equal(error.code, expected);
  assert.match(error.message, /^tern-engine: /);
  return true;
};

test("the build says what it is", () => {
  const manifest = JSON.parse(readFileSync(new URL("manifest.json", SITE), "utf8"));
  const summary = JSON.parse(engine.config_summary());
  assert.equal(engine.fingerprint, manifest.fingerprint);
  assert.equal(engine.fingerprint, golden.model);
  assert.equal(summary.fingerprint, manifest.fingerprint);
  assert.equal(summary.build, "int4");
  assert.equal(summary.host, "pyodide");
  assert.equal(summary.model_bytes, manifest.files.model.bytes);
  assert.equal(engine.dim, 384);
  assert.equal(engine.maxSeqLen, 128);
});

test("a host without the memory for a model refuses it, and the next load is sound", async () => {
  const { grow } = WebAssembly.Memory.prototype;
  const model = readFileSync(pathOf("assets/model-int4.bin"));
  WebAssembly.Memory.prototype.grow = function (pages) {
    // The kernel's own memory is small until the model comes; the interpreter's never is.
    if (this.buffer.byteLength < 2 ** 23) throw new RangeError("Maximum memory size exceeded");
    return grow.call(this, pages);
  };
  try {
    await assert.rejects(module.load({ model }), code("KERNEL_MEMORY"));
  } finally {
    WebAssembly.Memory.prototype.grow = grow;
  }
  const own = await module.load({ model });
  assert.deepEqual(bits(own.embed("a text")), bits(engine.embed("a text")));
  own.dispose();
});

test("a text alone and in a batch: the same bits, whoever lays it into the kernel's memory", () => {
  const all = [...Array(0x180).keys()].map((code) => `a${String.fromCharCode(code)}b`);
  const lengths = [0, 1, 1023, 1024, 1025].map((length) => "many words ".repeat(99).slice(0, length));
  const texts = [...all, ...lengths, "\0", "\u0001", "\u0002", "a [MASK] b", "\ud83d\ude00", "\ud83d", "a\0\u0002b"];
  const batch = engine.embedBatch(texts);
  texts.forEach((text, i) => assert.deepEqual(bits(engine.embed(text)), bits(batch[i]), JSON.stringify(text)));
});

test("golden ids", () => {
  for (const { text, repeat = 1, ids, truncated } of tokens.texts) {
    const whole = text.repeat(repeat);
    assert.deepEqual([...engine.tokenize(whole)], ids, JSON.stringify(text));
    assert.deepEqual(engine.tokenCount(whole), { tokens: ids.length, truncated });
  }
});

test("golden vectors come close to the reference", () => {
  for (const { text, ids, vector } of golden.cases) {
    assert.deepEqual([...engine.tokenize(text)], ids);
    const found = engine.embed(text);
    assert.ok(module.similarity(found, vector) >= 0.9999, JSON.stringify(text));
    assert.ok(found.every((x, i) => Math.abs(x - vector[i]) <= 2e-3), JSON.stringify(text));
  }
});

test("500 texts have the SHA-256 that every host gives them, one by one and in a batch", () => {
  const single = createHash("sha256");
  for (const text of golden.texts) single.update(bits(engine.embed(text)));
  assert.equal(single.digest("hex"), golden.sha256);
  const batch = createHash("sha256");
  for (const vector of engine.embedBatch(golden.texts)) batch.update(bits(vector));
  assert.equal(batch.digest("hex"), golden.sha256);
});

test("every vector is of length 1, whatever the text", () => {
  for (const text of ["", " \n\t ", "a", "\ud800", "🏳️‍🌈", "\u0000", "[MASK]", "a".repeat(50_000), LONG]) {
    const length = Math.hypot(...engine.embed(text));
    assert.ok(Math.abs(length - 1) < 1e-5, JSON.stringify(text.slice(0, 20)));
  }
  assert.deepEqual(engine.embedBatch([]), []);
});

test("all of Unicode reaches Python intact, lone surrogates too", () => {
  // A surrogate is read as U+FFFD, which is cleaned away: the words around it join.
  const joined = [...engine.tokenize("ab")];
  for (const lone of ["\ud800", "\udbff", "\udc00", "\udfff", "\udc00\ud800"]) {
    assert.deepEqual([...engine.tokenize(`a${lone}b`)], joined);
  }
  assert.deepEqual([...engine.tokenize("a\ud840\udc00b")], [101, 1037, 100, 1038, 102]);
  // Each code point is itself in Python: as many [UNK] as there are ideographs of the plane.
  const plane = Array.from({ length: 120 }, (_, i) => String.fromCodePoint(0x20000 + i)).join("");
  assert.equal(engine.tokenize(plane).filter((id) => id === 100).length, 120);
});

test("a vector that is kept stays as it is: later calls, batches and growth do not touch it", () => {
  const kept = engine.embed("kept");
  const batch = engine.embedBatch(["kept", "also kept"]);
  const before = [kept, ...batch].map((vector) => bits(vector).toString("hex"));
  for (let i = 0; i < 50; i++) engine.embed(`other ${i} ${LONG}`);
  engine.embedBatch(Array.from({ length: 300 }, (_, i) => `${LONG} ${i}`));
  engine.tokenize(LONG);
  assert.deepEqual([kept, ...batch].map((vector) => bits(vector).toString("hex")), before);
  assert.equal(before[0], before[1]);
  kept.fill(0);
  assert.equal(bits(engine.embed("kept")).toString("hex"), before[0]);
});

test("truncation shows", () => {
  assert.deepEqual(engine.tokenCount("a short text"), { tokens: 5, truncated: false });
  assert.deepEqual(engine.tokenCount("word ".repeat(126)), { tokens: 128, truncated: false });
  assert.deepEqual(engine.tokenCount("word ".repeat(127)), { tokens: 128, truncated: true });
  assert.deepEqual(engine.embed("word ".repeat(127)), engine.embed("word ".repeat(500)));
});

test("similarity and classify see meaning", () => {
  const [boat, ship, tax] = ["a small boat", "a little ship", "income tax law"].map((t) => engine.embed(t));
  assert.ok(module.similarity(boat, ship) > module.similarity(boat, tax) + 0.2);
  const ranked = engine.classify("my parcel has not arrived yet", ["weather", "delivery", "cooking"]);
  assert.equal(ranked[0].label, "delivery");
  assert.deepEqual(module.classify(engine, "my parcel has not arrived yet", ["weather", "delivery", "cooking"]), ranked);
});

test("arguments of the wrong type", () => {
  for (const value of [undefined, null, 7, ["a"], {}]) {
    assert.throws(() => engine.embed(value), code("INVALID_INPUT"));
    assert.throws(() => engine.embedBatch([value]), code("INVALID_INPUT"));
  }
});

test("a model of the caller's own, as path, URL, Buffer, Uint8Array and ArrayBuffer", async () => {
  const path = pathOf("assets/model-int4.bin");
  const buffer = readFileSync(path);
  const plain = new Uint8Array(buffer);
  const expected = bits(engine.embed("the same")).toString("hex");
  for (const model of [path, new URL("assets/model-int4.bin", new URL("../../", SITE)), buffer, plain, plain.buffer]) {
    const own = await module.load({ model });
    assert.equal(own.fingerprint, engine.fingerprint);
    assert.equal(bits(own.embed("the same")).toString("hex"), expected);
    own.dispose();
  }
  assert.equal(plain.length, buffer.length); // not taken away from the caller
});

test("models that are refused, each with its code", async () => {
  const good = new Uint8Array(readFileSync(pathOf("assets/model-int4.bin")));
  const changed = (at, value) => {
    const copy = good.slice();
    copy[at] = value;
    return copy;
  };
  for (const [model, expected] of [
    [new Uint8Array(10), "MODEL_TOO_SHORT"],
    [changed(0, 0x58), "MODEL_MAGIC"],
    [changed(4, 9), "MODEL_VERSION"],
    [changed(6, 1), "MODEL_OTHER_BUILD"],
    [good.subarray(0, good.length - 1), "MODEL_LENGTH"],
    [changed(100_000, good[100_000] ^ 1), "MODEL_CHECKSUM"],
    [pathOf("assets/no-such-model.bin"), "LOAD_NETWORK"],
  ]) {
    await assert.rejects(module.load({ model }), code(expected));
  }
});

test("dispose frees: loading again and again holds no more memory", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const resident = [];
  for (let round = 0; round < 5; round++) {
    let own = await module.load();
    own.embed("something");
    own.dispose();
    assert.throws(() => own.embed("a"), code("DISPOSED"));
    own = undefined;
    for (let i = 0; i < 5; i++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      collect();
    }
    resident.push(process.memoryUsage().rss / 2 ** 20);
  }
  // One interpreter and model are well over 50 MiB: three that stayed would show.
  assert.ok(resident[4] - resident[1] < 90, resident.join(" "));
});
