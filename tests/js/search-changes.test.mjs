/** SearchIndex over an engine of hashed words: changes, concurrency, aborts, engines that fail. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SearchIndex } from "../../web/search.js";
import { Entry } from "../../web/entries.js";
import { Pacer } from "../../web/pace.js";
import { Rows } from "../../web/rows.js";
import { code, doc, embedText, fakeEngine, ids, indexOf, LONG, PETS } from "./support/search-engine.mjs";

test("remove, replace, clear: results as of an index made afresh, in all modes", async () => {
  const index = await indexOf([...PETS, LONG]);
  await index.prepareKeywords();
  assert.equal(await index.remove(["dog", "nobody", "dog"]), 1);
  await index.replace([doc("cat", "the cat moved to the garden", { title: "Garden" }), doc("new", "something new")]);
  const fresh = await indexOf([doc("cat", "the cat moved to the garden", { title: "Garden" }), PETS[2], LONG, doc("new", "something new")]);
  for (const mode of ["meaning", "keyword", "hybrid"]) {
    for (const text of ["the cat garden", "a dog barks at the postman", "volcano night", "something in water"]) {
      const [found, expected] = [await index.query(text, { mode }), await fresh.query(text, { mode })];
      assert.deepEqual(ids(found), ids(expected));
      found.forEach(({ score }, i) => assert.ok(Math.abs(score - expected[i].score) < 1e-9));
    }
  }
  assert.deepEqual(Buffer.from(await index.save()), Buffer.from(await fresh.save()));
  assert.deepEqual(Array.from(index.documents(), ({ id }) => id), ["cat", "fish", "long", "new"]);
  assert.equal(index.get("dog"), undefined);
  assert.ok(index.has("new") && Object.isFrozen(index.get("new")));
  assert.equal(await index.remove("new"), 1);
  await index.clear();
  assert.deepEqual([index.size, index.passageCount, await index.query("cat", { mode: "hybrid" })], [0, 0, []]);
  await index.add(PETS);
  assert.equal((await index.query("barks", { mode: "keyword" }))[0].id, "dog");
});

test("an index that loses most of its rows is copied together, and a search under way goes on", async () => {
  const many = Array.from({ length: 3000 }, (_, i) => doc(`${i}`, `document number ${i}`));
  for (const vectors of ["float32", "int8"]) {
    const index = await indexOf(many, { vectors });
    const [found] = await Promise.all([
      index.query("document number 2999", { k: 1 }),
      index.remove(many.slice(0, 2900).map(({ id }) => id)),
    ]);
    assert.equal(found[0].id, "2999");
    assert.equal(index.size, 100);
    assert.equal((await index.query("document number 2950", { k: 1 }))[0].id, "2950");
    const fresh = await indexOf(many.slice(2900), { vectors });
    assert.deepEqual(Buffer.from(await index.save()), Buffer.from(await fresh.save()));
  }
});

test("rows: sparse when most are removed; the copy holds the others, the original what it held", async () => {
  for (const kind of /** @type {const} */ (["float32", "int8"])) {
    const rows = new Rows(kind, 3);
    const entries = Array.from({ length: 2100 }, (_, i) => new Entry(doc(`${i}`, "t"), i, Uint32Array.of(0, 1)));
    const vectorOf = (i) => Float32Array.of(i % 2, 1 - (i % 2), 0);
    for (const [i, entry] of entries.entries()) rows.add(entry, () => rows.table.add(vectorOf(i)));
    entries.slice(0, 1050).forEach((entry) => rows.remove(entry));
    assert.equal(rows.isSparse, false);
    rows.remove(entries[1050]);
    assert.equal(rows.isSparse, true);
    const copy = await rows.compacted(new Pacer(undefined, ""));
    assert.deepEqual([copy.table.count, rows.table.count, copy.isSparse], [1049, 2100, false]);
    for (const table of [copy, rows]) {
      const best = await table.nearest(vectorOf(1), 2, undefined, new Pacer(undefined, ""));
      assert.deepEqual(best.map(({ entry }) => entry.document.id), ["1051", "1053"]);
    }
    assert.equal(entries[1051].row, 0);
  }
});

