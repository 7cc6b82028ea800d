/** Types of search.js; kept by hand, checked against the code by tests. */

type Awaitable<T> = T | PromiseLike<T>;

/** What an index needs of an engine. An `Engine` is one; so is one in a worker. */
export interface SearchEngine {
  /** Length of an embedding, up to 65,535. */
  readonly dim: number;
  /** SHA-256 of the model, in lowercase hex. */
  readonly fingerprint: string;
  /** Tokens that the model reads of a text: the default for passages. */
  readonly maxSeqLen?: number;
  /** The same under another name. */
  readonly maxTokens?: number;
  /** One of embed and embedBatch is needed. Embeddings have length 1. */
  embed?(text: string, options: { signal?: AbortSignal }): Awaitable<ArrayLike<number>>;
  embedBatch?(
    texts: string[],
    options: { signal?: AbortSignal },
  ): Awaitable<ArrayLike<ArrayLike<number>>>;
  tokenCount(text: string): Awaitable<{ tokens: number; truncated: boolean }>;
}

/** A document in an index: frozen, `meta` included. */
export interface Document {
  readonly id: string;
  readonly text: string;
  /** Counts in the keyword half; it is not embedded. */
  readonly title?: string;
  /** Where it comes from: a file name, a URL. */
  readonly source?: string;
  /** Anything else, as JSON. */
  readonly meta?: Readonly<Record<string, any>>;
}

export interface IndexOptions {
  /** "int8" takes a quarter of the memory for vectors. Default "float32". */
  vectors?: "float32" | "int8";
  /** Longest passage in tokens. Default: what the model reads. */
  passageTokens?: number;
}

export interface AddOptions {
  /** Rejects with code ABORTED; documents that were complete by then stay. */
  signal?: AbortSignal;
  onProgress?: (event: AddProgress) => void;
  /** Passages handed to the engine at a time. Default: by how long the last batch took. */
  batchSize?: number;
}

export interface AddProgress {
  /** Documents added so far. */
  done: number;
  total: number;
  /** Passages that they have. */
  passages: number;
}

export interface QueryOptions {
  /** How many results at most. Default 10. */
  k?: number;
  /** Default "meaning". A query that is a vector has no other. */
  mode?: "meaning" | "keyword" | "hybrid";
  /** Which documents count. Answers at once: a promise is refused. */
  filter?: (document: Document) => boolean;
  /** The query's embedding, where it is known already. */
  vector?: ArrayLike<number>;
  /** Finds the sentence of each passage nearest to the query, at the price of embedding them. */
  bestSentence?: boolean;
  signal?: AbortSignal;
}

/** A part of a document's text. Offsets count code points; the end is exclusive. */
export interface TextRange {
  start: number;
  end: number;
  text: string;
}

export interface Standing {
  /** From 1. */
  rank: number;
  score: number;
}

export interface Result {
  id: string;
  /** By which results are ranked: the cosine; BM25 by keyword; the sum of reciprocal ranks, hybrid. */
  score: number;
  document: Document;
  /** The best passage; null for a document without text, found by its title. */
  passage: (TextRange & { index: number }) | null;
  /** Matching words in passage.text, in code points of it: see markRanges. */
  highlights: [start: number, end: number][];
  /** Where the document stands by meaning alone, if it does. */
  meaning: Standing | null;
  /** Where it stands by keyword alone, if it does. */
  keyword: Standing | null;
  /** With bestSentence. */
  sentence?: TextRange | null;
}

/** An index over documents that finds by meaning, by keyword, or both. */
export class SearchIndex {
  /** @throws {TernError} INVALID_INPUT */
  constructor(engine: SearchEngine, options?: IndexOptions);
  /** The index that `save` wrote. @throws {TernError} INDEX_FORMAT, INDEX_STALE, ABORTED, INVALID_INPUT */
  static load(
    engine: SearchEngine,
    file: Uint8Array | ArrayBuffer,
    options?: { signal?: AbortSignal },
  ): Promise<SearchIndex>;
  /** How many documents are in the index. */
  get size(): number;
  /** How many passages they have. */
  get passageCount(): number;
  get vectors(): "float32" | "int8";
  readonly passageTokens: number;
  /** The model that the vectors are of. */
  readonly fingerprint: string;
  has(id: string): boolean;
  get(id: string): Document | undefined;
  /** All documents, in the order in which they were added. */
  documents(): Generator<Document>;
  /**
   * Adds documents with new ids. Each is searchable as soon as it is embedded. The array and its objects
   * may be changed meanwhile, but not what is in a `meta`.
   */
  add(documents: Document | readonly Document[], options?: AddOptions): Promise<void>;
  /** Adds documents, each in the place of the one with its id if there is one. */
  replace(documents: Document | readonly Document[], options?: AddOptions): Promise<void>;
  /** Removes documents and says how many there were. */
  remove(ids: string | readonly string[]): Promise<number>;
  /** Removes all documents. */
  clear(): Promise<void>;
  /** The documents that fit a text or a vector best, best first. */
  query(query: string | ArrayLike<number>, options?: QueryOptions): Promise<Result[]>;
  /** Makes the keyword half now, which the first query that needs it would otherwise wait for. */
  prepareKeywords(): Promise<void>;
  /** The index as one file, as docs/index-format.md says. @throws {TernError} ABORTED, INDEX_TOO_LARGE */
  save(options?: { signal?: AbortSignal }): Promise<Uint8Array<ArrayBuffer>>;
}

export interface StoredIndex {
  name: string;
  /** The model that it was made with: compare it to an engine's before loading. */
  fingerprint: string;
  documents: number;
  passages: number;
  bytes: number;
  savedAt: Date;
}

/**
 * Opens the IndexedDB database, "tern-engine" unless named.
 *
 * @throws {TernError} STORAGE_UNAVAILABLE where this host has no IndexedDB or forbids it (Node, some
 *   private windows, sandboxed frames), LOAD_NETWORK
 */
export function openIndexStore(options?: { name?: string }): Promise<IndexStore>;

/** Saved indexes in IndexedDB. After `close`, and where the database fails: STORAGE_UNAVAILABLE. */
export class IndexStore {
  private constructor();
  /** Replaces what was saved under the name; that stays if this fails. @throws {TernError} STORAGE_QUOTA, ABORTED */
  save(name: string, index: SearchIndex, options?: { signal?: AbortSignal }): Promise<StoredIndex>;
  /** Null where nothing is stored under the name. @throws {TernError} INDEX_STALE, INDEX_FORMAT, ABORTED */
  load(
    name: string,
    engine: SearchEngine,
    options?: { signal?: AbortSignal },
  ): Promise<SearchIndex | null>;
  list(): Promise<StoredIndex[]>;
  /** Says whether there was one. */
  delete(name: string): Promise<boolean>;
  close(): void;
}

/** The sentences of a text, by one rule for all languages and hosts. */
export function splitSentences(text: string): TextRange[];

/** A text in pieces, for showing highlights. */
export function markRanges(
  text: string,
  ranges: readonly (readonly [start: number, end: number])[],
): { text: string; marked: boolean }[];

/** The constant of reciprocal rank fusion. */
export const RRF_K: 60;
/** How many documents of each half a hybrid search looks at, at least. */
export const RRF_DEPTH: 200;
