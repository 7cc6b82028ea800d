/**
 * What one text at a time on one thread does not show: node --expose-gc details.mjs WORK.json RESULT.json
 *
 * work: {tern: URL of tern-engine.js, warmup: texts, texts: texts of 12 tokens, mixed: many short
 * texts, batchSizes}. Writes {outside, processor, thread, worker, pool, batches}:
 * outside         share of the time of `embed` that is spent outside kernels.wasm
 * processor       {single, batch}: process-CPU ms a text, over `mixed`: one call a text, embedBatch
 * thread, worker  the same by the clock, in this thread and through a worker
 * pool            wall ms a text, over `mixed`: two workers
 * batches         batch size → process-CPU ms a text
 */
import { readFile, writeFile } from "node:fs/promises";
import { byTheClock, median, singleBesideBatch } from "./ways.mjs";

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

/** Wall milliseconds a text of a pool of two. */
async function pooled() {
  const pool = await load({ worker: { pool: 2 } });
  for (let i = 0; i < pool.workers; i++) await pool.embedBatch(work.warmup); // as much to each
  const start = performance.now();
  await pool.embedBatch(work.mixed);
  const wall = (performance.now() - start) / work.mixed.length;
  await pool.dispose();
  return wall;
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

const result = {
  outside: await shareOutside(),
  processor: await singleBesideBatch(() => load(), work, processorTime, globalThis.gc),
  ...(await byTheClock(load, work, globalThis.gc)),
  pool: await pooled(),
  batches: await batchCurve(),
};
await writeFile(resultPath, JSON.stringify(result));
process.exit(0);
