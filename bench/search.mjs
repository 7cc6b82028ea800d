/**
 * Search over many passages on one thread: time, longest pause, memory.
 *
 *     node --expose-gc bench/search.mjs [--passages 100000] [--dims 384] [--json]
 *
 * Vectors and texts are made up: words by Zipf's law, vectors of random direction. The engine is a
 * stand-in that costs next to nothing, so that what is measured is the index.
 */
import { SearchIndex } from "../web/search.js";

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const PASSAGES = option("passages", 100_000);
const DIMS = option("dims", 384);
const QUERIES = 31;
const WORDS_A_PASSAGE = 40;
const VOCABULARY = 50_000;
const MB = 2 ** 20;

/** Numbers below 1, the same in every run (mulberry32). */
function randomFrom(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomFrom(1);

function unitVector() {
  const vector = new Float32Array(DIMS);
  let squares = 0;
  for (let i = 0; i < DIMS; i++) {
    vector[i] = random() - 0.5;
    squares += vector[i] ** 2;
  }
  const length = Math.sqrt(squares);
  return vector.map((x) => x / length);
}

const word = () => `w${Math.floor(VOCABULARY ** random()).toString(36)}`;
const text = (words) => Array.from({ length: words }, word).join(" ");

const engine = {
  dim: DIMS,
  fingerprint: "0".repeat(64),
  maxSeqLen: 128,
  embed: unitVector,
  embedBatch: (texts) => texts.map(unitVector),
  tokenCount: () => ({ tokens: 2 + WORDS_A_PASSAGE, truncated: false }),
};

/** The longest time that nothing else could run during some work. */
async function longestPause(work) {
  let last = performance.now();
  let longest = 0;
  let going = true;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (going) setImmediate(tick);
  };
  setImmediate(tick);
  const start = performance.now();
  const value = await work();
  const ms = performance.now() - start;
  await new Promise((resolve) => setImmediate(resolve));
  going = false;
  return { value, ms, longest };
}

async function queries(index, run) {
  const times = [];
  let pause = 0;
  for (let i = 0; i < QUERIES; i++) {
    const { ms, longest } = await longestPause(() => run(index, i));
    times.push(ms);
    pause = Math.max(pause, longest);
  }
  times.sort((one, other) => one - other);
  return { median: times[QUERIES >> 1], fastest: times[0], slowest: times[QUERIES - 1], pause };
}

function memory() {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return { heap: heapUsed / MB, buffers: arrayBuffers / MB };
}

const minus = (after, before) => ({ heap: after.heap - before.heap, buffers: after.buffers - before.buffers });

const documents = Array.from({ length: PASSAGES }, (_, i) => ({ id: String(i), text: text(WORDS_A_PASSAGE) }));
const results = {};
for (const vectors of ["float32", "int8"]) {
  const before = memory();
  const index = new SearchIndex(engine, { vectors });
  const add = await longestPause(() => index.add(documents, { batchSize: 64 }));
  const held = minus(memory(), before);
  const meaning = await queries(index, () => index.query(unitVector()));
  const save = await longestPause(() => index.save());
  const load = await longestPause(() => SearchIndex.load(engine, save.value));
  const figures = { add, meaning, held, save, load, bytes: save.value.length };
  if (vectors === "float32") {
    const start = memory();
    figures.keywords = await longestPause(() => index.prepareKeywords());
    figures.keywordMemory = minus(memory(), start);
    figures.keyword = await queries(index, () => index.query(text(4), { mode: "keyword" }));
    figures.hybrid = await queries(index, () => index.query(text(4), { mode: "hybrid" }));
  }
  for (const part of [add, save, load, figures.keywords]) delete part?.value;
  results[vectors] = figures;
}

if (process.argv.includes("--json")) {
  console.log(JSON.stringify({ passages: PASSAGES, dims: DIMS, ...results }));
} else {
  console.log(`${PASSAGES} passages of ${DIMS} dimensions, one thread; ms, longest pause in brackets`);
  const once = ({ ms, longest }) => `${ms.toFixed(0)} (${longest.toFixed(0)})`;
  const many = ({ median, fastest, slowest, pause }) =>
    `median ${median.toFixed(1)}, ${fastest.toFixed(1)} … ${slowest.toFixed(1)} (${pause.toFixed(0)})`;
  const space = ({ heap, buffers }) => `${buffers.toFixed(0)} MB vectors, ${heap.toFixed(0)} MB documents and passages`;
  for (const [name, figures] of Object.entries(results)) {
    console.log(`\n${name}`);
    console.log(`  query by meaning   ${many(figures.meaning)}`);
    console.log(`  memory             ${space(figures.held)}`);
    console.log(`  add, no embedding  ${once(figures.add)}`);
    console.log(`  save               ${once(figures.save)}, ${(figures.bytes / MB).toFixed(0)} MB`);
    console.log(`  load               ${once(figures.load)}`);
    if (figures.keywords === undefined) continue;
    console.log(`  make keyword half  ${once(figures.keywords)}, ${figures.keywordMemory.heap.toFixed(0)} MB`);
    console.log(`  query by keyword   ${many(figures.keyword)}`);
    console.log(`  hybrid query       ${many(figures.hybrid)}`);
  }
}
