/** The downloads of one start: each file once, and some before it is known that they are needed. */
import { fetchFile } from "./fetch-file.js";

/**
 * @typedef {import("./fetch-file.js").FileSpec} FileSpec
 * @typedef {{bytes: Promise<Uint8Array<ArrayBuffer>>, loaded: number, total: number | undefined, stop(): void}} Download
 */

export class Downloads {
  /** @type {Map<string, Download>} by what is asked for, and where */
  #begun = new Map();
  /** @type {Set<Download>} those that somebody waits for */
  #wanted = new Set();
  /** @type {(name: string, loaded: number, total: number | undefined) => void} */
  #onBytes = () => {};
  #options;

  /** @param {import("./fetch-file.js").FetchOptions} options */
  constructor(options) {
    this.#options = options;
  }

  /**
   * Begins what is likely to be asked for. Of a guess that was wrong nobody hears.
   *
   * @param {Iterable<FileSpec>} files
   */
  expect(files) {
    for (const file of files) this.#begin(file).bytes.catch(() => {});
  }

  /**
   * From now on byte counts are told, of the files that are waited for.
   *
   * @param {(name: string, loaded: number, total: number | undefined) => void} onBytes
   */
  watch(onBytes) {
    this.#onBytes = onBytes;
  }

  /**
   * The same promise for the same file: a second start takes what the first fetched.
   *
   * @param {FileSpec} file
   */
  get(file) {
    const download = this.#begin(file);
    if (!this.#wanted.has(download)) {
      this.#wanted.add(download);
      if (download.loaded > 0) this.#onBytes(file.name, download.loaded, download.total);
    }
    return download.bytes;
  }

  /** Ends what was begun and nobody asked for: it would share the line with what is needed. */
  drop() {
    for (const [key, download] of this.#begun) {
      if (this.#wanted.has(download)) continue;
      this.#begun.delete(key);
      download.stop();
    }
  }

  /** Ends when all files that were asked for so far are here. */
  async all() {
    await Promise.all([...this.#wanted].map((download) => download.bytes));
  }

  /** @param {FileSpec} file */
  #begin(file) {
    const key = `${file.url} ${file.sha256}`;
    const known = this.#begun.get(key);
    if (known) return known;
    const onBytes = (/** @type {number} */ loaded, /** @type {number | undefined} */ total) => {
      Object.assign(download, { loaded, total });
      if (this.#wanted.has(download)) this.#onBytes(file.name, loaded, total);
    };
    const { signal } = this.#options;
    const controller = new AbortController();
    const stop = () => controller.abort(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    const options = { ...this.#options, onBytes, signal: controller.signal };
    /** @type {Download} */
    const download = { loaded: 0, total: undefined, bytes: fetchFile(file, options), stop };
    this.#begun.set(key, download);
    return download;
  }
}
