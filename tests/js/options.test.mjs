/** Options of every call: what is none of them is refused, with one code, before anything is begun. */
import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { test } from "node:test";
import { classify } from "../../web/classify.js";
import { createLoad } from "../../web/load.js";
import { SearchIndex, openIndexStore } from "../../web/search.js";
import { WorkerEngine } from "../../web/worker-engine.js";
import { fakeHost } from "./support/fakes.mjs";
import { code, doc, fakeEngine, indexOf, PETS } from "./support/search-engine.mjs";

const { signal } = new AbortController();
const WRONG = [null, 3, "signal", true, [], () => {}, signal, Promise.resolve({}), new Map(), { sginal: signal },
  { signal: null }, { signal: "now" }, { signal: {} }, { signal: new AbortController() }, { signal: new EventTarget() },
  { onProgress: "log" }, { onProgress: null }]; // prettier-ignore

/** Each of the wrong options is refused by a call, at once or by its promise. */
async function refuses(name, call) {
  for (const options of WRONG) {
    await assert.rejects(async () => call(options), code("INVALID_INPUT"), `${name} with ${String(options)}`);
  }
}

test("of load and of an engine in workers, which gets no work", async () => {
  await refuses("load", createLoad(fakeHost({ checkWebAssembly: () => assert.fail("begun") })));
  const idle = /** @type {any} */ ({ size: 1, check() {}, run: () => assert.fail("begun") });
  const engine = new WorkerEngine(idle, { dim: 1, maxSeqLen: 8, fingerprint: "f".repeat(64), summary: "{}" });
  await refuses("embed", (options) => engine.embed("a", options));
  await refuses("embedBatch", (options) => engine.embedBatch(["a"], options));
  await refuses("tokenize", (options) => engine.tokenize("a", options));
  await refuses("tokenCount", (options) => engine.tokenCount("a", options));
  await refuses("engine.classify", (options) => engine.classify("a", ["b"], options));
  await refuses("classify", (options) => classify(engine, "a", ["b"], options));
  await assert.rejects(engine.embedBatch(["a"], { onProgres: () => {} }), /embedBatch has no option onProgres, only signal, onProgress/);
  await assert.rejects(engine.embed("a", null), /embed takes an object of options, found null/);
});

test("of an index and of a store, which stay as they were", async () => {
  const index = await indexOf(PETS);
  const file = await index.save();
  const engine = fakeEngine();
  await refuses("SearchIndex", (options) => new SearchIndex(engine, options));
  await refuses("add", (options) => index.add([doc("new", "text"), doc("more", "text")], options));
  await refuses("replace", (options) => index.replace(doc("cat", "another"), options));
  await refuses("query", (options) => index.query("cat", options));
  await refuses("save", (options) => index.save(options));
  await refuses("SearchIndex.load", (options) => SearchIndex.load(engine, file, options));
  assert.deepEqual(await index.save(), file);

  await refuses("openIndexStore", openIndexStore);
  const store = await openIndexStore();
  await refuses("store.save", (options) => store.save("mine", index, options));
  assert.deepEqual(await store.list(), []);
  await store.save("mine", index, { signal });
  await refuses("store.load", (options) => store.load("mine", engine, options));
  await refuses("store.load of nothing", (options) => store.load("absent", engine, options));
  assert.equal((await store.load("mine", engine, { signal })).size, PETS.length);
  store.close();
});

test("options may be of another realm, without a prototype, or undefined one by one", async () => {
  const index = await indexOf(PETS);
  const bare = Object.assign(Object.create(null), { k: 1, signal: undefined, filter: undefined });
  assert.equal((await index.query("cat", bare)).length, 1);
  const { runInNewContext } = await import("node:vm");
  assert.equal((await index.query("cat", runInNewContext("({ k: 1 })"))).length, 1);
});

test("a filter that answers by promises: INVALID_INPUT, and its failure is nobody else's", async () => {
  const index = await indexOf(PETS);
  for (const mode of ["meaning", "keyword", "hybrid"]) {
    for (const filter of [async () => false, async () => { throw new RangeError("mine"); }]) {
      await assert.rejects(index.query("the cat", { mode, filter: /** @type {any} */ (filter) }), code("INVALID_INPUT"));
    }
  }
});
