/** similarity and classify against the cases that Python reads, too: tests/golden/similarity.json. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { classify } from "../../web/classify.js";
import { similarity } from "../../web/similarity.js";

const file = new URL("../golden/similarity.json", import.meta.url);
const { pairs, vectors, classes } = JSON.parse(readFileSync(file, "utf8"));
const engine = { embedBatch: (texts) => texts.map((text) => Float32Array.from(vectors[text])) };

test("golden cosines, to the last bit", () => {
  assert.ok(pairs.length > 8);
  for (const { a, b, cosine } of pairs) assert.equal(similarity(a, b), cosine);
});

test("golden rankings of labels, to the last bit", () => {
  assert.ok(classes.length > 3);
  for (const { labels, threshold, ranking } of classes) {
    const found = classify(engine, "text", labels, { threshold });
    assert.deepEqual(found.map(({ label, score }) => [label, score]), ranking);
  }
});
