/** The one JSON text of a value: docs/index-format.md, section 2. */
import { checkInput, describe } from "./errors.js";

/** How deep values may nest; the outermost counts as 1. */
export const MAX_DEPTH = 64;

/**
 * @param {unknown} value null, a boolean, a finite number, a string, a plain array or object of such
 * @param {string} [name] what the value is called in messages
 * @param {number} [depth] how deep the value itself is nested
 * @returns {string}
 * @throws {TernError} INVALID_INPUT for anything else, cycles included
 */
export function canonicalJson(value, name = "value", depth = 1) {
  if (value === null || typeof value === "boolean") return String(value);
  // JSON.stringify escapes what the format escapes, lone surrogates included, and writes −0 as 0.
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") {
    checkInput(Number.isFinite(value), `${name} must be a finite number, found ${value}`);
    return JSON.stringify(value);
  }
  const isArray = Array.isArray(value);
  checkInput(isArray || isPlainObject(value), `${name} must be a JSON value, found ${describe(value)}`);
  checkInput(depth <= MAX_DEPTH, `${name} is nested deeper than ${MAX_DEPTH} levels`);
  if (isArray) {
    const items = Array.from(value, (item, i) => canonicalJson(item, `${name}[${i}]`, depth + 1));
    return `[${items.join(",")}]`;
  }
  const object = /** @type {Record<string, unknown>} */ (value);
  const members = [];
  // The default order of sort() is that of UTF-16 code units.
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member === undefined) continue;
    members.push(`${JSON.stringify(key)}:${canonicalJson(member, `${name}.${key}`, depth + 1)}`);
  }
  return `{${members.join(",")}}`;
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>} also for objects of another realm, such as a frame
 */
export function isPlainObject(value) {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
