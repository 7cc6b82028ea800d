/** The demo's pure half: its corpus, its stored vectors, what it reads of files, its addresses. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { csvRecords, describeRecord } from "../../web/demo/csv.js";
import { modelOf } from "../../web/demo/encyclopedia.js";
import { htmlToText } from "../../web/demo/html.js";
import { vectorsOfFile } from "../../web/demo/index-vectors.js";
import { layOut } from "../../web/demo/layout.js";
import { decode, readMaterial, sections } from "../../web/demo/readers.js";
import { readUpTo } from "../../web/demo/reading.js";
import { HOME, readRoute, writeRoute } from "../../web/demo/route.js";
import { remembering } from "../../web/demo/sentence-memory.js";
import { cut, showable } from "../../web/demo/showable.js";
import { SearchIndex } from "../../web/search.js";
import umap from "umap-js";

const MODEL = "ab".repeat(32);
const root = fileURLToPath(new URL("../../", import.meta.url));

test("JSDoc types hold, in the page's scripts and in its workers'", () => {
  const checked = new Set();
  for (const config of ["tsconfig.json", "workers.json"]) {
    const command = [`${root}node_modules/typescript/bin/tsc`, "-p", `${root}tests/js/demo-types/${config}`, "--listFiles"];
    const run = spawnSync(process.execPath, command, { encoding: "utf8" });
    assert.equal(run.status, 0, run.stdout.replace(/^\/.*\n/gm, ""));
    for (const [, name] of run.stdout.matchAll(/\/web\/demo\/([\w.-]+\.js)$/gm)) checked.add(name);
  }
  const all = readdirSync(`${root}web/demo`).filter((name) => name.endsWith(".js"));
  assert.deepEqual([...checked].sort(), all.sort());
});

test("no module of the page imports one that imports it, directly or by way of others", () => {
  /** @type {Map<string, string[]>} */
  const imports = new Map();
  for (const name of readdirSync(`${root}web/demo`).filter((file) => file.endsWith(".js"))) {
    const source = readFileSync(`${root}web/demo/${name}`, "utf8");
    const static_ = source.matchAll(/^import [^;]*"\.\/([\w.-]+)";$/gm);
    const dynamic = source.matchAll(/\bawait import\("\.\/([\w.-]+)"\)/g);
    imports.set(name, [...static_, ...dynamic].map(([, other]) => other));
  }
  const seen = new Set();
  const visit = (name, path) => {
    assert.ok(!path.includes(name), [...path, name].join(" → "));
    if (seen.has(name)) return;
    for (const other of imports.get(name) ?? []) visit(other, [...path, name]);
    seen.add(name);
  };
  for (const name of imports.keys()) visit(name, []);
  assert.ok(imports.get("demo.js").length > 5);
});

test("the model of an index file is known before the engine is", async () => {
  const engine = { dim: 3, fingerprint: MODEL, maxSeqLen: 9, tokenCount: () => ({ tokens: 2, truncated: false }), embedBatch: () => [] };
  const file = await new SearchIndex(engine).save();
  const shifted = new Uint8Array(file.length + 3); // a view that is not aligned
  shifted.set(file, 3);
  assert.deepEqual(modelOf(shifted.subarray(3)), { fingerprint: MODEL, dim: 3, maxSeqLen: 9 });
  assert.throws(() => modelOf(file.subarray(0, 9)), /has 9 bytes/);
});

test("sentences are embedded once, in the order asked for, and few are remembered", async () => {
  const asked = [];
  const embedBatch = remembering((texts) => {
    asked.push(...texts);
    return texts.map((text) => Float32Array.of(text.length));
  });
  assert.deepEqual(await embedBatch(["a", "bcd", "a"]), [1, 3, 1].map((x) => Float32Array.of(x)));
  assert.deepEqual(await embedBatch(["bcd", "ef"]), [3, 2].map((x) => Float32Array.of(x)));
  assert.deepEqual(asked, ["a", "bcd", "ef"]);
  for (let i = 0; i < 100; i++) await embedBatch(Array.from({ length: 20 }, (_, j) => `${i} ${j}`));
  asked.length = 0;
  await embedBatch(["a", "99 19"]);
  assert.deepEqual(asked, ["a"]); // long ago; the last is still known
});

