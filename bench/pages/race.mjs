/**
 * Runs a plan in a page, as node.mjs does in Node; the page's address has the plan's, ?work=URL.
 * window.outcome becomes {samples, proofs}.
 */
import { measure, proofs } from "../js/measure.mjs";
import { obvious } from "../js/obvious.mjs";
import { tern } from "../js/tern.mjs";
import { transformers } from "../js/transformers.mjs";

const site = new URL("/", location.href).href;
const bytes = async (path) => new Uint8Array(await (await fetch(site + path)).arrayBuffer());

async function race() {
  const work = await (await fetch(new URL(location.href).searchParams.get("work"))).json();
  const wasm = await bytes(work.obvious);
  const contenders = [];
  for (const path of work.models) {
    const model = await bytes(path);
    contenders.push(await tern(`${site}tern-engine.js`, work.warmup.tern, model));
    contenders.push(await obvious(wasm, model, work.warmup.obvious));
  }
  const embed = await transformers(`${site}bench/peer/`, { lean: true });
  contenders.push({
    name: "minilm-q8-wasm",
    dim: 384,
    warmup: work.warmup.minilm,
    prepare: ({ text }) => text,
    embed,
    check() {},
  });
  const clock = () => performance.now();
  const samples = await measure(contenders, work.plan, clock, () => globalThis.gc?.());
  return { samples, proofs: await proofs(contenders, work.plan) };
}

window.outcome = await race();
