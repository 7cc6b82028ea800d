/** Fields of a request's JSON, checked. Unknown ones are let be; null is as good as none. */
import { describe } from "../web/errors.js";
import { HttpError, invalidInput } from "./errors.js";

/** @typedef {Record<string, unknown>} Json */

/**
 * @param {Json} json
 * @param {string} name
 * @returns {string}
 */
export function textField(json, name) {
  const value = json[name];
  if (typeof value === "string") return value;
  throw invalidInput(`${name} must be a string, found ${describe(value)}.`, name);
}

/**
 * @param {Json} json
 * @param {string} name
 * @param {number} most
 * @returns {string[]}
 */
export function textsField(json, name, most) {
  const value = json[name];
  if (!Array.isArray(value)) {
    throw invalidInput(`${name} must be an array of strings, found ${describe(value)}.`, name);
  }
  if (value.length > most) {
    const message = `${name} has ${value.length} texts; one request takes ${most}.`;
    throw new HttpError("too_many_inputs", message, { param: name });
  }
  const at = value.findIndex((item) => typeof item !== "string");
  if (at >= 0) {
    throw invalidInput(`${name}[${at}] must be a string, found ${describe(value[at])}.`, name);
  }
  return value;
}

/**
 * @param {Json} json
 * @param {string} name
 * @param {number} least
 * @param {number} most
 * @returns {number | undefined}
 */
export function optionalInteger(json, name, least, most) {
  const value = json[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) {
    return value;
  }
  throw invalidInput(`${name} must be an integer from ${least} to ${most}.`, name);
}

/**
 * @template {string} T
 * @param {Json} json
 * @param {string} name
 * @param {readonly T[]} choices the first one is the default
 * @returns {T}
 */
export function optionalChoice(json, name, choices) {
  const value = json[name] ?? choices[0];
  const choice = choices.find((each) => each === value);
  if (choice !== undefined) return choice;
  throw invalidInput(`${name} must be one of: ${choices.join(", ")}.`, name);
}

/**
 * @param {Json} json
 * @param {string} name
 */
export function checkOptionalText(json, name) {
  const value = json[name] ?? "";
  if (typeof value !== "string") {
    throw invalidInput(`${name} must be a string, found ${describe(value)}.`, name);
  }
}