for (const async of [false, true]) {
  test(`changes asked for at once happen in order (${async ? "asynchronous" : "synchronous"} engine)`, async () => {
    const index = new SearchIndex(fakeEngine({ async }));
    const done = [];
    const note = (name) => () => done.push(name);
    await Promise.all([
      index.add(PETS).then(note("add")),
      index.add(LONG).then(note("add one")),
      index.remove("cat").then(note("remove")),
      index.add(doc("cat", "another cat")).then(note("add again")),
      assert.rejects(index.add(doc("cat", "one too many")), code("INVALID_INPUT")).then(note("refused")),
      index.replace(doc("dog", "a quiet dog")).then(note("replace")),
      index.query("cat", { mode: "hybrid" }),
    ]);
    assert.deepEqual(done, ["add", "add one", "remove", "add again", "refused", "replace"]);
    assert.deepEqual(Array.from(index.documents(), ({ id, text }) => [id, text.slice(0, 9)]), [
      ["dog", "a quiet d"], ["fish", "fish swim"], ["long", "The first"], ["cat", "another c"],
    ]); // prettier-ignore
  });
}

test("documents are added as they were when it was asked for", async () => {
  const index = new SearchIndex(fakeEngine());
  const given = Array.from({ length: 3000 }, (_, i) => doc(`${i}`, `text ${i}`, { title: `title ${i}` }));
  const one = doc("one", "just one");
  const adding = Promise.all([index.add(given), index.add(one)]);
  for (const document of [...given, one]) Object.assign(document, { id: "x", text: "changed", title: "changed" });
  given.length = 0;
  await adding;
  assert.equal(index.size, 3001);
  assert.deepEqual(index.get("2999"), doc("2999", "text 2999", { title: "title 2999" }));
  assert.deepEqual(index.get("one"), doc("one", "just one"));
});

test("what is invalid is refused before anything is added", async () => {
  const index = await indexOf(PETS);
  const engine = fakeEngine();
  for (const bad of [[doc("x", "fine"), doc("cat", "again")], [doc("x", ""), doc("x", "")], [doc("x", "fine"), { id: "y" }], [null], 7, "text", undefined]) {
    await assert.rejects(index.add(bad), code("INVALID_INPUT"));
  }
  await assert.rejects(index.add(doc("x", "fine"), { batchSize: 0 }), code("INVALID_INPUT"));
  await assert.rejects(index.add(doc("x", "fine"), { batch: 8 }), code("INVALID_INPUT"));
  assert.throws(() => new SearchIndex(engine, { vector: "int8" }), /no option vector, only vectors, passageTokens/);
  await assert.rejects(index.remove(7), code("INVALID_INPUT"));
  assert.equal(index.size, 3);
  const queries = [["a", { k: 0 }], ["a", { k: 1.5 }], ["a", { mode: "both" }], ["a", { filter: true }], ["a", { topK: 3 }], [7], [null], [{}],
    [new Float32Array(16)], [new Float32Array(16).fill(NaN)], [embedText("a", 16), { mode: "hybrid" }], [new Array(16).fill("1")]]; // prettier-ignore
  for (const [query, options] of queries) await assert.rejects(index.query(query, options), code("INVALID_INPUT"));
  await assert.rejects(index.query(new Float32Array(15)), code("DIMENSION"));
  const strange = [undefined, null, {}, { ...engine, dim: 0 }, { ...engine, fingerprint: "F".repeat(64) }, { ...engine, tokenCount: undefined },
    { ...engine, embed: undefined, embedBatch: undefined }, { ...engine, maxSeqLen: undefined }]; // prettier-ignore
  for (const value of strange) assert.throws(() => new SearchIndex(value), code("INVALID_INPUT"));
  assert.throws(() => new SearchIndex(Promise.resolve(engine)), /found a promise: await load/);
  assert.throws(() => new SearchIndex(engine, { vectors: "int4" }), code("INVALID_INPUT"));
  assert.throws(() => new SearchIndex(engine, { passageTokens: 2 }), code("INVALID_INPUT"));
});

test("engines of other shapes: embed alone, batches alone, plain arrays, maxTokens", async () => {
  const { dim, fingerprint, embed, tokenCount } = fakeEngine({ async: true });
  const base = { dim, fingerprint, tokenCount, maxTokens: 16 };
  const shapes = [{ ...base, embed }, { ...base, embedBatch: (texts) => texts.map((text) => Array.from(embedText(text, dim))) }];
  for (const engine of shapes) {
    const index = await indexOf([...PETS, LONG], {}, engine);
    assert.equal(index.passageTokens, 16);
    assert.equal((await index.query(PETS[0].text, { bestSentence: true }))[0].id, "cat");
  }
});

