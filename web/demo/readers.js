/** From files to documents: which reader a file needs, and what all of them share. */
import { csvRecords, describeRecord } from "./csv.js";
import { failure } from "./failure.js";
import { htmlToText } from "./html.js";

/**
 * A file, or a text that was pasted.
 *
 * @typedef {{name: string, file?: File, text?: string}} Material
 *
 * @typedef {object} Part
 * @property {string} text
 * @property {string} [title]
 * @property {string} [place] where in the file: "page 3"
 */

/** What can be read, by the ending of the name. */
const ENDINGS = ["txt", "md", "markdown", "html", "htm", "csv", "tsv", "json", "jsonl", "pdf"];
// A part of a plain text, in characters: some passages of the model.
const PART = 900;
const SLICE_MS = 20;

/**
 * @param {Material} material
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<import("../search.js").Document>}
 * @throws {Error} for what cannot be read, with a code
 */
export async function* readMaterial(material, signal) {
  const { name } = material;
  let count = 0;
  let since = performance.now();
  for await (const { text, title, place } of partsOf(material)) {
    signal.throwIfAborted();
    if (performance.now() - since > SLICE_MS) {
      await new Promise((resolve) => setTimeout(resolve));
      since = performance.now();
    }
    const clean = text.trim();
    if (clean === "") continue;
    const id = `${name}#${count++}`;
    yield { id, text: clean, source: name, ...(title ? { title } : {}), meta: { place: place ?? `part ${count}` } };
  }
  if (count === 0) throw failure("EMPTY", "there is no text in it");
}

/**
 * @param {Material} material
 * @returns {AsyncIterable<Part> | Iterable<Part>}
 */
async function* partsOf({ name, file, text }) {
  const ending = file === undefined ? "txt" : (/\.([^.]+)$/.exec(name)?.[1] ?? "").toLowerCase();
  if (!ENDINGS.includes(ending)) throw failure("UNKNOWN_KIND", `files of the kind .${ending} are not read here`);
  if (ending === "pdf") {
    const { pdfPages } = await import("./pdf.js");
    yield* pdfPages(new Uint8Array(await /** @type {File} */ (file).arrayBuffer()));
    return;
  }
  const content = text ?? decode(new Uint8Array(await /** @type {File} */ (file).arrayBuffer()));
  if (ending === "csv" || ending === "tsv") {
    for (const [row, record] of csvRecords(content, ending === "tsv" ? "\t" : null)) {
      yield { ...describeRecord(record), place: `row ${row}` };
    }
  } else if (ending === "json" || ending === "jsonl") {
    yield* jsonParts(content, ending === "jsonl");
  } else if (ending === "html" || ending === "htm") {
    const { title, text: plain } = htmlToText(content);
    for (const part of sections(plain)) yield { ...part, title: part.title || title };
  } else {
    yield* sections(content);
  }
}

/**
 * UTF-8, or what the byte order mark says; Windows-1252 for bytes that are no UTF-8.
 *
 * @param {Uint8Array} bytes
 */
export function decode(bytes) {
  const mark = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : null;
  if (mark) return new TextDecoder(mark).decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/**
 * A text in parts of some paragraphs; a heading ("# …") starts a part and names it.
 *
 * @param {string} text
 * @returns {Generator<Part>}
 */
export function* sections(text) {
  let title = "";
  let part = "";
  for (const paragraph of text.split(/\r?\n[ \t]*\r?\n|\r?\n(?=#{1,6} )|(?<=^#{1,6} .*)\r?\n/m)) {
    const heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(paragraph.trim());
    if (heading !== null || part.length + paragraph.length > PART) {
      if (part.trim() !== "") yield { text: part, title };
      part = "";
    }
    if (heading !== null) title = heading[1];
    else part += (part === "" ? "" : "\n\n") + paragraph.trim();
  }
  if (part.trim() !== "") yield { text: part, title };
}

/**
 * An entry of an array, a member of an object, or a line each.
 *
 * @param {string} content
 * @param {boolean} byLine
 * @returns {Generator<Part>}
 */
function* jsonParts(content, byLine) {
  let values;
  try {
    const lines = byLine ? content.split("\n").filter((line) => line.trim() !== "") : [];
    values = byLine ? lines.map((line) => JSON.parse(line)) : JSON.parse(content);
  } catch (error) {
    throw failure("NOT_JSON", /** @type {Error} */ (error).message);
  }
  if (!Array.isArray(values)) {
    const lists = Object.values(values ?? {}).filter((value) => Array.isArray(value) && value.length > 1);
    values = lists.length === 1 ? lists[0] : [values];
  }
  for (const [i, value] of values.entries()) {
    const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
    const record = isRecord ? Object.entries(value) : [["", value]];
    const texts = record.map(([key, member]) => [key, typeof member === "object" ? JSON.stringify(member) : String(member)]);
    yield { ...describeRecord(/** @type {[string, string][]} */ (texts)), place: `entry ${i + 1}` };
  }
}
