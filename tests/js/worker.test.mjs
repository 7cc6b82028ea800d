/** `load({ worker })` in Node: real threads over the built site, and the pool over threads that are fakes. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { afterEach, test } from "node:test";
import { TernError } from "../../web/errors.js";
import { createLoad } from "../../web/load.js";
import { WorkerEngine, load } from "../../web/tern-engine.js";
import { CONTENT, fakeHost, site } from "./support/fakes.mjs";
import { code } from "./support/search-engine.mjs";
import { serve, stall } from "./support/server.mjs";
import { bits, readJson, shim, SITE } from "./support/site.mjs";

const golden = readJson("tests/golden/vectors.json");

test("a pool: the bits, the tokens and the errors of an engine in this thread", async () => {
  const { load: loadBuilt, WorkerEngine: Built } = await shim();
  const statuses = [];
  const engine = await loadBuilt({
    worker: { pool: 2 },
    onProgress: ({ status }) => statuses.at(-1) === status || statuses.push(status),
  });
  assert.ok(engine instanceof Built);
  assert.deepEqual(statuses, ["downloading", "starting", "ready"]);
  assert.ok(engine.workers >= 1 && engine.workers <= 2);
  assert.equal(engine.fingerprint, golden.model);
  assert.equal(JSON.parse(await engine.config_summary()).fingerprint, golden.model);

  const progress = [];
  const vectors = await engine.embedBatch(golden.texts, { onProgress: (done, total) => progress.push([done, total]) });
  const hash = createHash("sha256");
  for (const vector of vectors) hash.update(bits(vector));
  assert.equal(hash.digest("hex"), golden.sha256);
  assert.deepEqual(progress.at(-1), [golden.texts.length, golden.texts.length]);
  assert.ok(progress.length > 10);
  assert.ok(vectors.every((vector) => vector.buffer.byteLength === 4 * engine.dim));
  assert.deepEqual(bits(await engine.embed(golden.texts[0])), bits(vectors[0]));
  for (const { text, ids } of golden.cases) assert.deepEqual([...(await engine.tokenize(text))], ids);
  assert.deepEqual(await engine.tokenCount("word ".repeat(500)), { tokens: 128, truncated: true });
  assert.deepEqual(await engine.embedBatch([]), []);
  const [best] = await engine.classify("my card was swallowed", { money: ["a bank"], plants: ["a garden"] });
  assert.equal(best.label, "money");

  await assert.rejects(engine.embed(7), code("INVALID_INPUT"));
  await assert.rejects(engine.embedBatch(["a", 7]), /texts\[1\] must be a string/);
  await engine.dispose();
  await assert.rejects(engine.embed("a"), code("DISPOSED"));
  await engine.dispose();
});

test("an error of Python's keeps its code on the way out of a thread", async () => {
  const { load: loadBuilt, TernError: Built } = await shim();
  const error = await loadBuilt({ worker: true, model: new Uint8Array(10) }).then(assert.fail, (e) => e);
  assert.ok(error instanceof Built);
  assert.equal(error.code, "MODEL_TOO_SHORT");
  assert.match(error.message, /^tern-engine: file length is 10 bytes/);
});

test("a script that is not there: WORKER_FAILED", async () => {
  const { load: loadBuilt } = await shim();
  await assert.rejects(loadBuilt({ worker: { url: new URL("absent.js", SITE) } }), code("WORKER_FAILED"));
});

/** A script around the engine's own, which does something more at some calls. */
const around = (code) =>
  new URL(`data:text/javascript,${encodeURIComponent(`
    import { parentPort } from "node:worker_threads";
    const channel = new BroadcastChannel("tern-test");
    ${code}
    await import(${JSON.stringify(new URL("engine.worker.js", SITE).href)});
  `)}`);

