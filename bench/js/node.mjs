/**
 * Runs a plan in Node: node --expose-gc node.mjs PLAN.json RESULT.json
 *
 * The plan names the files: {tern: URL of tern-engine.js, minilm: path of the ONNX file,
 * warmup: {tern, minilm}, plan}. The result is {samples, proofs}.
 */
import { readFile, writeFile } from "node:fs/promises";
import { measure, proofs } from "./measure.mjs";
import { minilm } from "./minilm.mjs";
import { tern } from "./tern.mjs";

const [planPath, resultPath] = process.argv.slice(2);
const collectGarbage = globalThis.gc;
if (!collectGarbage) throw new Error("run with --expose-gc");
const work = JSON.parse(await readFile(planPath, "utf8"));

const contenders = [
  await tern(work.tern, work.warmup.tern),
  await minilm(await readFile(work.minilm), work.warmup.minilm),
];

/** Milliseconds of processor time that this process has used, on all its threads. */
function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const samples = await measure(contenders, work.plan, processorTime, () => collectGarbage());
const result = { samples, proofs: await proofs(contenders, work.plan) };
await writeFile(resultPath, JSON.stringify(result));
// Whatever timers the engines may hold, the run is over.
process.exit(0);
