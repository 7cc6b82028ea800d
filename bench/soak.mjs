/**
 * Embeds for a long time in Node and watches the memory of the process.
 *
 *     node --expose-gc --max-semi-space-size=1 bench/soak.mjs [COUNT] [path of tern-engine.js]
 *
 * The second option keeps V8 from changing its reserve for young objects, by up to 16 MB, meanwhile.
 * COUNT is 100,000 by default, the module that of dist/web. Prints resident memory at steps; exits
 * with 1 when it ends more than ALLOWED_MB above the lowest it was since the first 1,000 embeds (it
 * falls at first: start-up garbage goes), or when a vector kept from the beginning has changed.
 */
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const WARM = 1000;
const STEPS = 10;
const ALLOWED_MB = 8;

const count = Number(process.argv[2] ?? 100_000);
if (!Number.isInteger(count) || count < 2 * WARM) {
  throw new Error(`COUNT must be an integer of at least ${2 * WARM}, found ${process.argv[2]}`);
}
const collectGarbage = globalThis.gc;
if (!collectGarbage) throw new Error("run with --expose-gc --max-semi-space-size=1");
const site = new URL("../dist/web/tern-engine.js", import.meta.url);
const moduleUrl = process.argv[3] ? new URL(process.argv[3], pathToFileURL("./")) : site;

const sentences = (await readFile(new URL("sentences.txt", import.meta.url), "utf8"))
  .trimEnd()
  .split("\n");
const { load } = await import(moduleUrl.href);
const engine = await load();

/** Megabytes, once what nobody holds is gone. */
function residentMemory() {
  collectGarbage?.();
  return process.memoryUsage.rss() / 2 ** 20;
}

const kept = engine.embed(sentences[0]);
const copy = kept.slice();
let lowest = Infinity;
let memory = 0;
const every = Math.ceil((count - WARM) / STEPS);
for (let done = 1; done <= count; done++) {
  engine.embed(sentences[done % sentences.length]);
  if (done === WARM || done === count || (done > WARM && (done - WARM) % every === 0)) {
    memory = residentMemory();
    lowest = Math.min(lowest, memory);
    console.log(`${String(done).padStart(9)} embeds: ${memory.toFixed(1)} MB resident`);
  }
}

const growth = memory - lowest;
/** @param {Float32Array} vector */
const differs = (vector) => vector.some((value, i) => !Object.is(value, copy[i]));
const changed = differs(kept);
const again = differs(engine.embed(sentences[0]));
engine.dispose();
console.log(`ends ${growth.toFixed(1)} MB above the lowest (${ALLOWED_MB} allowed)`);
if (changed) console.log("a vector kept from the beginning has changed");
if (again) console.log("the first text has another vector now");
process.exit(growth > ALLOWED_MB || changed || again ? 1 : 0);
