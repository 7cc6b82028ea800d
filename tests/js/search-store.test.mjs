/** The index store over an IndexedDB in memory. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { IDBFactory, IDBKeyRange, IDBObjectStore } from "fake-indexeddb";
import { SearchIndex, openIndexStore } from "../../web/search.js";
import { code, fakeEngine } from "./support/search-engine.mjs";

globalThis.IDBKeyRange = IDBKeyRange;
for (const [name, value] of Object.entries(await import("fake-indexeddb"))) {
  if (/^IDB/.test(name)) globalThis[name] = value; // idb looks for the classes
}
beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

const engine = fakeEngine({ dim: 384, maxSeqLen: 128 });
const small = [{ id: "1", text: "a small boat", meta: { n: 1 } }, { id: "2", text: "another text" }];

async function indexOf(documents, options) {
  const index = new SearchIndex(engine, options);
  await index.add(documents);
  return index;
}

/** More than one piece of 4 MB. */
const large = () => indexOf(Array.from({ length: 3000 }, (_, i) => ({ id: `${i}`, text: `document number ${i}` })));

test("saved, listed, loaded, replaced, deleted", async () => {
  const store = await openIndexStore();
  assert.deepEqual(await store.list(), []);
  assert.equal(await store.load("mine", engine), null);
  const index = await indexOf(small);
  const info = await store.save("mine", index);
  const file = await index.save();
  assert.deepEqual({ ...info, savedAt: null }, { name: "mine", fingerprint: engine.fingerprint, documents: 2, passages: 2, bytes: file.length, savedAt: null });
  assert.ok(info.savedAt instanceof Date);
  assert.deepEqual(await store.list(), [info]);
  const loaded = await store.load("mine", engine);
  assert.deepEqual(Buffer.from(await loaded.save()), Buffer.from(file));
  assert.equal((await loaded.query("a small boat", { mode: "hybrid" }))[0].id, "1");

  await store.save("other", index);
  await index.remove("1");
  await store.save("mine", index);
  assert.equal((await store.load("mine", engine)).size, 1);
  assert.equal((await store.load("other", engine)).size, 2);
  assert.equal(await store.delete("mine"), true);
  assert.equal(await store.delete("mine"), false);
  assert.equal(await store.load("mine", engine), null);
  assert.deepEqual((await store.list()).map(({ name }) => name), ["other"]);
  store.close();
});

test("a large index goes in pieces and comes back whole; a smaller one leaves none of them", async () => {
  const store = await openIndexStore({ name: "another database" });
  const index = await large();
  const info = await store.save("large", index);
  assert.ok(info.bytes > 4 << 20);
  assert.equal((await (await store.load("large", engine)).query("document number 2999", { k: 1 }))[0].id, "2999");
  await store.save("large", await indexOf(small));
  assert.equal((await store.load("large", engine)).size, 2);
  const database = await open("another database");
  const keys = await request(database.transaction("pieces").objectStore("pieces").getAllKeys());
  assert.deepEqual(keys, [["large", 0]]);
  database.close();
  store.close();
});

test("no room: STORAGE_QUOTA, and what was saved before is still there", async () => {
  const store = await openIndexStore();
  await store.save("mine", await indexOf(small));
  const index = await large();
  const { put } = IDBObjectStore.prototype;
  for (const failing of [1, 2, 3]) {
    let puts = 0;
    IDBObjectStore.prototype.put = function (...given) {
      if (++puts === failing) throw new DOMException("no room", "QuotaExceededError");
      return put.apply(this, given);
    };
    try {
      const error = await store.save("mine", index).then(() => assert.fail("no error"), (e) => e);
      assert.equal(error.code, "STORAGE_QUOTA");
      assert.equal(error.cause.name, "QuotaExceededError");
      assert.match(error.message, /^tern-engine: an index of \d+ bytes could not be stored/);
    } finally {
      IDBObjectStore.prototype.put = put;
    }
    assert.equal((await store.load("mine", engine)).size, 2);
    assert.equal((await store.list())[0].documents, 2);
  }
  await store.save("mine", index);
  assert.equal((await store.load("mine", engine)).size, 3000);
  store.close();
});

test("a transaction that the browser aborts for want of room: STORAGE_QUOTA", async () => {
  const store = await openIndexStore();
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function (...given) {
    const answer = put.apply(this, given);
    queueMicrotask(() => this.transaction._abort("QuotaExceededError"));
    return answer;
  };
  try {
    await assert.rejects(store.save("mine", await large()), code("STORAGE_QUOTA"));
  } finally {
    IDBObjectStore.prototype.put = put;
  }
  assert.equal(await store.load("mine", engine), null);
  store.close();
});

