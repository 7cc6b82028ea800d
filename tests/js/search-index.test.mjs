/** SearchIndex over an engine of hashed words: queries and their ranking. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RRF_K, SearchIndex } from "../../web/search.js";
import { Best, fuse } from "../../web/fusion.js";
import { Keywords } from "../../web/keywords.js";
import { runQuery } from "../../web/query.js";
import { code, countTokens, doc, embedText, fakeEngine, ids, indexOf, LONG, PETS } from "./support/search-engine.mjs";

for (const vectors of ["float32", "int8"]) {
  test(`${vectors}: the same words are found first, scores fall and are cosines`, async () => {
    const index = await indexOf([...PETS, LONG], { vectors });
    for (const { id, text } of PETS) {
      const results = await index.query(text);
      assert.equal(results[0].id, id);
      assert.ok(Math.abs(results[0].score - 1) < (vectors === "int8" ? 0.02 : 1e-6));
      assert.ok(results.every(({ score }, i) => i === 0 || score <= results[i - 1].score));
      assert.deepEqual(results.map((r) => r.meaning), results.map(({ score }, i) => ({ rank: i + 1, score })));
      assert.ok(results.every(({ keyword }) => keyword === null));
    }
  });
}

test("scores equal those of plain dot products", async () => {
  for (const dim of [1, 2, 3, 8, 31]) {
    const engine = fakeEngine({ dim });
    const documents = Array.from({ length: 11 }, (_, i) => doc(`${i}`, `text ${i}`));
    const index = await indexOf(documents, {}, engine);
    const query = embedText("text 3 or so", dim);
    for (const { id, score } of await index.query("text 3 or so", { k: 20 })) {
      const plain = embedText(`text ${id}`, dim).reduce((sum, x, i) => sum + x * query[i], 0);
      assert.ok(Math.abs(score - plain) < 1e-12);
    }
  }
});

test("a long document is found by its best passage, with offsets in the document", async () => {
  const index = await indexOf([...PETS, { ...LONG, text: `😀 ${LONG.text}` }]);
  const [best] = await index.query("The volcano erupts at night.", { bestSentence: true });
  assert.equal(best.id, "long");
  const points = Array.from(best.document.text);
  assert.equal(points.slice(best.passage.start, best.passage.end).join(""), best.passage.text);
  assert.ok(best.passage.text.includes("volcano") && countTokens(best.passage.text) <= 16);
  assert.ok(best.passage.index > 0);
  assert.equal(best.sentence.text, "The volcano erupts at night.");
  assert.equal(points.slice(best.sentence.start, best.sentence.end).join(""), best.sentence.text);
  const marked = best.highlights.map(([start, end]) => Array.from(best.passage.text).slice(start, end).join(""));
  assert.ok(marked.includes("volcano") && !marked.includes("hurt"));
});

test("queries by vector: scaled to length 1; the same as by text", async () => {
  const index = await indexOf(PETS);
  const vector = embedText(PETS[1].text, 16);
  assert.equal((await index.query(vector))[0].id, "dog");
  const byText = await index.query(PETS[1].text);
  const long = await index.query(Array.from(vector, (x) => 1000 * x));
  assert.deepEqual(ids(long), ids(byText));
  long.forEach(({ score }, i) => assert.ok(Math.abs(score - byText[i].score) < 1e-6));
  assert.deepEqual(long[0].highlights, []);
  const engine = fakeEngine();
  engine.embed = () => assert.fail("embedded");
  const known = await indexOf(PETS, {}, engine);
  assert.equal((await known.query("anything", { vector }))[0].id, "dog");
});

test("k, and filters that see frozen documents", async () => {
  const index = await indexOf(PETS);
  assert.equal((await index.query("a", { k: 2 })).length, 2);
  assert.equal((await index.query("a", { k: 50 })).length, 3);
  for (const mode of ["meaning", "keyword", "hybrid"]) {
    const found = await index.query("the postman cat", { mode, filter: (d) => Object.isFrozen(d) && d.meta?.loud === true });
    assert.deepEqual(ids(found), ["dog"]);
    await assert.rejects(index.query("cat", { mode, filter: () => { throw new RangeError("mine"); } }), RangeError);
  }
});

test("by keyword: titles, beginnings, misspelt words, emoji, accents; highlights say where", async () => {
  const index = await indexOf([...PETS, doc("cafe", "Meet me at the Café 🚀 tonight"), doc("blank", " ", { title: "Grocery list" })]);
  const find = async (text) => ids(await index.query(text, { mode: "keyword" }));
  assert.deepEqual(await find("noise"), ["dog"]);
  assert.deepEqual(await find("postm"), ["dog"]);
  assert.deepEqual(await find("posman"), ["dog"]);
  assert.deepEqual(await find("CAFE"), ["cafe"]);
  assert.deepEqual(await find("🚀"), ["cafe"]);
  assert.deepEqual(await find("unheard"), []);
  assert.deepEqual(await find(""), []);
  const [grocery] = await index.query("grocery", { mode: "keyword" });
  assert.equal(grocery.passage, null);
  assert.deepEqual(grocery.highlights, []);
  const [{ passage, highlights, keyword, meaning, score }] = await index.query("posman", { mode: "keyword" });
  assert.equal(passage.text.slice(...highlights[0]), "postman");
  assert.deepEqual([keyword.rank, keyword.score, meaning], [1, score, null]);
});

test("equal scores rank in the index's order, in which a replaced document keeps its place", async () => {
  const index = await indexOf(["a", "b", "c"].map((id) => doc(id, "the very same text")));
  await index.replace(doc("a", "the very same text", { title: "new" }));
  for (const mode of ["meaning", "keyword", "hybrid"]) {
    assert.deepEqual(ids(await index.query("the very same text", { mode })), ["a", "b", "c"]);
  }
});

test("a word in the title counts more than the same word in the text", async () => {
  const index = await indexOf([doc("text", "harbour and sea", { title: "ships" }), doc("title", "ships and sea", { title: "harbour" })]);
  assert.deepEqual(ids(await index.query("harbour", { mode: "keyword" })), ["title", "text"]);
});

test("hybrid: the sum of reciprocal ranks", async () => {
  const index = await indexOf([...PETS, LONG]);
  const results = await index.query("cat on a volcano", { mode: "hybrid" });
  for (const { score, meaning, keyword } of results) {
    const expected = [meaning, keyword].reduce((sum, half) => sum + (half === null ? 0 : 1 / (RRF_K + half.rank)), 0);
    assert.equal(score, expected);
  }
  assert.deepEqual(new Set(ids(results).slice(0, 2)), new Set(["cat", "long"]));
  assert.deepEqual(ids(await index.query("xyzzy", { mode: "hybrid" })), ids(await index.query("xyzzy")));
});

test("fusion: documents of both rankings, the passage of the higher place, ties in the index's order", () => {
  const [a, b, c] = [0, 1, 2].map((order) => ({ order }));
  const hit = (entry, part) => ({ entry, part, score: 0 });
  const fused = fuse([hit(b, 1), hit(a, 2)], [hit(a, 3), hit(c, 4), hit(b, 5)]);
  assert.deepEqual(fused.map(({ entry, part }) => [entry.order, part]), [[0, 3], [1, 1], [2, 4]]);
  assert.equal(fused[0].score, 1 / 62 + 1 / 61);
  assert.deepEqual(fuse([hit(a, 1)], [hit(b, 1)]).map(({ entry }) => entry.order), [0, 1]);
});

test("the best of many are those that sorting gives", () => {
  fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 400 }), fc.integer({ min: 1, max: 30 }), (scores, size) => {
    const best = new Best(size);
    scores.forEach((score, order) => best.offer(/** @type {any} */ ({ order }), 0, score));
    const sorted = scores.map((score, order) => ({ score, order })).sort((x, y) => y.score - x.score || x.order - y.order);
    assert.deepEqual(best.ranked().map(({ entry, score }) => ({ score, order: entry.order })), sorted.slice(0, size));
  }));
});

