/** Documents: what a caller gave, checked and copied; and their records in the index file. */
import { canonicalJson, isPlainObject } from "./canonical-json.js";
import { checkInput, describe } from "./errors.js";

/**
 * Frozen, `meta` included: the index, its results and the caller's filter share it.
 *
 * @typedef {object} Document
 * @property {string} id
 * @property {string} text
 * @property {string} [title]
 * @property {string} [source]
 * @property {Record<string, any>} [meta]
 */

const OPTIONAL_STRINGS = /** @type {const} */ (["source", "title"]);
const MEMBERS = new Set(["id", "meta", "text", ...OPTIONAL_STRINGS]);

/**
 * A frozen copy of a document that a caller gave.
 *
 * @param {unknown} value
 * @param {string} name for messages
 * @returns {Document}
 * @throws {TernError} INVALID_INPUT
 */
export function readDocument(value, name) {
  checkInput(isPlainObject(value), `${name} must be an object with id and text, found ${describe(value)}`);
  const { id, text, meta } = value;
  checkInput(typeof id === "string", `${name}.id must be a string, found ${describe(id)}`);
  checkInput(id !== "", `${name}.id must not be empty`);
  checkInput(typeof text === "string", `${name}.text must be a string, found ${describe(text)}`);
  for (const key of Object.keys(value)) {
    checkInput(MEMBERS.has(key), `${name} has a member ${key}; what is not id, text, title or source goes into meta`);
  }
  /** @type {Document} */
  const document = { id, text };
  for (const key of OPTIONAL_STRINGS) {
    const member = value[key];
    if (member === undefined) continue;
    checkInput(typeof member === "string", `${name}.${key} must be a string, found ${describe(member)}`);
    document[key] = member;
  }
  if (meta !== undefined) {
    checkInput(isPlainObject(meta), `${name}.meta must be an object, found ${describe(meta)}`);
    document.meta = freeze(JSON.parse(canonicalJson(meta, `${name}.meta`)));
  }
  return Object.freeze(document);
}

/**
 * What a caller gave, taken at once, as reading it all may take a while: an array and objects of our own.
 * What `meta` holds is left where it is: to copy that of many documents at once would hold up a page.
 *
 * @param {unknown} documents
 * @returns {unknown[]}
 */
export function takeDocuments(documents) {
  const take = (/** @type {unknown} */ value) => (isPlainObject(value) ? { ...value } : value);
  return Array.isArray(documents) ? Array.from(documents, take) : [take(documents)];
}

/**
 * Frozen copies of documents that a caller gave.
 *
 * @param {unknown[]} documents
 * @param {import("./pace.js").Pacer} pacer
 * @returns {Promise<Document[]>}
 * @throws {TernError} INVALID_INPUT, for two of one id, too; ABORTED
 */
export async function readDocuments(documents, pacer) {
  const ids = new Set();
  const copies = [];
  for (const [i, value] of documents.entries()) {
    const document = readDocument(value, `documents[${i}]`);
    checkInput(!ids.has(document.id), `two documents have the id ${document.id}`);
    ids.add(document.id);
    copies.push(document);
    if (pacer.due) await pacer.pause();
  }
  return copies;
}

/**
 * A document's record in the index file.
 *
 * @param {Document} document
 * @returns {string}
 */
export const documentRecord = (document) => canonicalJson(document, "document", 0);

/**
 * The document of a record; null for anything but the canonical text of one.
 *
 * @param {string} record
 * @returns {Document | null}
 */
export function parseRecord(record) {
  try {
    const document = readDocument(JSON.parse(record), "document");
    return documentRecord(document) === record ? document : null;
  } catch {
    return null;
  }
}

/**
 * @template T
 * @param {T} value JSON values
 * @returns {T}
 */
function freeze(value) {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value;
}
