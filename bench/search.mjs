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

/** How long some work took, what it took of the processor, and the longest time that nothing else could run. */
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
  const used = process.cpuUsage();
  const value = await work();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(used);
  await new Promise((resolve) => setImmediate(resolve));
  going = false;
  return { value, ms, longest, cpu: (user + system) / 1000 };
}

async function queries(index, run) {
  const times = [];
  const cpu = [];
  let pause = 0;
  for (let i = 0; i < QUERIES; i++) {
    const query = await longestPause(() => run(index, i));
    times.push(query.ms);
    cpu.push(query.cpu);
    pause = Math.max(pause, query.longest);
  }
  for (const list of [times, cpu]) list.sort((one, other) => one - other);
  const middle = QUERIES >> 1;
  return { median: times[middle], fastest: times[0], slowest: times[QUERIES - 1], cpu: cpu[middle], pause };
}

async function memory() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100)); // buffers are freed beside
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return { heap: heapUsed / MB, buffers: arrayBuffers / MB };
}

const minus = (after, before) => ({ heap: after.heap - before.heap, buffers: after.buffers - before.buffers });

/** All figures of one kind of index. What it holds is gone when it has returned. */
async function measure(vectors) {
  const before = await memory();
  const index = new SearchIndex(engine, { vectors });
  const add = await longestPause(() => index.add(documents, { batchSize: 64 }));
  const held = minus(await memory(), before);
  const meaning = await queries(index, () => index.query(unitVector()));
  const save = await longestPause(() => index.save());
  const load = await longestPause(() => SearchIndex.load(engine, save.value));
  const figures = { add, meaning, held, save, load, bytes: save.value.length };
  if (vectors === "float32") {
    const start = await memory();
    figures.keywords = await longestPause(() => index.prepareKeywords());
    figures.keywordMemory = minus(await memory(), start);
    figures.keyword = await queries(index, () => index.query(text(4), { mode: "keyword" }));
    figures.hybrid = await queries(index, () => index.query(text(4), { mode: "hybrid" }));
  }
  for (const part of [add, save, load, figures.keywords]) delete part?.value;
  return figures;
}

const documents = Array.from({ length: PASSAGES }, (_, i) => ({ id: String(i), text: text(WORDS_A_PASSAGE) }));
const results = {};
for (const vectors of ["float32", "int8"]) {
  results[vectors] = await measure(vectors);
}

if (process.argv.includes("--json")) {
  console.log(JSON.stringify({ passages: PASSAGES, dims: DIMS, ...results }));
} else {
  console.log(`${PASSAGES} passages of ${DIMS} dimensions, one thread; ms; in brackets the longest pause`);
  const once = ({ ms, longest, cpu }) => `${ms.toFixed(0)} (${longest.toFixed(0)}); CPU ${cpu.toFixed(0)}`;
  const many = ({ median, fastest, slowest, cpu, pause }) =>
    `median ${median.toFixed(1)}, ${fastest.toFixed(1)} … ${slowest.toFixed(1)} (${pause.toFixed(0)}); CPU median ${cpu.toFixed(1)}`;
  const space = ({ heap, buffers }) => `${buffers.toFixed(0)} MB vectors, ${heap.toFixed(0)} MB documents and passages`;
  for (const [name, figures] of Object.entries(results)) {
    console.log(`\n${name}`);
    console.log(`  query by meaning   ${many(figures.meaning)}`);
    console.log(`  memory             ${space(figures.held)}`);
    console.log(`  add, no embedding  ${once(figures.add)}`);
    console.log(`  save               ${once(figures.save)}; ${(figures.bytes / MB).toFixed(0)} MB`);
    console.log(`  load               ${once(figures.load)}`);
    if (figures.keywords === undefined) continue;
    console.log(`  make keyword half  ${once(figures.keywords)}; ${figures.keywordMemory.heap.toFixed(0)} MB`);
    console.log(`  query by keyword   ${many(figures.keyword)}`);
    console.log(`  hybrid query       ${many(figures.hybrid)}`);
  }
}