test("emoji, right-to-left text, lone surrogates and a document of 1 MB: found, and saved", async () => {
  const big = `${"Some words make a sentence. ".repeat(36_000)}The needle is here.`;
  const documents = [
    doc("emoji 👩🏽‍🚀", "👩🏽‍🚀 went up 🚀"), doc("rtl", "مرحبا بالعالم. שלום עולם"), doc("half \ud800", "one \udc00 half"),
    doc("big", big, { meta: { "__proto__": 1, "😀": ["\ud800"] } }),
  ]; // prettier-ignore
  const engine = fakeEngine({ maxSeqLen: 128 });
  const index = await indexOf(documents, { vectors: "int8" }, engine);
  const loaded = await SearchIndex.load(engine, await index.save());
  for (const searched of [index, loaded]) {
    const find = async (text, mode) => (await searched.query(text, { mode, k: 1 }))[0];
    assert.equal((await find("🚀", "keyword")).id, "emoji 👩🏽‍🚀");
    assert.equal((await find("مرحبا بالعالم שלום עולם", "meaning")).id, "rtl");
    assert.equal((await find("one half", "hybrid")).id, "half \ud800");
    const needle = await find("needle", "keyword");
    assert.equal(needle.id, "big");
    assert.equal(big.slice(needle.passage.start, needle.passage.end), needle.passage.text);
    assert.equal(needle.highlights.length, 1);
    assert.deepEqual(searched.get("big").meta["😀"], ["\ud800"]);
  }
});

test("the keyword library: imported when needed, and again after it failed", async () => {
  let attempts = 0;
  const keywords = new Keywords(() => (++attempts === 1 ? Promise.reject(new TypeError("offline")) : import("minisearch")));
  await assert.rejects(keywords.update(() => []), code("LOAD_NETWORK"));
  await keywords.update(() => []);
  assert.deepEqual(keywords.find("anything"), []);
  assert.equal(attempts, 2);
});

test("a query that is aborted while the keyword half is made ends at once, and the half is made", async () => {
  let imported = (_library) => {};
  const keywords = new Keywords(() => new Promise((resolve) => (imported = resolve)));
  const controller = new AbortController();
  const index = { embedder: {}, rows: () => assert.fail("by meaning"), keywords: async () => (await keywords.update(() => []), keywords) };
  const query = (signal) => runQuery("text", { mode: "keyword", signal }, /** @type {any} */ (index));
  const [aborted, going] = [query(controller.signal), query(new AbortController().signal)];
  setTimeout(() => controller.abort(), 5);
  await assert.rejects(aborted, (error) => code("ABORTED")(error) && error.cause.name === "AbortError");
  imported(await import("minisearch"));
  assert.deepEqual(await going, []);
});

test("words in very many passages are left out of a query that has rarer ones", async () => {
  const documents = Array.from({ length: 6000 }, (_, i) => doc(`${i}`, i % 100 === 7 ? `common rare${i}` : "common"));
  const index = await indexOf(documents);
  const found = await index.query("common rare307", { mode: "keyword", k: 100 });
  assert.deepEqual(ids(found), ["307"]);
  assert.equal((await index.query("common", { mode: "keyword", k: 3 })).length, 3);
});