test("of another model: INDEX_STALE; damaged or with a piece missing: INDEX_FORMAT", async () => {
  const store = await openIndexStore();
  await store.save("mine", await large());
  await assert.rejects(store.load("mine", { ...engine, fingerprint: "f".repeat(64) }), code("INDEX_STALE"));
  const database = await open("tern-engine");
  const change = (piece, value) => {
    const pieces = database.transaction("pieces", "readwrite").objectStore("pieces");
    return request(value === undefined ? pieces.delete(["mine", piece]) : pieces.put(value, ["mine", piece]));
  };
  const second = await request(database.transaction("pieces").objectStore("pieces").get(["mine", 1]));
  const damages = [undefined, second.subarray(1).slice(), new Uint8Array(0), new Uint8Array(5 << 20), second.map((byte) => byte ^ 1)];
  for (const damage of damages) {
    await change(1, damage);
    await assert.rejects(store.load("mine", engine), code("INDEX_FORMAT"));
  }
  await change(1, second);
  assert.equal((await store.load("mine", engine)).size, 3000);
  database.close();
  store.close();
});

test("saving can be aborted at any time; the one before stays", async () => {
  const store = await openIndexStore();
  await store.save("mine", await indexOf(small));
  const index = await large();
  const controller = new AbortController();
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function (...given) {
    controller.abort();
    return put.apply(this, given);
  };
  try {
    await assert.rejects(store.save("mine", index, { signal: controller.signal }), code("ABORTED"));
  } finally {
    IDBObjectStore.prototype.put = put;
  }
  await assert.rejects(store.save("mine", index, { signal: AbortSignal.abort() }), code("ABORTED"));
  await assert.rejects(store.load("mine", engine, { signal: AbortSignal.abort() }), code("ABORTED"));
  assert.equal((await store.load("mine", engine)).size, 2);
  store.close();
});

test("another tab may delete the database: the store lets go of it", async () => {
  const store = await openIndexStore();
  await store.save("mine", await indexOf(small));
  await request(indexedDB.deleteDatabase("tern-engine"));
  const again = await openIndexStore();
  assert.deepEqual(await again.list(), []);
  again.close();
});

test("names and indexes of the wrong kind: INVALID_INPUT", async () => {
  const store = await openIndexStore();
  for (const name of [undefined, "", 7]) {
    await assert.rejects(store.save(name, await indexOf(small)), code("INVALID_INPUT"));
    await assert.rejects(store.load(name, engine), code("INVALID_INPUT"));
    await assert.rejects(store.delete(name), code("INVALID_INPUT"));
  }
  await assert.rejects(store.save("mine", {}), code("INVALID_INPUT"));
  await assert.rejects(openIndexStore({ name: 7 }), code("INVALID_INPUT"));
  store.close();
});

test("a host without IndexedDB, or one that forbids it: STORAGE_UNAVAILABLE", async () => {
  delete globalThis.indexedDB;
  await assert.rejects(openIndexStore(), (error) => code("STORAGE_UNAVAILABLE")(error) && /index\.save\(\)/.test(error.message));
  globalThis.indexedDB = { open: () => { throw new DOMException("private", "SecurityError"); } };
  await assert.rejects(openIndexStore(), (error) => code("STORAGE_UNAVAILABLE")(error) && error.cause.name === "SecurityError");
});

test("a store that was closed, and a database that fails: STORAGE_UNAVAILABLE", async () => {
  const store = await openIndexStore();
  const index = await indexOf(small);
  await store.save("mine", index);
  const calls = { list: () => store.list(), load: () => store.load("mine", engine), delete: () => store.delete("mine") };
  const failing = { list: "getAll", load: "get", delete: "getKey" };
  for (const [name, call] of Object.entries(calls)) {
    const original = IDBObjectStore.prototype[failing[name]];
    IDBObjectStore.prototype[failing[name]] = function (...given) {
      const answer = original.apply(this, given);
      queueMicrotask(() => this.transaction._abort("UnknownError"));
      return answer;
    };
    try {
      await assert.rejects(call(), code("STORAGE_UNAVAILABLE"), name);
    } finally {
      IDBObjectStore.prototype[failing[name]] = original;
    }
  }
  assert.equal((await calls.load()).size, 2);
  store.close();
  for (const call of [...Object.values(calls), () => store.save("mine", index)]) {
    await assert.rejects(call(), code("STORAGE_UNAVAILABLE"));
  }
});

test("an index that says it is larger than memory: INDEX_TOO_LARGE", async () => {
  const store = await openIndexStore();
  await store.save("mine", await indexOf(small));
  const database = await open("tern-engine");
  const [info] = await store.list();
  await request(database.transaction("indexes", "readwrite").objectStore("indexes").put({ ...info, bytes: 2 ** 50 }));
  await assert.rejects(store.load("mine", engine), code("INDEX_TOO_LARGE"));
  database.close();
  store.close();
});

const request = (pending) =>
  new Promise((resolve, reject) => {
    pending.onsuccess = () => resolve(pending.result);
    pending.onerror = () => reject(pending.error);
  });
const open = (name) => request(indexedDB.open(name));