test("common words are not marked, others are", () => {
  const passage = { text: "The boat to the island.", start: 0 };
  const result = { id: "1", score: 1, document: {}, passage, meaning: null, keyword: null };
  const shown = (highlights) => showable({ ...result, highlights });
  assert.deepEqual(shown([[0, 3], [4, 8], [9, 11]]).pieces.filter(({ mark }) => mark).map(({ text }) => text), ["boat"]);
  assert.equal(shown([[4, 8]]).shares, true);
  assert.equal(shown([[0, 3], [9, 11]]).shares, false);
});

test("an address says where the page is, and nothing of it can break the page", () => {
  const route = { view: "map", query: "naïve & 日本 #1", mode: "hybrid", collection: "library", filter: "a b.md" };
  assert.deepEqual(readRoute(writeRoute(route)), route);
  assert.equal(writeRoute(HOME), "");
  assert.deepEqual(readRoute(""), HOME);
  assert.deepEqual(readRoute("#view=nowhere&mode=x&in=y"), HOME);
  assert.equal(readRoute("#q=%E0%A4%A").view, "search");
});

test("CSV: quotes, line ends within them, other separators, rows as spreadsheets count them", () => {
  const records = (text) => [...csvRecords(text)].map(([row, record]) => [row, describeRecord(record)]);
  assert.deepEqual(records('\ufeffid,title,text\r\n7,"a ""b""","x\r\ny, z"\r\n\r\n8,c,d'), [
    [2, { title: 'a "b"', text: "x\r\ny, z" }],
    [4, { title: "c", text: "d" }],
  ]);
  assert.deepEqual(records("name;colour;size\nmoss;green;\n"), [[2, { title: "moss", text: "green" }]]);
  assert.deepEqual(records("a,b\n1,2"), [[2, { text: "a: 1\nb: 2" }]]);
  assert.deepEqual(records('a\n"no end'), [[2, { text: "no end" }]]);
});

test("HTML: text without scripts, headings kept, entities read", () => {
  const html = "<title>T &amp; t</title><style>p{}</style><h2>One <b>two</b></h2><p>Fish&nbsp;&#x1F41F; &eacute;</p><script>x()</script><p>a<b>b</b>";
  assert.deepEqual(htmlToText(html), { title: "T & t", text: "## One two\n\nFish\u00a0\u{1F41F} é\n\nab" });
});

test("a text is cut at headings and paragraphs, and nothing of it is lost", () => {
  assert.deepEqual([...sections("# A\nfirst\n\nsecond\n## B\nthird")], [
    { text: "first\n\nsecond", title: "A" },
    { text: "third", title: "B" },
  ]);
  const paragraphs = Array.from({ length: 40 }, (_, i) => `${i} ${"word ".repeat(30)}end`);
  const parts = [...sections(paragraphs.join("\n\n"))].map(({ text }) => text);
  assert.ok(parts.length > 3);
  assert.equal(parts.join("\n\n"), paragraphs.join("\n\n"));
});

test("bytes become text by their mark, as UTF-8, else as Windows-1252", () => {
  assert.equal(decode(Uint8Array.of(0xff, 0xfe, 0x41, 0)), "A");
  assert.equal(decode(Uint8Array.of(0xc3, 0xa9)), "é");
  assert.equal(decode(Uint8Array.of(0x63, 0xe9)), "cé");
});

