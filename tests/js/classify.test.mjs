/** classify: labels as texts or by examples, a threshold, engines of both kinds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { classify } from "../../web/classify.js";
import { code, fakeEngine } from "./support/search-engine.mjs";

/** Embeds "x,y" as that vector. */
const engine = { embedBatch: (texts) => texts.map((text) => Float32Array.from(text.split(","), Number)) };
const asynchronous = { embedBatch: async (texts) => engine.embedBatch(texts) };
const ROOT = Math.SQRT1_2;

test("labels as texts: cosines, best first, equal ones in their order", () => {
  const ranked = classify(engine, "1,0", ["0,1", "3,0", "-1,0", "0,-1"]);
  assert.deepEqual(ranked, [{ label: "3,0", score: 1 }, { label: "0,1", score: 0 }, { label: "0,-1", score: 0 }, { label: "-1,0", score: -1 }]);
  assert.deepEqual(classify(engine, "1,0", []), []);
});

test("labels by examples: those speak, all of them, and not the label's name", () => {
  const ranked = classify(engine, "1,0", { up: ["0,1"], both: ["1,0", "0,1"], down: ["0,-1", "0,-1"] });
  assert.deepEqual(ranked.map(({ label }) => label), ["both", "up", "down"]);
  assert.ok(Math.abs(ranked[0].score - ROOT) < 1e-12);
  assert.deepEqual(classify(engine, "1,0", { none: ["1,0", "-1,0"] }), [{ label: "none", score: 0 }]);
  assert.deepEqual(classify(engine, "1,0", {}), []);
});

test("a threshold leaves out what scores less", () => {
  assert.deepEqual(classify(engine, "1,0", ["0,1", "1,0"], { threshold: 0.5 }), [{ label: "1,0", score: 1 }]);
  assert.equal(classify(engine, "1,0", ["0,1", "1,0"], { threshold: 0 }).length, 2);
  assert.deepEqual(classify(engine, "1,0", { up: ["0,1"] }, { threshold: 0.1 }), []);
  for (const threshold of [NaN, "0.5", null]) {
    assert.throws(() => classify(engine, "1,0", ["0,1"], { threshold }), code("INVALID_INPUT"));
  }
});

test("an asynchronous engine makes it a promise of the same", async () => {
  const labels = { up: ["0,1"], right: ["1,0"] };
  const promise = classify(asynchronous, "1,0.5", labels, { threshold: 0 });
  assert.ok(promise instanceof Promise);
  assert.deepEqual(await promise, classify(engine, "1,0.5", labels, { threshold: 0 }));
});

test("examples are those of the call, whatever becomes of their array meanwhile", async () => {
  const labels = { up: ["0,1"], right: ["1,0"] };
  const promise = classify(asynchronous, "1,0.5", labels);
  labels.up.push("5,5");
  labels.right.length = 0;
  assert.deepEqual(await promise, classify(engine, "1,0.5", { up: ["0,1"], right: ["1,0"] }));
});

test("one batch for all", () => {
  const counting = fakeEngine();
  classify(counting, "text", { a: ["one", "two"], b: ["three"] });
  assert.deepEqual(counting.batches, [["text", "one", "two", "three"]]);
});

test("what is no text, label or example: INVALID_INPUT, and nothing is embedded", () => {
  const never = { embedBatch: () => assert.fail("embedded") };
  for (const labels of [undefined, null, "a", 7, ["a", 7], [, "a"], { a: [] }, { a: "text" }, { a: [7] }, { a: ["x", null] }]) {
    assert.throws(() => classify(never, "text", labels), code("INVALID_INPUT"));
  }
  assert.throws(() => classify(never, 7, ["a"]), code("INVALID_INPUT"));
  assert.throws(() => classify(never, "text", ["a"], { treshold: 1 }), /no option treshold, only threshold/);
  for (const wrong of ["text", undefined, Promise.resolve(never)]) {
    assert.throws(() => classify(/** @type {any} */ (wrong), "text", ["a"]), code("INVALID_INPUT"));
  }
});
