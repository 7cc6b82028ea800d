/** From documents to entries with vectors, in batches that keep the thread free. */
import { Entry } from "./entries.js";
import { checkInput, checkOptions } from "./errors.js";

/**
 * @typedef {object} AddOptions
 * @property {AbortSignal} [signal]
 * @property {(event: {done: number, total: number, passages: number}) => void} [onProgress]
 *   documents in the index so far, of how many, and passages embedded
 * @property {number} [batchSize] passages handed to the engine at a time
 */

export const ADDING = "adding documents";

/**
 * @param {AddOptions} options
 * @throws {TernError} INVALID_INPUT
 */
export function checkAddOptions(options) {
  checkOptions(options, ["signal", "onProgress", "batchSize"], ADDING);
  const { batchSize } = options;
  checkInput(
    batchSize === undefined || (Number.isInteger(batchSize) && batchSize > 0),
    `batchSize must be a positive integer, found ${batchSize}`,
  );
}

/**
 * A document on its way into the index.
 *
 * @typedef {object} Job
 * @property {import("./documents.js").Document} document
 * @property {Uint32Array} ranges
 * @property {Float32Array[]} vectors of its first passages, more to come
 */

/**
 * Cuts and embeds documents; each is handed on as soon as it is complete, in order.
 *
 * @param {readonly import("./documents.js").Document[]} documents
 * @param {object} tools
 * @param {import("./embedder.js").Embedder} tools.embedder
 * @param {import("./passages.js").PassageCutter} tools.cutter
 * @param {import("./pace.js").Pacer} tools.pacer
 * @param {number} [tools.batchSize] passages a batch
 * @param {(job: Job) => void} tools.commit
 * @param {() => void} tools.onBatch called after each batch
 * @returns {Promise<void>}
 * @throws {TernError} ABORTED, the engine's errors; what was committed stays so
 */
export async function embedDocuments(documents, tools) {
  const { embedder, cutter, pacer } = tools;
  /** @type {Job[]} not complete yet, in order */
  const jobs = [];
  /** @type {{job: Job, text: string}[]} passages not embedded yet, in order */
  let waiting = [];

  const embedSome = async () => {
    const batch = waiting.slice(0, size());
    waiting = waiting.slice(batch.length);
    const vectors = await embedder.embedBatch(batch.map(({ text }) => text), pacer.signal);
    batch.forEach(({ job }, i) => job.vectors.push(vectors[i]));
    pacer.check();
    commitComplete();
    tools.onBatch();
    if (pacer.due) await pacer.pause();
  };
  const size = () => tools.batchSize ?? embedder.batchSize;
  const commitComplete = () => {
    while (jobs.length > 0 && jobs[0].vectors.length === jobs[0].ranges.length / 2) {
      tools.commit(/** @type {Job} */ (jobs.shift()));
    }
  };

  for (const document of documents) {
    const ranges = await cutter.cut(document.text, pacer);
    const job = { document, ranges, vectors: [] };
    jobs.push(job);
    for (const text of new Entry(document, 0, ranges).passageTexts()) waiting.push({ job, text });
    while (waiting.length >= size()) await embedSome();
    if (pacer.due) await pacer.pause();
  }
  while (waiting.length > 0) await embedSome();
  commitComplete();
}
