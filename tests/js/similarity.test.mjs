import assert from "node:assert/strict";
import { test } from "node:test";
import { similarity } from "../../web/tern-engine.js";

const code = (expected) => (error) => {
  assert.equal(error.code, expected);
  assert.match(error.message, /^tern-engine: /);
  return true;
};

test("the cosine of known angles", () => {
  assert.equal(similarity([1, 0], [0, 1]), 0);
  assert.equal(similarity([2, 0], [5, 0]), 1);
  assert.equal(similarity([1, 2], [-1, -2]), -1);
  assert.ok(Math.abs(similarity(Float32Array.of(1, 1), Int8Array.of(0, 3)) - Math.SQRT1_2) < 1e-12);
});

test("never outside −1…1, and exactly 1 of a vector with itself", () => {
  for (let seed = 1; seed < 200; seed++) {
    const vector = Float32Array.from({ length: 384 }, (_, i) => Math.sin(seed * (i + 1)));
    const cosine = similarity(vector, vector);
    assert.ok(cosine <= 1 && cosine > 1 - 1e-12);
  }
});

test("a zero vector is like nothing: 0, not NaN", () => {
  assert.equal(similarity([0, 0], [1, 2]), 0);
  assert.equal(similarity(new Float32Array(4), new Float32Array(4)), 0);
  assert.equal(similarity([], []), 0);
});

test("huge and tiny numbers neither overflow nor vanish", () => {
  assert.equal(similarity([1e300, 0], [1e300, 0]), 1);
  assert.equal(similarity([1e-300, 0], [3e-300, 0]), 1);
  assert.ok(Math.abs(similarity([1e308, 1e308], [1e308, 0]) - Math.SQRT1_2) < 1e-12);
});

test("vectors of different lengths: DIMENSION", () => {
  assert.throws(() => similarity([1], [1, 2]), code("DIMENSION"));
});

test("anything but two vectors of finite numbers: INVALID_INPUT", () => {
  const strange = [undefined, null, "text", 3, {}, { length: 1, 0: 1 }, new DataView(new ArrayBuffer(8)), BigInt64Array.of(1n)];
  for (const value of strange) {
    assert.throws(() => similarity(value, [1]), code("INVALID_INPUT"));
    assert.throws(() => similarity([1], value), code("INVALID_INPUT"));
  }
  for (const element of [NaN, Infinity, "1", undefined, null, 1n]) {
    assert.throws(() => similarity([element], [1]), code("INVALID_INPUT"));
    assert.throws(() => similarity([0], [element]), code("INVALID_INPUT"));
  }
});