test("a thread that dies at work: WORKER_FAILED for what it had, what waits and what comes, at once", async () => {
  const { load: loadBuilt, TernError: Built } = await shim();
  // A listener of its own would start the port, and lose what comes before the engine listens.
  const url = around(`
    const on = parentPort.on;
    parentPort.on = (name, listener) =>
      on.call(parentPort, name, (message) => {
        if (message.args[0]?.[0] === "die") process.exit(3);
        listener(message);
      });
  `);
  const engine = await loadBuilt({ worker: { url } });
  assert.equal((await engine.embed("a text")).length, 384);
  const calls = [engine.embedBatch(texts(200)), engine.embed("die"), engine.tokenCount("a"), engine.classify("a", ["b"])];
  for (const result of await Promise.allSettled(calls)) {
    assert.equal(result.status, "rejected");
    assert.ok(result.reason instanceof Built && result.reason.code === "WORKER_FAILED", String(result.reason));
    assert.match(result.reason.message, /ended with code 3/);
  }
  await assert.rejects(engine.embed("a"), code("WORKER_FAILED"));
  await engine.dispose();
});

test("vectors and ids move out of a thread, and are not copied", async () => {
  const { load: loadBuilt } = await shim();
  const url = around(`
    const post = parentPort.postMessage;
    parentPort.postMessage = function (message, transfer) {
      post.call(parentPort, message, transfer);
      if (ArrayBuffer.isView(message.value)) channel.postMessage(message.value.byteLength);
    };
  `);
  const channel = new BroadcastChannel("tern-test");
  const left = [];
  channel.onmessage = ({ data }) => left.push(data);
  const engine = await loadBuilt({ worker: { url } });
  await engine.embedBatch(["a", "b"]);
  await engine.tokenize("a");
  while (left.length < 2) await tick();
  assert.deepEqual(left, [0, 0]);
  channel.close();
  await engine.dispose();
});

