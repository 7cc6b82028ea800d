/**
 * Writes tests/golden/similarity.json: pairs of vectors with their cosines, and texts classified by
 * given vectors. Both languages have to reproduce it to the last bit.
 *
 *     node tools/generate_golden_similarity.mjs [FILE]
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { classify } from "../web/classify.js";
import { similarity } from "../web/similarity.js";

const OUT = process.argv[2] ?? fileURLToPath(new URL("../tests/golden/similarity.json", import.meta.url));
const DIM = 24;

let state = 7;
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 31 - 1;
};
const numbers = (length) => Array.from({ length }, random);
const floats = (length) => Array.from(Float32Array.from(numbers(length)));

const pairs = [
  ...[1, 2, 3, 17, 64].map((length) => [numbers(length), numbers(length)]),
  [floats(384), floats(384)],
  [[1e300, 2e300], [3e-320, 1e-300]],
  [[0, 0], [1, 2]],
  [[1, 2], [-2, -4]],
  [[3, 4], [6, 8]],
  [[], []],
].map(([a, b]) => ({ a, b, cosine: similarity(a, b) }));

const names = ["text", "one", "two", "three"];
const vectors = Object.fromEntries(names.map((name) => [name, floats(DIM)]));
vectors.four = vectors.one; // equal scores
const engine = { embedBatch: (texts) => texts.map((text) => Float32Array.from(vectors[text])) };
const questions = [
  { labels: ["one", "two", "three", "four"] },
  { labels: ["four", "three", "two", "one"], threshold: 0 },
  { labels: [] },
  { labels: { x: ["one", "two"], y: ["three"], z: ["one", "two"], w: ["text"] } },
  { labels: { x: ["one", "two", "three"], y: ["two", "three", "one"] }, threshold: -0.5 },
];
const classes = questions.map(({ labels, threshold }) => ({
  labels,
  ...(threshold === undefined ? {} : { threshold }),
  ranking: classify(engine, "text", labels, { threshold }).map(({ label, score }) => [label, score]),
}));

const lines = (cases) => cases.map((each) => `\n  ${JSON.stringify(each)}`).join(",");
writeFileSync(
  OUT,
  `{"pairs": [${lines(pairs)}\n ],\n "vectors": ${JSON.stringify(vectors)},\n "classes": [${lines(classes)}\n ]}\n`,
);