test("an engine that answers wrongly or fails: its error, and only whole documents stay", async () => {
  const wrong = [[() => [], "DIMENSION"], [(texts) => texts.map(() => new Float32Array(3)), "DIMENSION"],
    [(texts) => texts.map(() => new Float32Array(16)), "INVALID_INPUT"], [(texts) => texts.map(() => new Float32Array(16).fill(NaN)), "INVALID_INPUT"]]; // prettier-ignore
  for (const [embedBatch, expected] of wrong) {
    const index = new SearchIndex({ ...fakeEngine(), embedBatch });
    await assert.rejects(index.add(PETS), code(expected));
    assert.equal(index.size, 0);
  }
  let calls = 0;
  const engine = fakeEngine({ onBatch: () => { if (++calls === 3) throw new RangeError("broken"); } });
  const index = new SearchIndex(engine);
  await assert.rejects(index.add([...PETS, LONG], { batchSize: 2 }), RangeError);
  assert.deepEqual(Array.from(index.documents(), ({ id }) => id), ["cat", "dog", "fish"]);
  await index.add(LONG);
  assert.equal(index.size, 4);
});

for (const async of [false, true]) {
  test(`an aborted add keeps whole documents, and the index goes on (${async ? "asynchronous" : "synchronous"})`, async () => {
    const controller = new AbortController();
    let batches = 0;
    const index = new SearchIndex(fakeEngine({ async, onBatch: () => { if (++batches === 3) controller.abort(); } }));
    const events = [];
    const adding = index.add([...PETS, LONG], { signal: controller.signal, batchSize: 1, onProgress: (e) => events.push(e) });
    await assert.rejects(adding, (error) => code("ABORTED")(error) && error.cause.name === "AbortError");
    assert.deepEqual(Array.from(index.documents(), ({ id }) => id), ["cat", "dog"]);
    assert.deepEqual(events, [{ done: 1, total: 4, passages: 1 }, { done: 2, total: 4, passages: 2 }]);
    await assert.rejects(index.add([LONG], { signal: controller.signal }), code("ABORTED"));
    await index.add([PETS[2], LONG]);
    assert.equal(index.size, 4);
    await assert.rejects(index.query("cat", { signal: controller.signal }), code("ABORTED"));
  });
}

test("an engine that can be aborted gets the signal, and its ABORTED comes through", async () => {
  const controller = new AbortController();
  const pending = (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(Object.assign(new Error("tern-engine: off"), { code: "ABORTED" }))));
  const index = new SearchIndex({ ...fakeEngine({ async: true }), embed: pending, embedBatch: pending });
  const all = [index.add(PETS, { signal: controller.signal }), index.query("cat", { signal: controller.signal })];
  setTimeout(() => controller.abort(), 5);
  for (const aborted of all) await assert.rejects(aborted, code("ABORTED"));
  assert.equal(index.size, 0);
});

test("progress ends with all, and documents are found while others are still on their way", async () => {
  const events = [];
  const seen = [];
  const engine = fakeEngine({ async: true });
  const index = new SearchIndex(engine);
  await index.add([...PETS, doc("blank", ""), LONG], {
    batchSize: 1,
    onProgress: (event) => {
      events.push(event);
      seen.push(index.query(PETS[0].text, { k: 1 }).then(ids));
    },
  });
  assert.deepEqual(events.at(-1), { done: 5, total: 5, passages: index.passageCount });
  assert.ok(events.every(({ done }, i) => i === 0 || done >= events[i - 1].done));
  for (const found of await Promise.all(seen)) assert.deepEqual(found, ["cat"]);
});

test("other tasks run between the batches of a long add", async () => {
  const slow = fakeEngine({ onBatch: (texts) => { const until = performance.now() + texts.length; while (performance.now() < until); } });
  const index = new SearchIndex(slow);
  let turns = 0;
  let going = true;
  const tick = () => { turns++; if (going) setImmediate(tick); };
  setImmediate(tick);
  await index.add(Array.from({ length: 300 }, (_, i) => doc(`${i}`, `document ${i}`)));
  going = false;
  // 300 ms of work in batches of 16 ms at most, in one task if nothing ever paused.
  assert.ok(turns >= 5, `${turns} turns`);
  const largest = Math.max(...slow.batches.map((texts) => texts.length));
  assert.ok(largest <= 64 && slow.batches.length >= 300 / 64);
});

test("an asynchronous engine gets batches that a pool can share", async () => {
  const engine = fakeEngine({ async: true });
  await indexOf(Array.from({ length: 600 }, (_, i) => doc(`${i}`, `document ${i}`)), {}, engine);
  assert.equal(Math.max(...engine.batches.map((texts) => texts.length)), 256);
});
