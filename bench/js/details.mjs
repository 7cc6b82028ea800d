/**
 * What one text at a time on one thread does not show: node --expose-gc details.mjs WORK.json RESULT.json
 *
 * work: {tern: URL of tern-engine.js, warmup: texts, texts: texts of 12 tokens, mixed: many short
 * texts, batchSizes}. Writes {outside, single, batch, pool, batches}:
 * outside            share of the time of `embed` that is spent outside kernels.wasm
 * single, batch      process-CPU ms a text, over `mixed`: one call a text, and embedBatch
 * pool, single_wall  wall ms a text, over `mixed`: two workers, and one call a text in this thread
 * batches            batch size → process-CPU ms a text
 */
import { readFile, writeFile } from "node:fs/promises";

const CHUNK = 500;

const [workPath, resultPath] = process.argv.slice(2);
const work = JSON.parse(await readFile(workPath, "utf8"));
const inKernel = timeKernels();
const { load } = await import(work.tern);

/** Milliseconds of processor time that this process has used, on all its threads. */
function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Has every instance of a WebAssembly module that is made from here on add up the time in its
 * functions. The interpreter's instance is made by WebAssembly.instantiate and is left alone.
 *
 * @returns {{ms: number}}
 */
function timeKernels() {
  const total = { ms: 0 };
  const { Instance } = WebAssembly;
  const timed = (fn) => (...args) => {
    const start = performance.now();
    try {
      return fn(...args);
    } finally {
      total.ms += performance.now() - start;
    }
  };
  WebAssembly.Instance = new Proxy(Instance, {
    construct(target, args) {
      const { exports } = new target(...args);
      const entries = Object.entries(exports);
      const wrapped = entries.map(([k, v]) => [k, typeof v === "function" ? timed(v) : v]);
      // Functions that go into a table must be the real ones: only the kernel exports `run`.
      return { exports: exports.run ? Object.fromEntries(wrapped) : exports };
    },
  });
  return total;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

async function shareOutside() {
  const engine = await load();
  work.warmup.forEach((text) => engine.embed(text));
  const shares = work.texts.map((text) => {
    inKernel.ms = 0;
    const start = performance.now();
    engine.embed(text);
    const whole = performance.now() - start;
    return 1 - inKernel.ms / whole;
  });
  engine.dispose();
  return median(shares);
}

/** Two engines on the same texts, chunk by chunk in turn, so that both meet the same machine. */
async function throughput() {
  const [one, many] = [await load(), await load()];
  for (const engine of [one, many]) engine.embedBatch(work.warmup);
  work.warmup.forEach((text) => one.embed(text));
  const spent = { single: [], batch: [] };
  let alone = 0;
  for (let at = 0; at < work.mixed.length; at += CHUNK) {
    const texts = work.mixed.slice(at, at + CHUNK);
    globalThis.gc();
    let [start, wall] = [processorTime(), performance.now()];
    for (const text of texts) one.embed(text);
    spent.single.push((processorTime() - start) / texts.length);
    alone += performance.now() - wall;
    globalThis.gc();
    start = processorTime();
    many.embedBatch(texts);
    spent.batch.push((processorTime() - start) / texts.length);
  }
  one.dispose();
  many.dispose();
  const pool = await load({ worker: { pool: 2 } });
  for (let i = 0; i < pool.workers; i++) await pool.embedBatch(work.warmup); // as much to each
  const start = performance.now();
  await pool.embedBatch(work.mixed);
  const wall = (performance.now() - start) / work.mixed.length;
  await pool.dispose();
  return {
    single: median(spent.single),
    batch: median(spent.batch),
    single_wall: alone / work.mixed.length,
    pool: wall,
  };
}

/** Batches of texts of 12 tokens, each size over the same number of texts. */
async function batchCurve() {
  const engine = await load();
  engine.embedBatch(work.warmup);
  const largest = Math.max(...work.batchSizes);
  const result = {};
  for (const size of work.batchSizes) {
    const rounds = [];
    for (let round = 0; round < 9; round++) {
      globalThis.gc();
      const texts = Array.from({ length: largest }, (_, i) => work.texts[(round * 31 + i) % work.texts.length]);
      engine.embedBatch(texts); // the tokenizer's cache is the same for all sizes
      const start = processorTime();
      for (let at = 0; at < largest; at += size) engine.embedBatch(texts.slice(at, at + size));
      rounds.push((processorTime() - start) / largest);
    }
    result[size] = median(rounds);
  }
  engine.dispose();
  return result;
}

const result = { outside: await shareOutside(), ...(await throughput()), batches: await batchCurve() };
await writeFile(resultPath, JSON.stringify(result));
process.exit(0);
