/** The built-in collection: passages with stored vectors. Keywords work without the engine. */
import { fetchFile } from "../fetch-file.js";
import { SearchIndex } from "../search.js";
import { hex, sha256 } from "../sha256.js";
import { failure } from "./failure.js";
import { remembering } from "./sentence-memory.js";

const FILE = "demo-index.bin";
const BATCH = 32;

/** @param {string} name */
const beside = (name) => fetchFile({ name, url: new URL(name, import.meta.url).href });

export class Encyclopedia {
  #tell;
  /** @type {import("../tern-engine.js").Engine | null} */
  #engine = null;
  /** @type {Promise<SearchIndex> | null} null where it is to be made (again) */
  #index = null;
  /** @type {ReturnType<typeof beside> | null} */
  #file = null;

  /** @param {(event: string, detail: any) => void} tell */
  constructor(tell) {
    this.#tell = tell;
    this.index().catch(() => {}); // reported to whoever asks for it
  }

  /** @returns {Promise<SearchIndex>} rejects where its file cannot be had; the next call tries again */
  index() {
    if (this.#index === null) {
      const index = this.#build();
      this.#index = index;
      index.catch(() => {
        if (this.#index === index) this.#index = null;
      });
    }
    return this.#index;
  }

  /** @param {import("../search.js").Document | any} document */
  groupOf(document) {
    return document.meta.topic;
  }

  async groups() {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const document of (await this.index()).documents()) {
      const topic = this.groupOf(document);
      counts.set(topic, (counts.get(topic) ?? 0) + 1);
    }
    return Array.from(counts, ([name, count]) => ({ name, count })).sort((a, b) => a.name.localeCompare(b.name));
  }

  /**
   * Meanings from here on.
   *
   * @param {import("../tern-engine.js").Engine} engine
   * @returns {Promise<{count: number, problem: string}>} problem: why there is no encyclopedia, or ""
   */
  async use(engine) {
    this.#engine = engine;
    try {
      const index = await this.index();
      if (index.fingerprint !== engine.fingerprint) this.#index = null; // made anew by this model
      return { count: (await this.index()).size, problem: "" };
    } catch (error) {
      return { count: 0, problem: /** @type {Error} */ (error).message };
    }
  }

  /** Where the map shows each passage, as the site's build placed them. */
  async places() {
    const index = await this.index();
    const { index: placed, points } = JSON.parse(new TextDecoder().decode(await beside("demo-map.json")));
    if (placed !== (await sha256(await this.#bytes()))) throw new Error(`demo-map.json is of another ${FILE}`);
    const items = Array.from(index.documents(), (document) => ({
      id: document.id,
      title: String(document.title),
      group: this.groupOf(document),
    }));
    return { items, points: Float32Array.from(points), rows: null };
  }

  #bytes() {
    this.#file ??= beside(FILE);
    this.#file.catch(() => (this.#file = null));
    return this.#file;
  }

  async #build() {
    const file = await this.#bytes();
    const stored = await SearchIndex.load(this.#source(file), file);
    const engine = this.#engine;
    if (engine === null || engine.fingerprint === stored.fingerprint) {
      await stored.prepareKeywords();
      return stored;
    }
    const fresh = new SearchIndex(this.#source(engine), { vectors: "int8" });
    await fresh.add(Array.from(stored.documents()), {
      batchSize: BATCH,
      onProgress: ({ done, total }) => this.#tell("embedding", { done, total }),
    });
    await fresh.prepareKeywords();
    return fresh;
  }

  /**
   * What the index needs of an engine, also while there is none: the file says of which model it is.
   *
   * @param {import("../tern-engine.js").Engine | Uint8Array} model an engine, or an index file
   */
  #source(model) {
    const { dim, fingerprint, maxSeqLen } = model instanceof Uint8Array ? modelOf(model) : model;
    const engine = () => {
      if (this.#engine === null) throw failure("NOT_READY", "the engine is not loaded");
      return this.#engine;
    };
    return {
      dim,
      fingerprint,
      maxSeqLen,
      tokenCount: (/** @type {string} */ text) => engine().tokenCount(text),
      embed: (/** @type {string} */ text) => engine().embed(text),
      embedBatch: remembering((texts) => engine().embedBatch(texts)),
    };
  }
}

/**
 * The model that an index file is of: docs/index-format.md.
 *
 * @param {Uint8Array} file
 */
export function modelOf(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < 64) throw new Error(`${FILE} has ${file.length} bytes, an index has 96 or more`);
  return { fingerprint: hex(file.subarray(16, 48)), dim: view.getUint32(48, true), maxSeqLen: view.getUint32(52, true) };
}
