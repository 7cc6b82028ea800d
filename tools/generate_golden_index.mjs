/**
 * Writes the files in tests/golden/index that come from the code: index files with what is in them,
 * passages and quantized vectors. Every implementation of docs/index-format.md has to reproduce them;
 * a change to them is a change of the format. sentences.json and json.json there are written by hand.
 *
 *     node tools/generate_golden_index.mjs [FOLDER]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PassageCutter } from "../web/passages.js";
import { Pacer } from "../web/pace.js";
import { SearchIndex } from "../web/search.js";
import { quantize } from "../web/vectors.js";
import { countTokens, embedText, fakeEngine } from "../tests/js/support/search-engine.mjs";

const OUT = process.argv[2] ?? fileURLToPath(new URL("../tests/golden/index/", import.meta.url));
const DIM = 7; // odd: the padding of rows must not show
const PASSAGE_TOKENS = 12;

const DOCUMENTS = [
  { id: "plain", text: "The ferry leaves at nine. It takes two hours to the island. Bring a warm coat with you, please." },
  { id: "all", text: "Short text", title: "Everything", source: "https://example.org/a?b=c&d", meta: { z: [1, 2.5, null, true, "ü"], a: { "😀": 1e21, "ﬁ": -0 } } },
  { id: "blank", text: " \n ", title: "Title only" },
  { id: "emoji 👩🏽‍🚀", text: "🚀 one two three four five six. 👩🏽‍🚀 seven eight nine ten eleven twelve! 😀" },
  { id: "rtl", text: "مرحبا بالعالم. كيف حالك اليوم؟ שלום עולם." },
  { id: "halves \ud800", text: "lone \udc00 surrogate \ud800" },
  { id: "long word", text: "x".repeat(300) },
  { id: "cjk", text: "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは記憶している。" },
  { id: "crlf", text: "line one\r\nline two\r\n\r\nparagraph\ttwo\u0000end" },
  { id: "same as plain", text: "The ferry leaves at nine. It takes two hours to the island. Bring a warm coat with you, please." },
];
const QUERIES = ["ferry to the island", "猫", "one two three", "مرحبا"];

const floatHex = (vector) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("hex");

async function passageCases() {
  const words = (n) => Array.from({ length: n }, (_, i) => `w${i}`).join(" ");
  const texts = [
    "", "   ", "one", "  padded  ", words(10), words(11), words(40), `${words(4)}. ${words(4)}. ${words(4)}.`,
    `${words(3)}. ${words(30)}. ${words(3)}. ${words(2)}.`, "y".repeat(81), `${"z".repeat(200)} end. ok`,
    `a ${"b".repeat(100)}`, `${"b".repeat(100)} a`, "😀".repeat(90), `${words(9)} 😀 ${words(9)}. 𠀀${words(5)}`,
    "\u3000全角\u3000空白。\u3000", DOCUMENTS[7].text, "\ud800".repeat(100),
  ]; // prettier-ignore
  const cases = [];
  for (const limit of [3, 12, 40]) {
    const count = (text) => ({ tokens: Math.min(countTokens(text), limit), truncated: countTokens(text) > limit });
    const cutter = new PassageCutter(count, limit);
    for (const text of texts) {
      const offsets = Array.from(await cutter.cut(text, new Pacer(undefined, "")));
      const passages = Array.from({ length: offsets.length / 2 }, (_, i) => offsets.slice(2 * i, 2 * i + 2));
      cases.push({ text, limit, passages });
    }
  }
  return cases;
}

function quantizedCases() {
  const vectors = [
    [1, 0, 0, 0], [0.5, -0.5, 0.5, -0.5], [0.6, 0.8, 0, -0.001], [0, 0, 0, 0], [-1, 1e-45, 3e-39, 0.0039],
    [127, 0.5, 1.5, 2.5], [127, -0.5, -1.5, -2.5], [1.4e-45, -1.4e-45, 0, 0], ...[1, 2, 3].map((i) => embedText(`vector ${i}`, 4)),
  ]; // prettier-ignore
  return vectors.map((numbers) => {
    const vector = Float32Array.from(numbers);
    const { codes, scale } = quantize(vector);
    return { vector: floatHex(vector), scale: floatHex(Float32Array.of(scale)), codes: Array.from(codes) };
  });
}

async function indexCase(name, vectors, documents) {
  const engine = fakeEngine({ dim: DIM, maxSeqLen: PASSAGE_TOKENS });
  const index = new SearchIndex(engine, { vectors });
  await index.add(documents);
  writeFileSync(`${OUT}/${name}.bin`, await index.save());
  const cutter = new PassageCutter(engine.tokenCount, PASSAGE_TOKENS);
  const described = [];
  for (const document of documents) {
    const ranges = Array.from(await cutter.cut(document.text, new Pacer(undefined, "")));
    const points = Array.from(document.text);
    const passages = [];
    for (let i = 0; i < ranges.length; i += 2) {
      const vector = embedText(points.slice(ranges[i], ranges[i + 1]).join(""), DIM);
      passages.push({ start: ranges[i], end: ranges[i + 1], vector: floatHex(vector) });
    }
    described.push({ document, passages });
  }
  const queries = [];
  for (const text of QUERIES) {
    const vector = embedText(text, DIM);
    const results = await index.query(text, { k: 5 });
    queries.push({
      vector: floatHex(vector),
      results: results.map(({ id, score, passage }) => ({ id, passage: passage.index, score })),
    });
  }
  const { fingerprint, passageTokens } = index;
  return { file: `${name}.bin`, vectors, fingerprint, dim: DIM, passageTokens, documents: described, queries };
}

const write = (name, value) => writeFileSync(`${OUT}/${name}`, `${JSON.stringify(value, null, 1)}\n`);

mkdirSync(OUT, { recursive: true });
write("passages.json", await passageCases());
write("int8.json", quantizedCases());
write("index.json", [
  await indexCase("empty", "float32", []),
  await indexCase("float32", "float32", DOCUMENTS),
  await indexCase("int8", "int8", DOCUMENTS),
]);
