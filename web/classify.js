/** Zero-shot classification: which of some labels is nearest in meaning to a text. */
import { checkInput, describe } from "./errors.js";
import { similarity } from "./similarity.js";

/**
 * Scores every label by the cosine of its embedding to the text's, best first. Labels are texts
 * themselves and are understood as such: "a complaint about delivery" separates better than "3b".
 * Equal scores keep the labels' order.
 *
 * @param {{embedBatch(texts: string[]): Float32Array[]}} engine
 * @param {string} text
 * @param {readonly string[]} labels
 * @returns {{label: string, score: number}[]} scores in −1…1, descending; [] for no labels
 * @throws {TernError} INVALID_INPUT for a text or a label that is no string
 */
export function classify(engine, text, labels) {
  checkInput(typeof text === "string", `text must be a string, found ${describe(text)}`);
  checkInput(Array.isArray(labels), `labels must be an array of strings, found ${describe(labels)}`);
  const [vector, ...labelVectors] = engine.embedBatch([text, ...labels]);
  return labels
    .map((label, i) => ({ label, score: similarity(vector, labelVectors[i]) }))
    .sort((one, other) => other.score - one.score);
}
