/** Texts under the search index: canonical JSON, sentences, passages, words, offsets. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalJson } from "../../web/canonical-json.js";
import { CodePoints, codePointLength } from "../../web/code-points.js";
import { parseRecord, readDocument } from "../../web/documents.js";
import { Pacer } from "../../web/pace.js";
import { PassageCutter } from "../../web/passages.js";
import { markRanges, splitSentences } from "../../web/search.js";
import { quantize } from "../../web/vectors.js";
import { fold, highlightsOf, wordsOf } from "../../web/words.js";
import { code, countTokens } from "./support/search-engine.mjs";

const golden = (name) => JSON.parse(readFileSync(new URL(`../golden/index/${name}`, import.meta.url), "utf8"));
const pacer = () => new Pacer(undefined, "");
const terms = (text) => wordsOf(text).map(({ term }) => term);

function cutterFor(limit) {
  const count = (text) => ({ tokens: Math.min(countTokens(text), limit), truncated: countTokens(text) > limit });
  return new PassageCutter(count, limit);
}

/** Texts with what makes splitting hard: stops, white space, emoji, lone surrogates. */
const anyText = fc
  .array(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(". ", "! ", "。", "\n\n", " ", "Dr. ", "word", "\ud800", "\udc00", "😀", "\r\n")))
  .map((parts) => parts.join(""));

test("sentences: golden cases", () => {
  for (const { text, sentences } of golden("sentences.json")) {
    assert.deepEqual(splitSentences(text).map((sentence) => sentence.text), sentences);
  }
});

test("sentences: in order, without white space around them, and nothing else is lost", () => {
  fc.assert(fc.property(anyText, (text) => {
    const points = Array.from(text);
    let at = 0;
    for (const { start, end, text: sentence } of splitSentences(text)) {
      assert.ok(start >= at && end > start);
      assert.equal(points.slice(start, end).join(""), sentence);
      assert.match(points.slice(at, start).join(""), /^[\s\u0085]*$/);
      assert.match(sentence, /^[^\s\u0085]([^]*[^\s\u0085])?$/);
      at = end;
    }
    assert.match(points.slice(at).join(""), /^[\s\u0085]*$/);
  }));
});

test("sentences of anything but a string: INVALID_INPUT", () => {
  assert.throws(() => splitSentences(7), code("INVALID_INPUT"));
});

test("canonical JSON: golden cases", () => {
  for (const { input, canonical } of golden("json.json")) assert.equal(canonicalJson(JSON.parse(input)), canonical);
});

test("canonical JSON reads back as the same value, whatever the order of members", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const text = canonicalJson(value);
    assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
    const turned = (v) =>
      Array.isArray(v) ? v.map(turned)
        : typeof v === "object" && v !== null ? Object.fromEntries(Object.entries(v).reverse().map(([k, m]) => [k, turned(m)]))
          : v; // prettier-ignore
    assert.equal(canonicalJson(turned(value)), text);
  }));
});

test("canonical JSON: what is no JSON is refused, and said where", () => {
  const cycle = {};
  cycle.self = cycle;
  const strange = [NaN, Infinity, 1n, () => 1, Symbol("a"), new Date(0), new Map(), [undefined], [, 1], cycle, new Float32Array(1)];
  for (const value of [undefined, ...strange]) assert.throws(() => canonicalJson(value), code("INVALID_INPUT"));
  assert.throws(() => canonicalJson({ a: [1, { b: NaN }] }, "meta"), /meta\.a\[1\]\.b must be a finite number/);
  assert.equal(canonicalJson({ a: undefined, b: Object.create(null) }), '{"b":{}}');
  let deep = 1;
  for (let i = 0; i < 64; i++) deep = [deep];
  assert.equal(canonicalJson(deep), "[".repeat(64) + 1 + "]".repeat(64));
  assert.throws(() => canonicalJson([deep]), code("INVALID_INPUT"));
});

test("documents are copied, frozen to the bottom, and refused where they are not as described", () => {
  const meta = { tags: ["a"] };
  const document = readDocument({ id: "1", text: "t", title: undefined, meta }, "d");
  meta.tags.push("b");
  assert.deepEqual(document, { id: "1", text: "t", meta: { tags: ["a"] } });
  assert.throws(() => document.meta.tags.push("c"), TypeError);
  const bad = [null, "t", [], {}, { id: "", text: "" }, { id: 1, text: "" }, { id: "1" }, { id: "1", text: null },
    { id: "1", text: "", title: null }, { id: "1", text: "", source: 7 }, { id: "1", text: "", meta: [] },
    { id: "1", text: "", meta: null }, { id: "1", text: "", body: "" }, new (class Page { id = "1"; text = ""; })()]; // prettier-ignore
  for (const value of bad) assert.throws(() => readDocument(value, "d"), code("INVALID_INPUT"));
});

