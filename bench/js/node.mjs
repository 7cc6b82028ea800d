/**
 * Runs a plan in Node: node --expose-gc node.mjs WORK.json RESULT.json
 *
 * The work names the files: {tern: URL of tern-engine.js, obvious: path of its wasm, minilm: path of
 * the ONNX file, models: paths of .bin files, warmup: {tern, minilm}, gmacMs, plan}. The result is
 * {samples, proofs, gmacs, peak}: gmacs and peak in 10^9 multiply-adds a second.
 */
import { readFile, writeFile } from "node:fs/promises";
import { measure, proofs } from "./measure.mjs";
import { minilm } from "./minilm.mjs";
import { obvious } from "./obvious.mjs";
import { tern } from "./tern.mjs";

const [workPath, resultPath] = process.argv.slice(2);
const collectGarbage = globalThis.gc;
if (!collectGarbage) throw new Error("run with --expose-gc");
const work = JSON.parse(await readFile(workPath, "utf8"));
const models = await Promise.all(work.models.map((path) => readFile(path)));
const wasm = await readFile(work.obvious);

const plain = await Promise.all(models.map((model) => obvious(wasm, model, work.warmup.obvious)));
const contenders = [];
for (const [i, model] of models.entries()) {
  contenders.push(await tern(work.tern, work.warmup.tern, model), plain[i]);
}
contenders.push(await minilm(await readFile(work.minilm), work.warmup.minilm));

/** Milliseconds of processor time that this process has used, on all its threads. */
function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const samples = await measure(contenders, work.plan, processorTime, () => collectGarbage());
const result = {
  samples,
  proofs: await proofs(contenders, work.plan),
  gmacs: Object.fromEntries(plain.map((c) => [c.dim, c.gmacs(processorTime, work.gmacMs)])),
  peak: plain[0].peak(processorTime, work.gmacMs),
};
await writeFile(resultPath, JSON.stringify(result));
// Whatever timers the engines may hold, the run is over.
process.exit(0);
