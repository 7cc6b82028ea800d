/** An index over documents that finds by meaning, by keyword, or both. */
import { readDocuments, takeDocuments } from "./documents.js";
import { Embedder } from "./embedder.js";
import { Entry } from "./entries.js";
import { checkInput, checkOptions, describe } from "./errors.js";
import { bytesOf, readIndex, writeIndex } from "./index-file.js";
import { ADDING, checkAddOptions, embedDocuments } from "./indexing.js";
import { Keywords } from "./keywords.js";
import { Pacer } from "./pace.js";
import { PassageCutter } from "./passages.js";
import { runQuery } from "./query.js";
import { Rows } from "./rows.js";

/** @typedef {import("./documents.js").Document} Document */
/** @typedef {import("./embedder.js").SearchEngine} SearchEngine */
/** @typedef {import("./indexing.js").AddOptions} AddOptions */

/**
 * @typedef {object} IndexOptions
 * @property {import("./vectors.js").VectorKind} [vectors] "int8" takes a quarter of the memory
 * @property {number} [passageTokens] longest passage; default: what the model reads
 */

export const LOADING = "loading the index";
export const SAVING = "saving the index";

export class SearchIndex {
  #embedder;
  #cutter;
  #rows;
  #keywords = new Keywords();
  /** @type {Map<string, Entry>} in the index's order */
  #entries = new Map();
  #nextOrder = 0;
  /** @type {Promise<unknown>} settles with the last change asked for */
  #last = Promise.resolve();

  /**
   * An empty index.
   *
   * @param {SearchEngine} engine
   * @param {IndexOptions} [options]
   * @throws {TernError} INVALID_INPUT
   */
  constructor(engine, options = {}) {
    checkOptions(options, ["vectors", "passageTokens"], "SearchIndex");
    const { vectors = "float32", passageTokens } = options;
    const embedder = new Embedder(engine);
    const limit = passageTokens ?? embedder.tokenLimit;
    checkInput(
      vectors === "float32" || vectors === "int8",
      `vectors must be "float32" or "int8", found ${String(vectors)}`,
    );
    checkInput(
      limit !== undefined && Number.isInteger(limit) && limit >= 3 && limit < 2 ** 31,
      `passageTokens must be an integer of 3 or more, found ${limit}`,
    );
    this.#embedder = embedder;
    this.#cutter = new PassageCutter((text) => embedder.countTokens(text), limit);
    this.#rows = new Rows(vectors, embedder.dim);
    /** @readonly */
    this.passageTokens = limit;
    /** The model that the vectors are of. @readonly */
    this.fingerprint = embedder.fingerprint;
  }

  /**
   * The index that `save` wrote.
   *
   * @param {SearchEngine} engine with the model that the index was made with
   * @param {Uint8Array | ArrayBuffer} file
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<SearchIndex>}
   * @throws {TernError} INDEX_FORMAT, INDEX_STALE, ABORTED, INVALID_INPUT
   */
  static async load(engine, file, options = {}) {
    checkOptions(options, ["signal"], LOADING);
    const model = new Embedder(engine);
    const content = await readIndex(bytesOf(file), model, new Pacer(options.signal, LOADING));
    const { passageTokens, rows, entries } = content;
    const index = new SearchIndex(engine, { vectors: rows.table.kind, passageTokens });
    index.#rows = rows;
    for (const entry of entries) index.#entries.set(entry.document.id, entry);
    index.#nextOrder = entries.length;
    return index;
  }

  /** How many documents are in the index. */
  get size() {
    return this.#entries.size;
  }

  /** How many passages they have. */
  get passageCount() {
    let count = 0;
    for (const entry of this.#entries.values()) count += entry.passageCount;
    return count;
  }

  /** @returns {import("./vectors.js").VectorKind} */
  get vectors() {
    return this.#rows.table.kind;
  }

  /** @param {string} id */
  has(id) {
    return this.#entries.has(id);
  }

  /**
   * @param {string} id
   * @returns {Document | undefined}
   */
  get(id) {
    return this.#entries.get(id)?.document;
  }

  /** @returns {Generator<Document>} all documents, in the index's order */
  *documents() {
    for (const { document } of this.#entries.values()) yield document;
  }

  /**
   * Adds documents. Each is searchable as soon as its last passage is embedded; changes asked for
   * meanwhile wait for their turn. What the caller does to the array and its objects later has no effect,
   * but `meta` is read while the promise is pending.
   *
   * @param {Document | readonly Document[]} documents with ids that the index does not hold
   * @param {AddOptions} [options]
   * @returns {Promise<void>}
   * @throws {TernError} INVALID_INPUT before anything is added; ABORTED and the engine's errors, after
   *   which the documents that were complete are in the index, the others not
   */
  add(documents, options) {
    return this.#put(documents, options, (id) => !this.#entries.has(id));
  }

  /**
   * Adds documents, each in the place of the one with its id if there is one.
   *
   * @param {Document | readonly Document[]} documents
   * @param {AddOptions} [options]
   * @returns {Promise<void>}
   * @throws {TernError} as `add`
   */
  replace(documents, options) {
    return this.#put(documents, options, () => true);
  }

  /**
   * Removes documents; ids that are not in the index are ignored.
   *
   * @param {string | readonly string[]} ids
   * @returns {Promise<number>} how many were removed
   * @throws {TernError} INVALID_INPUT
   */
  async remove(ids) {
    const wanted = typeof ids === "string" ? [ids] : ids;
    checkInput(Array.isArray(wanted), `ids must be a string or an array of strings, found ${describe(ids)}`);
    const copy = Array.from(wanted);
    return this.#exclusive(async () => {
      let removed = 0;
      const pacer = new Pacer(undefined, "removing documents");
      for (const id of copy) {
        const entry = this.#entries.get(id);
        if (entry === undefined) continue;
        this.#forget(entry);
        this.#entries.delete(id);
        removed++;
        if (pacer.due) await pacer.pause();
      }
      await this.#compact(pacer);
      return removed;
    });
  }

