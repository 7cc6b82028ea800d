/** An abort at every single moment of a load, here and in workers: then nothing is left, and a load works. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createLoad } from "../../web/load.js";
import { CONTENT, fakeHost, site } from "./support/fakes.mjs";
import { serve } from "./support/server.mjs";

const FACTS = { dim: 3, maxSeqLen: 8, fingerprint: "f".repeat(64), summary: "{}" };
const soon = () => new Promise((resolve) => setTimeout(resolve, 2));

/** A server and a host that tell of everything that happens, by a name. */
async function startWatched() {
  const watch = { moment: (/** @type {string} */ _name) => {}, silent: false };
  const handlers = Object.fromEntries(
    Object.entries(site()).map(([path, answer]) => [
      path,
      (request, response) => {
        watch.moment(`request ${path}`);
        answer(request, response);
      },
    ]),
  );
  const server = await serve(handlers);
  const threads = [];
  const plain = fakeHost();
  const told = (name, call) => async (...given) => {
    watch.moment(`before ${name}`);
    const value = await call(...given);
    watch.moment(`after ${name}`);
    return value;
  };
  const host = {
    checkWebAssembly: told("check", plain.checkWebAssembly),
    importModule: told("import", plain.importModule),
    boot: told("boot", plain.boot),
    spawn: told("spawn", async (_url, onMessage) => {
      const thread = {
        ended: 0,
        hold() {},
        terminate: async () => void thread.ended++,
        async post({ id, method, args }) {
          watch.moment(`${method} posted`);
          await soon();
          if (thread.ended > 0 || watch.silent) return;
          const value = { model: FACTS, embedBatch: new Float32Array(3 * (args[0].length ?? 0)) }[method];
          onMessage({ id, value });
          watch.moment(`${method} answered`);
        },
      };
      threads.push(thread);
      return thread;
    }),
  };
  return { server, threads, plain, watch, load: createLoad(host), options: { baseUrl: server.url } };
}

for (const worker of [false, { pool: 2 }]) {
  test(`a load ${worker ? "in workers" : "here"}, aborted at each of its moments`, { timeout: 60_000 }, async (t) => {
    const { server, threads, plain, watch, load, options } = await startWatched();
    t.after(() => server.close());
    const asked = { ...options, worker };
    /** Loads, aborting at a moment, and gives the error; without one, the names of all there are. */
    const attempt = async (name) => {
      const controller = new AbortController();
      const names = new Set();
      watch.moment = (moment) => {
        names.add(moment);
        if (moment !== name) return;
        watch.silent = true; // threads that never answer have to be ended
        controller.abort();
      };
      const onProgress = ({ status, file }) => watch.moment(`${status} ${file}`);
      const result = await load({ ...asked, signal: controller.signal, onProgress }).catch((error) => error);
      watch.moment = () => {};
      if (name !== undefined) return result;
      await result.dispose();
      return names;
    };
    const names = await attempt();
    const files = Object.keys(CONTENT).flatMap((file) => [`request /files/${file}`, `downloading ${file}`]);
    const inWorkers = ["spawn", "python", "model"].flatMap((part) => (part === "spawn" ? [`before ${part}`, `after ${part}`] : [`${part} posted`, `${part} answered`]));
    const here = ["before import", "after import", "before boot", "after boot"];
    const common = ["before check", "after check", "request /manifest.json", ...files, "starting ", "ready "];
    assert.deepEqual([...names].sort(), [...common, ...(worker ? inWorkers : here)].sort());
    let loads = 0;
    for (const name of names) {
      const error = await attempt(name);
      assert.equal(error.code, "ABORTED", name);
      assert.equal(error.cause.name, "AbortError", name);
      // What was under way comes to its end: neither engines nor threads are left.
      while (plain.bridges.some(({ disposed }) => disposed === 0)) await soon();
      while (threads.some(({ ended }) => ended === 0)) await soon();
      watch.silent = false;
      if (loads++ % 4 > 0) continue;
      const engine = await load(asked);
      assert.equal((await engine.embed("a")).length, 3, `a load after an abort at ${name}`);
      await engine.dispose();
    }
  });
}
