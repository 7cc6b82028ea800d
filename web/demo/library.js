/** The user's own material: read, indexed, kept in IndexedDB, and removed, in this browser only. */
import { SearchIndex, openIndexStore } from "../search.js";
import { load } from "../tern-engine.js";
import { failure } from "./failure.js";
import { readMaterial } from "./readers.js";
import { vectorsOfFile } from "./index-vectors.js";
import { remembering } from "./sentence-memory.js";

const NAME = "library";
// Texts handed to this worker's engine at a time: a query in between waits no longer than for these.
const SLICE = 4;
const BATCH = 32;
// From so many documents on, further workers are worth their start.
const POOL_FROM = 400;
// The page itself has little to do meanwhile: a worker for each hardware thread, within the pool's bounds.
const WORKERS = Math.min(globalThis.navigator?.hardwareConcurrency ?? 1, 8);
const MOST_ON_MAP = 3000;
// Between two messages of progress, in ms.
const REPORT_MS = 100;

/** @typedef {{cancelled: AbortController, gate: Promise<void>, open: () => void}} Run */

export class Library {
  #tell;
  /** @type {import("../tern-engine.js").Engine | null} */
  #engine = null;
  /** @type {string | undefined} where the engine's model came from, for engines of a pool */
  #model;
  /** @type {any} a WorkerEngine while much is indexed */
  #pool = null;
  /** @type {SearchIndex | null} */
  #index = null;
  /** @type {any[]} documents that are kept, but with vectors of another model */
  #outdated = [];
  /** @type {any} */
  #store = null;
  #isStored = true; // whether a reload would find what is in #index
  /** @type {Run | null} what is added right now */
  #run = null;

  /** @param {(event: string, detail: any) => void} tell */
  constructor(tell) {
    this.#tell = tell;
  }

  /**
   * Opens what was kept.
   *
   * @param {import("../tern-engine.js").Engine} engine
   * @param {string} [model] its URL, unless it is the build's own
   * @returns {Promise<{problem: string}>} problem: an error's code, "" for none
   */
  async use(engine, model) {
    this.#engine = engine;
    this.#model = model;
    this.#index = null;
    this.#outdated = [];
    let problem = "";
    try {
      this.#store = await openIndexStore({ name: "tern-demo" });
      this.#index = await this.#store.load(NAME, this.#source());
    } catch (error) {
      problem = /** @type {any} */ (error).code ?? "UNKNOWN";
      if (problem === "INDEX_STALE") this.#outdated = await this.#documentsOfAnotherModel().catch(() => []);
    }
    return { problem };
  }

  async #documentsOfAnotherModel() {
    const stored = await this.#store.list();
    const { fingerprint } = stored.find((/** @type {any} */ { name }) => name === NAME);
    return Array.from((await this.#store.load(NAME, { ...this.#source(), fingerprint })).documents());
  }

  async index() {
    if (this.#engine === null) throw failure("NOT_READY", "the engine is not loaded");
    this.#index ??= new SearchIndex(this.#source(), { vectors: "int8" });
    return this.#index;
  }

  /** @param {any} document */
  groupOf(document) {
    return document.source;
  }

  /** What is kept, by file. `isOutdated`: to be indexed again before it can be searched. */
  async groups() {
    /** @type {Map<string, number>} */
    const counts = new Map();
    const isOutdated = this.#outdated.length > 0;
    for (const { source } of isOutdated ? this.#outdated : (this.#index?.documents() ?? [])) {
      counts.set(String(source), (counts.get(String(source)) ?? 0) + 1);
    }
    return Array.from(counts, ([name, count]) => ({ name, count, isOutdated }));
  }

  /**
   * Reads and indexes files. What one file cannot give is reported, and the others go on. A file with
   * the name of one before takes its place. What is outdated is indexed again along with them.
   *
   * @param {import("./readers.js").Material[]} files
   */
  async add(files) {
    if (this.#run !== null) throw failure("BUSY", "another run is under way");
    const index = await this.index();
    const run = startRun();
    this.#run = run;
    /** @type {Set<string>} */
    const ids = new Set();
    try {
      const { documents, failures } = await this.#read(files, run.cancelled.signal);
      const sources = new Set(documents.map(({ source }) => source));
      const again = this.#outdated.filter(({ source }) => !sources.has(source));
      for (const { id } of [...again, ...documents]) ids.add(id);
      await this.#indexAll(index, [...again, ...documents], run);
      const older = Array.from(index.documents()).filter(({ id, source }) => sources.has(String(source)) && !ids.has(id));
      await index.remove(older.map(({ id }) => id));
      await index.prepareKeywords();
      this.#outdated = [];
      const added = { added: documents.length, again: again.length };
      return { ...added, failures, cancelled: false, ...(await this.#keep()) };
    } catch (error) {
      await this.#goBack(index, ids);
      if (!run.cancelled.signal.aborted) throw error;
      return { added: 0, again: 0, failures: [], cancelled: true, stored: this.#isStored, problem: "" };
    } finally {
      this.#run = null;
      await this.#pool?.dispose();
      this.#pool = null;
    }
  }

  /**
   * @param {import("./readers.js").Material[]} files
   * @param {AbortSignal} signal
   */
  async #read(files, signal) {
    const documents = [];
    /** @type {{name: string, code: string, message: string}[]} */
    const failures = [];
    for (const [i, file] of files.entries()) {
      this.#tell("reading", { name: file.name, done: i, total: files.length });
      const found = [];
      try {
        for await (const document of readMaterial(file, signal)) found.push(document);
        documents.push(...found);
      } catch (error) {
        signal.throwIfAborted();
        const { code = "UNREADABLE", message } = /** @type {any} */ (error);
        failures.push({ name: file.name, code, message: String(message) });
      }
    }
    return { documents, failures };
  }

  /**
   * To how it was before a run that did not end well: what is kept is still that.
   *
   * @param {SearchIndex} index
   * @param {Set<string>} ids that the run may have added
   */
  async #goBack(index, ids) {
    if (this.#isStored && this.#store !== null) {
      this.#index = await this.#store.load(NAME, this.#source()).catch(() => null);
    } else {
      await index.remove([...ids]);
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
      const starting = load({ model: this.#model, worker: { pool: WORKERS }, signal: run.cancelled.signal });
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
    await index.replace(documents, { signal: run.cancelled.signal, batchSize: BATCH, onProgress });
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
    this.#outdated = [];
    this.#isStored = true;
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
    let problem = "";
    try {
      if (this.#store === null) problem = "STORAGE_QUOTA";
      else if (index.size === 0) await this.#store.delete(NAME);
      else await this.#store.save(NAME, index);
    } catch (error) {
      problem = /** @type {any} */ (error).code ?? "UNKNOWN";
    }
    this.#isStored = problem === "";
    return { stored: this.#isStored, problem };
  }

  /** The engine as the index sees it: in small steps, that can be paused, with help where there is any. */
  #source() {
    const engine = /** @type {import("../tern-engine.js").Engine} */ (this.#engine);
    const { dim, fingerprint, maxSeqLen } = engine;
    const sentences = remembering((texts) => engine.embedBatch(texts));
    return {
      dim,
      fingerprint,
      maxSeqLen,
      tokenCount: (/** @type {string} */ text) => engine.tokenCount(text),
      embed: (/** @type {string} */ text) => engine.embed(text),
      embedBatch: async (/** @type {string[]} */ texts, /** @type {{signal?: AbortSignal}} */ { signal }) => {
        const run = this.#run;
        // Queries go on while a run is paused.
        if (run === null || signal !== run.cancelled.signal) return sentences(texts);
        await run.gate;
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
