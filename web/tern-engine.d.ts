/** Types of tern-engine.js; kept by hand, checked against the code by tests. */

import { ERROR_CODES, type ErrorCode } from "./errors-list.js";
export { ERROR_CODES, type ErrorCode };

/**
 * Root of every error of the engine. Its message starts with "tern-engine: " and says what was found
 * and what was expected; `cause` is the error behind it, where there is one.
 */
export class TernError extends Error {
  constructor(code: ErrorCode, message: string, options?: { cause?: unknown });
  /** The same on every host: branch on it. */
  readonly code: ErrorCode;
}

export interface ProgressEvent {
  /** "starting": all bytes are here and Python starts. "ready": the engine can embed. */
  status: "downloading" | "starting" | "ready";
  /** The file that moved, "" where none did. */
  file: string;
  /** Bytes so far, over all files. */
  loaded: number;
  /** Bytes to come in all. A model of unknown size is counted as it arrives. */
  total: number;
  /** loaded / total, 0…1. */
  progress: number;
}

export interface LoadOptions {
  /** Folder that holds manifest.json. Default: the folder of tern-engine.js. */
  baseUrl?: URL | string;
  /** Another model of the build's own format: its URL (in Node also a path) or its bytes. */
  model?: URL | string | Uint8Array | ArrayBuffer;
  /** Rejects the load with code ABORTED, an AbortError as its cause. */
  signal?: AbortSignal;
  onProgress?: (event: ProgressEvent) => void;
  /** Longest wait for the next bytes of a file, in ms. Default 30,000. */
  timeoutMs?: number;
  /** Run in a worker thread, or in several: the engine is then a WorkerEngine. Default false. */
  worker?: boolean | WorkerOptions;
}

export interface WorkerOptions {
  /**
   * How many workers, at most one a hardware thread and eight in all; `true` leaves one hardware
   * thread to the page. Default 1.
   */
  pool?: number | true;
  /** Where engine.worker.js is. Default: beside tern-engine.js. */
  url?: URL | string;
}

/** Labels, or examples by label. */
export type Labels = readonly string[] | Readonly<Record<string, readonly string[]>>;

export interface ClassifyOptions {
  /** Labels that score less are left out. */
  threshold?: number;
}

export interface LabelScore {
  label: string;
  /** Cosine of the label's embedding to the text's, −1…1. */
  score: number;
}

/** A loaded engine. Every array it returns is a copy that the caller owns. */
export class Engine {
  private constructor();
  /** Length of an embedding. */
  readonly dim: number;
  /** Tokens a text is cut to, [CLS] and [SEP] included. */
  readonly maxSeqLen: number;
  /** SHA-256 of the model, in hex: vectors of equal fingerprints can be compared. */
  readonly fingerprint: string;
  /** The embedding of a text: `dim` floats, of length 1. */
  embed(text: string): Float32Array;
  /** One embedding a text, each the same bits as `embed` gives. */
  embedBatch(texts: readonly string[]): Float32Array[];
  /** The token ids as the model sees them, [CLS] … [SEP], cut to `maxSeqLen`. */
  tokenize(text: string): Uint32Array;
  /** How many tokens the model reads, and whether the rest of the text was cut off. */
  tokenCount(text: string): { tokens: number; truncated: boolean };
  /** Labels ranked by the cosine of their embeddings to the text's, best first. */
  classify(text: string, labels: Labels, options?: ClassifyOptions): LabelScore[];
  /** A JSON object as text: engine, version, build, shapes, model size, fingerprint, host. */
  config_summary(): string;
  /** Frees the model. Later calls throw DISPOSED. */
  dispose(): void;
}

/** What every call of a WorkerEngine takes. */
export interface CallOptions {
  /** Rejects the call with code ABORTED and leaves the engine as it is. */
  signal?: AbortSignal;
}

/**
 * An engine in worker threads: the calls of Engine, answered by promises. They reject with
 * INVALID_INPUT, ABORTED, DISPOSED and WORKER_FAILED. Single texts go before batches under way.
 */
export class WorkerEngine {
  private constructor();
  /** Length of an embedding. */
  readonly dim: number;
  /** Tokens a text is cut to, [CLS] and [SEP] included. */
  readonly maxSeqLen: number;
  /** SHA-256 of the model, in hex: vectors of equal fingerprints can be compared. */
  readonly fingerprint: string;
  /** How many worker threads there are. */
  readonly workers: number;
  /** The embedding of a text: `dim` floats, of length 1. */
  embed(text: string, options?: CallOptions): Promise<Float32Array>;
  /**
   * One embedding a text, in order, shared out over the workers; the same bits as from Engine. The array
   * may be changed meanwhile.
   */
  embedBatch(
    texts: readonly string[],
    options?: CallOptions & { onProgress?: (done: number, total: number) => void },
  ): Promise<Float32Array[]>;
  /** The token ids as the model sees them, [CLS] … [SEP], cut to `maxSeqLen`. */
  tokenize(text: string, options?: CallOptions): Promise<Uint32Array>;
  /** How many tokens the model reads, and whether the rest of the text was cut off. */
  tokenCount(text: string, options?: CallOptions): Promise<{ tokens: number; truncated: boolean }>;
  /** Labels ranked by the cosine of their embeddings to the text's, best first. */
  classify(text: string, labels: Labels, options?: ClassifyOptions): Promise<LabelScore[]>;
  /** A JSON object as text: engine, version, build, shapes, model size, fingerprint, host. */
  config_summary(): Promise<string>;
  /** Ends the workers, and resolves when they are gone. Calls under way and later: DISPOSED. */
  dispose(): Promise<void>;
}

/**
 * Loads the engine. Calls for the same thing share one load while it is under way; a failed or
 * aborted one leaves nothing behind.
 *
 * @throws {TernError} LOAD_HTTP, LOAD_CONTENT, LOAD_TRUNCATED, LOAD_INTEGRITY, LOAD_NETWORK,
 *   LOAD_TIMEOUT, ABORTED, WASM_NO_SIMD, WASM_BLOCKED, KERNEL_MISSING, KERNEL_SELF_TEST,
 *   KERNEL_MEMORY, MODEL_…, INVALID_INPUT, WORKER_FAILED
 */
export function load(options: LoadOptions & { worker: true | WorkerOptions }): Promise<WorkerEngine>;
export function load(options?: LoadOptions & { worker?: false }): Promise<Engine>;
export function load(options?: LoadOptions): Promise<Engine | WorkerEngine>;

/**
 * Cosine of two vectors, −1…1; 0 where either of them is zero.
 *
 * @throws {TernError} DIMENSION when the lengths differ, INVALID_INPUT for anything but vectors
 */
export function similarity(a: ArrayLike<number>, b: ArrayLike<number>): number;

/**
 * Labels ranked by the cosine of their embeddings to the text's, best first; ties keep their order.
 * Where labels come with examples, the score is the cosine to the sum of the examples' embeddings.
 */
export function classify(
  engine: { embedBatch(texts: string[]): ArrayLike<ArrayLike<number>> },
  text: string,
  labels: Labels,
  options?: ClassifyOptions,
): LabelScore[];
export function classify(
  engine: { embedBatch(texts: string[]): PromiseLike<ArrayLike<ArrayLike<number>>> },
  text: string,
  labels: Labels,
  options?: ClassifyOptions,
): Promise<LabelScore[]>;
