/** The built-in collection: a reverse dictionary with stored vectors. Keywords work without the engine. */
import { fetchFile } from "../fetch-file.js";
import { SearchIndex } from "../search.js";
import { sha256 } from "../sha256.js";
import { entryText, readCorpus, readVectors, vectorsModel } from "./corpus.js";

const CHUNK = 32;
// Every definition is a sentence: no need to count its tokens to know that the model reads it whole.
const SHORT = { tokens: 3, truncated: false };

/** @param {string} name */
const beside = (name) => fetchFile({ name, url: new URL(name, import.meta.url).href });

export class Dictionary {
  hasSentences = false;
  #tell;
  /** @type {import("../engine.js").Engine | null} */
  #engine = null;
  /** @type {Promise<SearchIndex>} */
  #index;
  /** @type {ReturnType<Dictionary["files"]> | null} */
  #files = null;

  /** @param {(event: string, detail: any) => void} tell */
  constructor(tell) {
    this.#tell = tell;
    this.#index = this.#build();
    this.#index.catch(() => {}); // reported to whoever asks for it
  }

  index() {
    return this.#index;
  }

  /** @param {import("../search.js").Document | any} document */
  groupOf(document) {
    return document.meta.kind;
  }

  async count() {
    return (await this.#index).size;
  }

  async groups() {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const document of (await this.#index).documents()) {
      const kind = this.groupOf(document);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    return Array.from(counts, ([name, count]) => ({ name, count })).sort((a, b) => a.name.localeCompare(b.name));
  }

  /**
   * Meanings from here on. Vectors of another model, and missing ones, are made anew.
   *
   * @param {import("../engine.js").Engine} engine
   */
  async use(engine) {
    this.#engine = engine;
    const usable = await this.#index.then(
      (index) => index.fingerprint === engine.fingerprint,
      () => false,
    );
    if (usable) return;
    this.#index = this.#build();
    await this.#index;
  }

  /** Where the map shows each entry, as the site's build placed them. */
  async places() {
    const index = await this.#index;
    const { corpusSha256 } = await this.files();
    const { corpus, points } = JSON.parse(new TextDecoder().decode(await beside("demo-map.json")));
    if (corpus !== corpusSha256) throw new Error("demo-map.json is of another corpus");
    const items = Array.from(index.documents(), (document) => ({
      id: document.id,
      title: String(document.title).split("; ")[0],
      group: this.groupOf(document),
    }));
    return { items, points: Float32Array.from(points), rows: null };
  }

  files() {
    this.#files ??= this.#fetchFiles();
    this.#files.catch(() => (this.#files = null));
    return this.#files;
  }

  async #fetchFiles() {
    const [corpusFile, vectorsFile] = await Promise.all([
      beside("demo-corpus.json"),
      beside("demo-vectors.bin").catch(() => new Uint8Array(0)),
    ]);
    const corpus = readCorpus(JSON.parse(new TextDecoder().decode(corpusFile)));
    return { corpus, vectorsFile, corpusSha256: await sha256(corpusFile) };
  }

  async #build() {
    const { corpus, vectorsFile, corpusSha256 } = await this.files();
    const engine = this.#engine;
    const fingerprint = engine?.fingerprint ?? vectorsModel(vectorsFile);
    const dim = engine?.dim ?? 384;
    const stored =
      fingerprint === null ? null : readVectors(vectorsFile, { fingerprint, corpusSha256, count: corpus.length, dim });
    if (stored === null && engine === null) throw new Error("no vectors without the engine");
    const vectors = stored ?? this.#embedAll(corpus.map(entryText));
    let at = 0;
    const source = {
      dim,
      fingerprint: /** @type {string} */ (fingerprint),
      maxSeqLen: 128,
      tokenCount: () => SHORT,
      embed: (/** @type {string} */ text) => /** @type {any} */ (this.#engine).embed(text),
      // While the index is made, one passage an entry, in order.
      embedBatch: (/** @type {string[]} */ texts) => texts.map(() => vectors.subarray(at * dim, ++at * dim)),
    };
    const index = new SearchIndex(source, { vectors: "float32" });
    await index.add(
      corpus.map(({ word, synonyms, kind, definition }, i) => ({
        id: String(i),
        title: [word, ...synonyms].join("; "),
        text: definition,
        meta: { kind },
      })),
    );
    await index.prepareKeywords();
    return index;
  }

  /** @param {string[]} texts */
  #embedAll(texts) {
    const engine = /** @type {import("../engine.js").Engine} */ (this.#engine);
    const all = new Float32Array(texts.length * engine.dim);
    for (let done = 0; done < texts.length; done += CHUNK) {
      this.#tell("embedding", { done, total: texts.length });
      const chunk = engine.embedBatch(texts.slice(done, done + CHUNK));
      chunk.forEach((vector, i) => all.set(vector, (done + i) * engine.dim));
    }
    return all;
  }
}
