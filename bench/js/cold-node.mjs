/**
 * One cold start in a fresh Node process: node cold-node.mjs {tern URL | minilm ONNX_FILE}
 *
 * Prints {ms, cpuMs}: wall milliseconds from the start of the process to the first vector, and the
 * processor time that took. The peer's ids are given; ours come from the text.
 */
import { readFile } from "node:fs/promises";

const [engine, location] = process.argv.slice(2);
const TEXT = "How do I change a flat tire?";
const IDS = [101, 2129, 2079, 1045, 2689, 1037, 4257, 12824, 1029, 102];

if (engine === "tern") {
  const { load } = await import(location);
  (await load()).embed(TEXT);
} else {
  const { minilm } = await import("./minilm.mjs");
  const { prepare, embed } = await minilm(await readFile(location), 0);
  await embed(prepare({ text: TEXT, ids: IDS }));
}
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ ms: performance.now(), cpuMs: (user + system) / 1000 }));
process.exit(0);
