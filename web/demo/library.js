/** The user's own material: read, indexed, kept in IndexedDB, and removed, in this browser only. */
import { SearchIndex, openIndexStore } from "../search.js";
import { load } from "../tern-engine.js";
import { readMaterial } from "./readers.js";
import { vectorsOfFile } from "./index-vectors.js";

const NAME = "library";
// Texts handed to this worker's engine at a time: a query in between waits no longer than for these.
const SLICE = 4;
const BATCH = 32;
// From so many documents on, further workers are worth their start.
const POOL_FROM = 400;
const MOST_ON_MAP = 3000;
// Between two messages of progress, in ms.
const REPORT_MS = 100;

/** @typedef {{cancelled: AbortController, gate: Promise<void>, open: () => void}} Run */

export class Library {
  hasSentences = true;
  #tell;
  /** @type {import("../engine.js").Engine | null} */
  #engine = null;
  /** @type {any} a WorkerEngine while much is indexed */
  #pool = null;
  /** @type {SearchIndex | null} */
  #index = null;
  /** @type {any} */
  #store = null;
  /** @type {Run | null} what is added right now */
  #run = null;

  /** @param {(event: string, detail: any) => void} tell */
  constructor(tell) {
    this.#tell = tell;
  }

  /**
   * Opens what was kept.
   *
   * @param {import("../engine.js").Engine} engine
   * @returns {Promise<{problem: string}>} problem: an error's code, "" for none
   */
  async use(engine) {
    this.#engine = engine;
    this.#index = null;
    let problem = "";
    try {
      this.#store = await openIndexStore({ name: "tern-demo" });
      this.#index = await this.#store.load(NAME, this.#source());
    } catch (error) {
      problem = /** @type {any} */ (error).code ?? "UNKNOWN";
    }
    return { problem };
  }

  async index() {
    if (this.#engine === null) throw Object.assign(new Error("the engine is not loaded"), { code: "NOT_READY" });
    this.#index ??= new SearchIndex(this.#source(), { vectors: "int8" });
    return this.#index;
  }

  /** @param {any} document */
  groupOf(document) {
    return document.source;
  }

  async groups() {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const { source } of this.#index?.documents() ?? []) {
      counts.set(String(source), (counts.get(String(source)) ?? 0) + 1);
    }
    return Array.from(counts, ([name, count]) => ({ name, count }));
  }

