/** Zero-shot and few-shot classification: which of some labels is nearest in meaning to a text. */
import { checkInput, checkOptions, describe } from "./errors.js";
import { similarity } from "./similarity.js";

/**
 * @typedef {ArrayLike<ArrayLike<number>>} Vectors
 * @typedef {{label: string, score: number}} LabelScore
 * @typedef {readonly string[] | Readonly<Record<string, readonly string[]>>} Labels labels, or
 *   examples by label
 * @typedef {{threshold?: number}} ClassifyOptions threshold: labels that score less are left out
 */

/**
 * Scores every label by the cosine of its embedding to the text's, best first. Labels are texts
 * themselves and are understood as such: "a complaint about delivery" separates better than "3b".
 * Where labels come with examples, those speak for them, and not their names: the score is the
 * cosine to the sum of the examples' embeddings. Equal scores keep the labels' order.
 *
 * An engine that answers by promises, such as one in a worker, makes this a promise, too.
 *
 * @overload
 * @param {{embedBatch(texts: string[]): Vectors}} engine
 * @param {string} text
 * @param {Labels} labels
 * @param {ClassifyOptions} [options]
 * @returns {LabelScore[]} scores in −1…1, descending; [] where no label is left
 * @throws {TernError} INVALID_INPUT for a text, a label or an example that is no string, a label
 *   without examples, a threshold that is no number
 */
/**
 * @overload
 * @param {{embedBatch(texts: string[]): PromiseLike<Vectors>}} engine
 * @param {string} text
 * @param {Labels} labels
 * @param {ClassifyOptions} [options]
 * @returns {Promise<LabelScore[]>}
 */
/**
 * @param {{embedBatch(texts: string[]): Vectors | PromiseLike<Vectors>}} engine
 * @param {string} text
 * @param {Labels} labels
 * @param {ClassifyOptions} [options]
 * @returns {LabelScore[] | Promise<LabelScore[]>}
 */
export function classify(engine, text, labels, options = {}) {
  checkInput(
    typeof engine?.embedBatch === "function",
    `classify takes an engine first, found ${describe(engine)}; engine.classify(text, labels) does without`,
  );
  checkOptions(options, ["threshold"], "classify");
  const { threshold = -Infinity } = options;
  checkInput(typeof text === "string", `text must be a string, found ${describe(text)}`);
  checkInput(
    typeof threshold === "number" && !Number.isNaN(threshold),
    `threshold must be a number, found ${describe(threshold)}`,
  );
  const classes = examplesOf(labels);
  const vectors = engine.embedBatch([text, ...classes.flatMap(({ examples }) => examples)]);
  /** @param {Vectors} vectors */
  const rank = (vectors) => rankLabels(vectors, classes).filter(({ score }) => score >= threshold);
  return "then" in vectors ? Promise.resolve(vectors).then(rank) : rank(vectors);
}

/**
 * @param {Labels} labels
 * @returns {{label: string, examples: readonly string[]}[]}
 */
function examplesOf(labels) {
  if (Array.isArray(labels)) {
    return Array.from(labels, (label, i) => {
      checkInput(typeof label === "string", `labels[${i}] must be a string, found ${describe(label)}`);
      return { label, examples: [label] };
    });
  }
  checkInput(
    typeof labels === "object" && labels !== null,
    `labels must be an array of strings or an object of examples by label, found ${describe(labels)}`,
  );
  return Object.entries(labels).map(([label, examples]) => {
    checkInput(
      Array.isArray(examples) && examples.length > 0,
      `the examples of ${label} must be an array of strings that is not empty, found ${describe(examples)}`,
    );
    for (const example of examples) {
      checkInput(typeof example === "string", `an example of ${label} must be a string, found ${describe(example)}`);
    }
    return { label, examples: Array.from(examples) };
  });
}

/**
 * @param {Vectors} vectors the text's, then those of all examples
 * @param {{label: string, examples: readonly string[]}[]} classes
 * @returns {LabelScore[]}
 */
function rankLabels(vectors, classes) {
  const text = vectors[0];
  let next = 1;
  const scores = classes.map(({ label, examples }) => {
    const sum = new Float64Array(text.length);
    for (let i = 0; i < examples.length; i++, next++) {
      for (let j = 0; j < sum.length; j++) sum[j] += vectors[next][j];
    }
    return { label, score: similarity(text, sum) };
  });
  return scores.sort((one, other) => other.score - one.score);
}