test("a process ends by itself with an idle pool that nobody disposed of", async () => {
  const program = `
    import { load } from ${JSON.stringify(new URL("tern-engine.js", SITE).href)};
    const engine = await load({ worker: true });
    console.log((await engine.embed("a text")).length);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  const status = await new Promise((resolve) => child.on("close", resolve));
  assert.deepEqual([status, out], [0, "384\n"]);
});

// --- the pool, over fakes

const open = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/**
 * Threads that answer when a test says so. Each records what it was sent.
 */
async function startFake() {
  const handlers = site();
  const server = await serve(handlers);
  open.push(server);
  const threads = [];
  const spawnFake = async (url, onMessage, onFailure) => {
    const thread = {
      url,
      sent: [],
      ended: 0,
      held: [],
      fail: onFailure,
      post(request) {
        thread.sent.push(request);
        if (request.method === "python") onMessage({ id: request.id });
        if (request.method === "model") onMessage({ id: request.id, value: FACTS });
      },
      /** Answers the oldest call. */
      reply(part) {
        const at = thread.sent.findIndex(({ method }) => method !== "python" && method !== "model");
        const [{ id, args }] = thread.sent.splice(at, 1);
        onMessage({ id, ...(part ?? { value: new Float32Array(args[0].length) }) });
      },
      calls: () => thread.sent.filter(({ method }) => method !== "python" && method !== "model").map(({ args }) => args[0]),
      terminate: async () => void thread.ended++,
      hold: (busy) => thread.held.push(busy),
    };
    threads.push(thread);
    return thread;
  };
  const host = fakeHost({ spawn: spawnFake });
  const options = { baseUrl: server.url, worker: true };
  return { server, handlers, threads, host, load: createLoad(host), options };
}
const FACTS = { dim: 1, maxSeqLen: 8, fingerprint: "f".repeat(64), summary: "{}" };
const texts = (count) => Array.from({ length: count }, (_, i) => `t${i}`);
const tick = () => new Promise((resolve) => setTimeout(resolve, 5));

test("each file is fetched once, whatever the pool, and the threads get compiled modules", async () => {
  const { server, threads, load, options } = await startFake();
  const engine = await load({ ...options, worker: { pool: 99 } });
  assert.ok(engine instanceof WorkerEngine);
  assert.equal(engine.workers, threads.length);
  assert.ok(threads.length >= 1 && threads.length <= 8);
  const paths = server.requests.map(({ path }) => path).sort();
  assert.deepEqual(paths, ["/manifest.json", ...Object.keys(CONTENT).map((n) => `/files/${n}`)].sort());
  for (const { sent } of threads) {
    assert.deepEqual(sent.map(({ method }) => method), ["python", "model"]);
    assert.ok(sent[0].args[0].wasm instanceof WebAssembly.Module);
    assert.ok(sent[1].args[0].kernels instanceof WebAssembly.Module);
    assert.deepEqual(Buffer.from(sent[1].args[0].model), CONTENT.model);
  }
});

test("a pool has as many threads as asked for, as the machine has, and eight, whichever is least", async () => {
  const { threads, load, options } = await startFake();
  const { availableParallelism } = os;
  try {
    for (const [cores, pool, expected] of [[3, true, 2], [3, 99, 3], [3, 2, 2], [3, undefined, 1], [1, true, 1], [64, true, 8], [64, 99, 8]]) {
      os.availableParallelism = () => cores;
      syncBuiltinESMExports();
      const before = threads.length;
      const engine = await load({ ...options, worker: { pool } });
      assert.deepEqual([threads.length - before, engine.workers], [expected, expected], `${pool} of ${cores}`);
      await engine.dispose();
    }
  } finally {
    os.availableParallelism = availableParallelism;
    syncBuiltinESMExports();
  }
});

test("single texts go first; an abort rejects at once, drops what waits, and leaves the engine usable", async () => {
  const { threads, load, options } = await startFake();
  const engine = await load(options);
  const [thread] = threads;
  const controller = new AbortController();
  const batch = engine.embedBatch(texts(100), { signal: controller.signal });
  await tick();
  const single = engine.embed("urgent");
  assert.equal(thread.calls().length, 2);
  thread.reply();
  await tick();
  assert.deepEqual(thread.calls()[1], ["urgent"]);
  controller.abort();
  await assert.rejects(batch, (error) => error.code === "ABORTED" && error.cause.name === "AbortError");
  thread.reply();
  thread.reply();
  assert.equal((await single).length, 1);
  await tick();
  assert.deepEqual(thread.calls(), []);
  await assert.rejects(engine.embed("late", { signal: controller.signal }), code("ABORTED"));
  const again = engine.embed("again");
  thread.reply();
  assert.equal((await again).length, 1);
  assert.equal(thread.held.at(-1), false);
});

test("two batches side by side get on alike", async () => {
  const { threads, load, options } = await startFake();
  const engine = await load(options);
  const order = [];
  const one = engine.embedBatch(texts(64)).then(() => order.push("long"));
  const two = engine.embedBatch(texts(20)).then(() => order.push("short"));
  while (order.length < 2) {
    await tick();
    if (threads[0].calls().length > 0) threads[0].reply();
  }
  await Promise.all([one, two]);
  assert.deepEqual(order, ["short", "long"]);
});

test("a batch is of the texts as they were when it was asked for", async () => {
  const { threads, load, options } = await startFake();
  const engine = await load(options);
  const given = texts(40);
  let vectors;
  void engine.embedBatch(given).then((answer) => (vectors = answer));
  given.fill("other").length = 20;
  const sent = [];
  while (vectors === undefined) {
    await tick();
    for (const part of threads[0].calls()) {
      sent.push(...part);
      threads[0].reply();
    }
  }
  assert.deepEqual(sent, texts(40));
  assert.deepEqual(Array.from(vectors, (vector) => vector?.length), Array(40).fill(1));
});

test("a part of a batch that fails rejects it with that error; a callback's own error, too", async () => {
  const { threads, load, options } = await startFake();
  const engine = await load(options);
  const batch = engine.embedBatch(texts(100));
  await tick();
  threads[0].reply({ error: { name: "TernError", code: "INVALID_INPUT", message: "tern-engine: odd" } });
  await assert.rejects(batch, (error) => error instanceof TernError && error.code === "INVALID_INPUT");
  threads[0].reply();
  const strange = engine.embed("a");
  threads[0].reply({ error: { name: "RangeError", code: "ERR_X", message: "too much" } });
  await assert.rejects(strange, { name: "RangeError", message: "too much" });
  const loud = engine.embedBatch(["a"], { onProgress: () => { throw new Error("mine"); } });
  threads[0].reply();
  await assert.rejects(loud, /mine/);
});

test("a thread that ends by itself: WORKER_FAILED for all calls, and the others are ended", async () => {
  const { threads, load, options } = await startFake();
  const engine = await load(options);
  const call = engine.embed("a");
  threads[0].fail("out of memory");
  await assert.rejects(call, code("WORKER_FAILED"));
  await assert.rejects(engine.embedBatch([]), /out of memory/);
  assert.ok(threads.every(({ ended }) => ended === 1));
});

test("dispose ends the threads; calls under way are rejected", async () => {
  const { threads, load, options } = await startFake();
  const engine = await load(options);
  const calls = [engine.embed("a"), engine.embedBatch(texts(99)), engine.tokenCount("b")].map((call) =>
    assert.rejects(call, code("DISPOSED")),
  );
  await engine.dispose();
  await Promise.all(calls);
  for (const call of [() => engine.embed("a"), () => engine.config_summary(), () => engine.classify("a", ["b"])]) {
    await assert.rejects(call(), code("DISPOSED"));
  }
  assert.deepEqual(threads.map(({ ended }) => ended), [1]);
});

test("an answer that comes after dispose() does not let go of a thread whose end is awaited", async () => {
  const { threads, load, options } = await startFake();
  const engine = await load(options);
  const call = assert.rejects(engine.embed("a"), code("DISPOSED"));
  const ended = engine.dispose();
  threads[0].reply();
  assert.equal(threads[0].held.at(-1), true);
  await Promise.all([call, ended]);
});

test("a load that is aborted or fails ends its threads; the next one works", async () => {
  const { server, threads, load, options } = await startFake();
  const controller = new AbortController();
  const loading = load({ ...options, signal: controller.signal, onProgress: () => controller.abort() });
  await assert.rejects(loading, code("ABORTED"));
  const broken = load({ ...options, model: `${server.url}absent` });
  await assert.rejects(broken, code("LOAD_HTTP"));
  await tick();
  assert.ok(threads.every(({ ended }) => ended === 1));
  const engine = await load(options);
  assert.equal(threads.at(-1).ended, 0);
  await engine.dispose();
});

test("a thread that fails ends the load at once, and its downloads", async () => {
  const { server, handlers, threads, load, options } = await startFake();
  handlers["/files/model"] = stall("mod", 50_000);
  const loading = assert.rejects(load({ ...options, timeoutMs: 60_000 }), code("WORKER_FAILED"));
  while (!server.requests.some(({ path }) => path === "/files/model")) await tick();
  threads[0].fail("no script");
  await loading;
  assert.equal(threads[0].ended, 1);
});

test("loads share a flight only with loads into as many threads", async () => {
  const { host, load, options } = await startFake();
  const [a, b, c] = await Promise.all([load(options), load({ ...options, worker: {} }), load({ ...options, worker: false })]);
  assert.equal(a, b);
  assert.notEqual(a, c);
  assert.equal(host.boots, 1);
});

test("worker options of the wrong type: INVALID_INPUT", async () => {
  for (const worker of [1, "true", null, { pool: 0 }, { pool: 1.5 }, { pool: "2" }, { url: 7 }]) {
    await assert.rejects(load({ worker }), code("INVALID_INPUT"), JSON.stringify(worker));
  }
});