  /**
   * Reads and indexes files. What one file cannot give is reported, and the others go on. A file with
   * the name of one before takes its place.
   *
   * @param {import("./readers.js").Material[]} files
   */
  async add(files) {
    if (this.#run !== null) throw Object.assign(new Error("another run is under way"), { code: "BUSY" });
    const index = await this.index();
    const run = startRun();
    this.#run = run;
    const { signal } = run.cancelled;
    /** @type {{name: string, code: string, message: string}[]} */
    const failures = [];
    /** @type {Set<string>} */
    const added = new Set();
    /** @type {Set<string>} sources that documents of an earlier run have */
    const replaced = new Set();
    try {
      const documents = [];
      for (const [i, file] of files.entries()) {
        this.#tell("reading", { name: file.name, done: i, total: files.length });
        try {
          for await (const document of readMaterial(file, signal)) documents.push(document);
        } catch (error) {
          signal.throwIfAborted();
          const { code = "UNREADABLE", message } = /** @type {any} */ (error);
          failures.push({ name: file.name, code, message: String(message) });
        }
      }
      for (const { id, source } of documents) {
        added.add(id);
        replaced.add(source);
      }
      const older = Array.from(index.documents()).filter(({ source }) => replaced.has(String(source)));
      await index.remove(older.map(({ id }) => id));
      await this.#indexAll(index, documents, run);
      await index.prepareKeywords();
      return { added: documents.length, failures, cancelled: false, ...(await this.#keep()) };
    } catch (error) {
      if (!signal.aborted) throw error;
      await index.remove([...added]);
      return { added: 0, failures, cancelled: true, ...(await this.#keep()) };
    } finally {
      this.#run = null;
      await this.#pool?.dispose();
      this.#pool = null;
    }
  }

  /**
   * @param {SearchIndex} index
   * @param {any[]} documents
   * @param {Run} run
   */
  async #indexAll(index, documents, run) {
    const total = documents.length;
    const began = performance.now();
    let reported = -Infinity;
    this.#tell("indexing", { done: 0, total, workers: 1 });
    if (total >= POOL_FROM) {
      // Indexing goes on here until they are up; where they do not come up it stays here.
      const starting = load({ worker: { pool: true }, signal: run.cancelled.signal });
      starting.then(
        (/** @type {any} */ pool) => (this.#run === run ? (this.#pool = pool) : pool.dispose()),
        () => {},
      );
    }
    const onProgress = (/** @type {{done: number, passages: number}} */ { done, passages }) => {
      if (performance.now() - reported < REPORT_MS && done < total) return;
      reported = performance.now();
      const rate = passages / ((reported - began) / 1000);
      this.#tell("indexing", { done, total, rate, workers: this.#pool?.workers ?? 1 });
    };
    await index.add(documents, { signal: run.cancelled.signal, batchSize: BATCH, onProgress });
  }

  pause() {
    const run = this.#run;
    if (run === null) return;
    run.gate = new Promise((resolve) => (run.open = resolve));
  }

  resume() {
    this.#run?.open();
  }

  cancel() {
    this.#run?.cancelled.abort();
    this.#run?.open();
  }

  /** @param {string} source */
  async remove(source) {
    const index = await this.index();
    const ids = Array.from(index.documents()).filter((document) => document.source === source);
    await index.remove(ids.map(({ id }) => id));
    return this.#keep();
  }

  /** Everything of the user's, from memory and from the disk. */
  async removeAll() {
    this.cancel();
    this.#index = null;
    this.#store ??= await openIndexStore({ name: "tern-demo" });
    await this.#store.delete(NAME);
  }

  async places() {
    const index = await this.index();
    const { passages, rows } = await vectorsOfFile(await index.save(), MOST_ON_MAP);
    const items = passages.map(({ document, text }) => ({
      id: document.id,
      title: document.title ?? text.slice(0, 80),
      group: this.groupOf(document),
    }));
    return { items, points: null, rows };
  }

  /** @returns {Promise<{stored: boolean, problem: string}>} whether a reload will find it again */
  async #keep() {
    const index = await this.index();
    try {
      if (this.#store === null) return { stored: false, problem: "STORAGE_QUOTA" };
      if (index.size === 0) await this.#store.delete(NAME);
      else await this.#store.save(NAME, index);
      return { stored: true, problem: "" };
    } catch (error) {
      return { stored: false, problem: /** @type {any} */ (error).code ?? "UNKNOWN" };
    }
  }

  /** The engine as the index sees it: in small steps, that can be paused, with help where there is any. */
  #source() {
    const engine = /** @type {import("../engine.js").Engine} */ (this.#engine);
    const { dim, fingerprint, maxSeqLen } = engine;
    return {
      dim,
      fingerprint,
      maxSeqLen,
      tokenCount: (/** @type {string} */ text) => engine.tokenCount(text),
      embed: (/** @type {string} */ text) => engine.embed(text),
      embedBatch: async (/** @type {string[]} */ texts) => {
        await this.#run?.gate;
        if (this.#pool !== null && texts.length > SLICE) return this.#pool.embedBatch(texts);
        const vectors = [];
        for (let at = 0; at < texts.length; at += SLICE) {
          vectors.push(...engine.embedBatch(texts.slice(at, at + SLICE)));
          await new Promise((resolve) => setTimeout(resolve));
        }
        return vectors;
      },
    };
  }
}

/** @returns {Run} */
function startRun() {
  return { cancelled: new AbortController(), gate: Promise.resolve(), open: () => {} };
}