  /** @returns {Promise<void>} Removes all documents. */
  clear() {
    return this.#exclusive(async () => {
      for (const entry of this.#entries.values()) entry.removed = true;
      this.#entries.clear();
      this.#rows = new Rows(this.vectors, this.#embedder.dim);
      this.#keywords = new Keywords();
    });
  }

  /**
   * The documents that fit a query best, each with its best passage.
   *
   * @param {string | ArrayLike<number>} query a text, or a vector to find by meaning
   * @param {import("./query.js").QueryOptions} [options]
   * @returns {Promise<import("./query.js").Result[]>} best first
   * @throws {TernError} INVALID_INPUT, DIMENSION, ABORTED, LOAD_NETWORK where the keyword library is
   *   missing, the engine's errors
   */
  query(query, options) {
    return runQuery(query, options, {
      embedder: this.#embedder,
      rows: () => this.#rows,
      keywords: () => this.#preparedKeywords(),
    });
  }

  /**
   * Makes the keyword half now, which the first query that needs it would otherwise wait for.
   *
   * @returns {Promise<void>}
   * @throws {TernError} LOAD_NETWORK
   */
  async prepareKeywords() {
    await this.#preparedKeywords();
  }

  /**
   * The index as one file, once the changes asked for before are made. Others wait meanwhile.
   *
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<Uint8Array<ArrayBuffer>>} see docs/index-format.md
   * @throws {TernError} ABORTED, INDEX_TOO_LARGE, INVALID_INPUT
   */
  async save(options = {}) {
    checkOptions(options, ["signal"], SAVING);
    return this.#exclusive(() => {
      const { fingerprint, passageTokens } = this;
      const content = { fingerprint, passageTokens, dim: this.#embedder.dim, rows: this.#rows };
      const entries = Array.from(this.#entries.values());
      return writeIndex({ ...content, entries }, new Pacer(options.signal, SAVING));
    });
  }

  async #preparedKeywords() {
    const keywords = this.#keywords;
    await keywords.update(() => this.#entries.values());
    return keywords;
  }

  /**
   * @param {unknown} documents
   * @param {AddOptions | undefined} options
   * @param {(id: string) => boolean} isWelcome
   * @returns {Promise<void>}
   */
  async #put(documents, options = {}, isWelcome) {
    checkAddOptions(options);
    const { signal, onProgress, batchSize } = options;
    // Read from now on, added when it is this call's turn; until then nobody waits for a failure.
    const reading = readDocuments(takeDocuments(documents), new Pacer(signal, ADDING));
    reading.catch(() => {});
    return this.#exclusive(async () => {
      const copies = await reading;
      const pacer = new Pacer(signal, ADDING);
      for (const { id } of copies) checkInput(isWelcome(id), `the index holds a document with the id ${id} already`);
      let done = 0;
      let passages = 0;
      const report = () => onProgress?.({ done, total: copies.length, passages });
      await embedDocuments(copies, {
        embedder: this.#embedder,
        cutter: this.#cutter,
        pacer,
        batchSize,
        commit: (job) => {
          this.#commit(job);
          done++;
          passages += job.vectors.length;
        },
        onBatch: report,
      });
      report();
      await this.#compact(new Pacer(undefined, ""));
    });
  }

  /** @param {import("./indexing.js").Job} job */
  #commit({ document, ranges, vectors }) {
    const old = this.#entries.get(document.id);
    if (old !== undefined) this.#forget(old);
    const entry = new Entry(document, old?.order ?? this.#nextOrder++, ranges);
    this.#entries.set(document.id, entry);
    this.#rows.add(entry, (part) => this.#rows.table.add(vectors[part]));
    this.#keywords.add(entry);
  }

  /** @param {Entry} entry */
  #forget(entry) {
    this.#rows.remove(entry);
    this.#keywords.remove(entry);
  }

  /** @param {Pacer} pacer */
  async #compact(pacer) {
    if (this.#rows.isSparse) this.#rows = await this.#rows.compacted(pacer);
  }

  /**
   * Changes happen one after the other, in the order in which they were asked for.
   *
   * @template T
   * @param {() => Promise<T>} change
   * @returns {Promise<T>}
   */
  #exclusive(change) {
    const turn = this.#last.then(change);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