test("records that are not the canonical text of a document are not read", () => {
  assert.deepEqual(parseRecord('{"id":"1","text":""}'), { id: "1", text: "" });
  const bad = ["", "null", '{"text":"","id":"1"}', '{"id":"1", "text":""}', '{"id":"1","text":"","x":1}', '{"id":"1","id":"1","text":""}',
    '{"id":"1","text":"\\u0041"}', '{"id":"1","meta":{"a":1.0},"text":""}', '{"id":"1","text":"","title":null}', '{"id":"1","text":""}\n']; // prettier-ignore
  for (const record of bad) assert.equal(parseRecord(record), null, record);
});

test("passages: golden cases", async () => {
  for (const { text, limit, passages } of golden("passages.json")) {
    const offsets = await cutterFor(limit).cut(text, pacer());
    assert.deepEqual(Array.from(offsets), passages.flat());
  }
});

test("passages: within the limit, in order, trimmed, and every word is in one", async () => {
  await fc.assert(fc.asyncProperty(anyText, fc.integer({ min: 3, max: 30 }), async (text, limit) => {
    const offsets = await cutterFor(limit).cut(text, pacer());
    const points = Array.from(text);
    let at = 0;
    for (let i = 0; i < offsets.length; i += 2) {
      const [start, end] = offsets.subarray(i, i + 2);
      const passage = points.slice(start, end).join("");
      assert.ok(start >= at && end > start);
      assert.ok(countTokens(passage) <= limit || end - start === 1);
      assert.match(points.slice(at, start).join(""), /^[\s\u0085]*$/);
      assert.match(passage, /^[^\s\u0085]([^]*[^\s\u0085])?$/);
      at = end;
    }
    assert.match(points.slice(at).join(""), /^[\s\u0085]*$/);
  }));
});

test("a document of 1 MB is cut with work in proportion to it", async () => {
  for (const unit of ["Some words make a sentence. ", "x", "no end of words ", "😀", " \n"]) {
    const text = unit.repeat(Math.ceil(1e6 / unit.length));
    let counted = 0;
    const count = (part) => {
      counted += part.length;
      const tokens = 2 + Math.ceil(part.length / 4);
      return { tokens: Math.min(tokens, 128), truncated: tokens > 128 };
    };
    const offsets = await new PassageCutter(count, 128).cut(text, pacer());
    assert.equal(offsets.length > 0, unit.trim() !== "");
    assert.ok(counted <= 30 * text.length, `${counted} code units counted`);
  }
});

test("code points: the same counts and slices as the string's own iterator", () => {
  fc.assert(fc.property(anyText, (text) => {
    const points = new CodePoints(text);
    const all = Array.from(text);
    assert.equal(points.length, all.length);
    assert.equal(codePointLength(text), all.length);
    let unit = 0;
    all.forEach((character, i) => {
      assert.equal(points.at(i), character.codePointAt(0));
      assert.equal(points.unit(i), unit);
      assert.equal(points.index(unit), i);
      assert.equal(points.slice(i, all.length), all.slice(i).join(""));
      unit += character.length;
    });
    assert.equal(points.index(text.length), all.length);
  }));
});

test("words: folded, of any script, emoji too", () => {
  assert.deepEqual(terms("Don't stop the CAFÉ—now! x2"), ["dont", "stop", "the", "cafe", "now", "x2"]);
  assert.deepEqual(terms("吾輩は猫ABC。"), ["吾", "輩", "は", "猫", "abc"]);
  assert.deepEqual(terms("مَرحبا ΟΔΟΣ οδός 🚀🚀 \ud800 '' _"), ["مرحبا", "οδοσ", "οδοσ", "🚀", "🚀"]);
  assert.equal(fold("Å"), fold("å"));
  assert.equal(terms("a".repeat(1e6))[0].length, 64);
});

test("highlights in code points, and texts in pieces by them", () => {
  const text = "😀 Café, cafe and 🚀 CAFE";
  const ranges = highlightsOf(text, new Set(["cafe", "🚀"]));
  assert.deepEqual(ranges, [[2, 6], [8, 12], [17, 18], [19, 23]]);
  const pieces = markRanges(text, ranges);
  assert.deepEqual(pieces.filter((p) => p.marked).map((p) => p.text), ["Café", "cafe", "🚀", "CAFE"]);
  assert.equal(pieces.map((p) => p.text).join(""), text);
  assert.deepEqual(highlightsOf(text, new Set()), []);
  assert.deepEqual(markRanges("", []), []);
});

test("int8: golden cases", () => {
  for (const { vector, scale, codes } of golden("int8.json")) {
    const bytes = Uint8Array.from(Buffer.from(vector, "hex"));
    const quantized = quantize(new Float32Array(bytes.buffer));
    assert.deepEqual(Array.from(quantized.codes, (c) => c + 0), codes);
    assert.equal(Buffer.from(Float32Array.of(quantized.scale).buffer).toString("hex"), scale);
  }
});