test("files: a document a part, and an error that says why not", async () => {
  const read = async (name, text) => {
    const found = [];
    const file = new File([text], name);
    for await (const document of readMaterial({ name, file }, new AbortController().signal)) found.push(document);
    return found;
  };
  assert.deepEqual(await read("x.json", '{"items": [{"title": "t", "body": "b"}, {"body": "c", "id": 3}]}'), [
    { id: "x.json#0", text: "b", source: "x.json", title: "t", meta: { place: "entry 1" } },
    { id: "x.json#1", text: "c", source: "x.json", meta: { place: "entry 2" } },
  ]);
  assert.equal((await read("x.jsonl", '{"a": 1}\n\n{"a": 2}')).length, 2);
  await assert.rejects(read("x.json", "{"), { code: "NOT_JSON" });
  await assert.rejects(read("x.txt", " \n "), { code: "EMPTY" });
  await assert.rejects(read("x.exe", "MZ"), { code: "UNKNOWN_KIND" });
});

test("a passage in pieces: marked words, the best sentence, code points", () => {
  const passage = { text: "😀 One two. Three.", start: 10 };
  const pieces = cut(passage, [[2, 5]], { start: 21, end: 27 });
  assert.equal(pieces.map(({ text }) => text).join(""), passage.text);
  assert.deepEqual(pieces.filter(({ mark }) => mark).map(({ text }) => text), ["One"]);
  assert.deepEqual(pieces.filter(({ best }) => best).map(({ text }) => text), ["Three."]);
  assert.ok(cut(passage, [], { start: 10, end: 27 }).every(({ best }) => !best)); // all of it is no news
});

test("how far a text is read, found without cutting a character in two", () => {
  const engine = { maxSeqLen: 5, tokenCount: (text) => ({ tokens: Math.min(5, text.length), truncated: text.length > 5 }) };
  assert.deepEqual(readUpTo(engine, "abc"), { tokens: 3, limit: 5, readTo: 3 });
  assert.equal(readUpTo(engine, "abcdefg").readTo, 5);
  assert.equal(readUpTo(engine, "abcd😀fg").readTo, 4);
});

test("vectors out of an index file are those that went in, in both kinds", async () => {
  const engine = {
    dim: 2,
    fingerprint: MODEL,
    maxSeqLen: 9,
    tokenCount: (text) => ({ tokens: text.length + 2, truncated: false }),
    embedBatch: (texts) => texts.map((text) => Float32Array.of(Math.cos(text.length), Math.sin(text.length))),
  };
  for (const vectors of ["float32", "int8"]) {
    const index = new SearchIndex(engine, { vectors });
    await index.add([{ id: "a", text: "é b" }, { id: "b", text: "Four. Five." }]);
    const found = await vectorsOfFile(await index.save(), 100);
    assert.deepEqual(found.passages.map(({ text }) => text), ["é b", "Four.", "Five."]);
    found.passages.forEach(({ text }, i) => {
      assert.ok(Math.abs(found.rows[2 * i] - Math.cos(text.length)) < 0.01, `${vectors} ${i}`);
      assert.ok(Math.abs(found.rows[2 * i + 1] - Math.sin(text.length)) < 0.01);
    });
    assert.equal((await vectorsOfFile(await index.save(), 2)).passages.length, 2);
  }
});

test("the map keeps near what is near, always in the same way, with few points too", async () => {
  const rows = Array.from({ length: 60 }, (_, i) => {
    const angle = (i < 30 ? 0 : 1.5) + 0.004 * (i % 30);
    return Float32Array.of(Math.cos(angle), Math.sin(angle));
  });
  const points = await layOut(umap.UMAP, rows);
  assert.deepEqual(await layOut(umap.UMAP, rows), points);
  assert.ok(points.every((x) => x >= 0 && x <= 1));
  const apart = (a, b) => Math.hypot(points[2 * a] - points[2 * b], points[2 * a + 1] - points[2 * b + 1]);
  assert.ok(apart(0, 5) < apart(0, 45));
  for (const count of [1, 3, 9]) assert.equal((await layOut(umap.UMAP, rows.slice(0, count))).length, 2 * count);
});
