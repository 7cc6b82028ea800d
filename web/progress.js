/** Byte counts of a load, over all its files. */

/**
 * `loaded` and `total` count bytes over all files, `progress` is their ratio; `file` is the one that
 * moved ("" where none did). A model of unknown size is counted as it arrives.
 *
 * @typedef {object} ProgressEvent
 * @property {"downloading" | "starting" | "ready"} status
 * @property {string} file
 * @property {number} loaded
 * @property {number} total
 * @property {number} progress 0…1
 */

export class Progress {
  /** @type {Map<string, {loaded: number, total: number}>} */
  #files = new Map();
  #report;

  /**
   * @param {Iterable<{name: string, bytes?: number}>} files
   * @param {(event: ProgressEvent) => void} report
   */
  constructor(files, report) {
    this.#report = report;
    for (const { name, bytes } of files) this.#files.set(name, { loaded: 0, total: bytes ?? 0 });
  }

  /**
   * @param {string} name
   * @param {number} loaded
   * @param {number} [total] where the server knows it
   */
  update(name, loaded, total) {
    const before = this.#files.get(name);
    if (before?.loaded === loaded) return;
    this.#files.set(name, { loaded, total: Math.max(loaded, total ?? before?.total ?? 0) });
    this.#send("downloading", name);
  }

  /** @param {"starting" | "ready"} status */
  enter(status) {
    this.#send(status, "");
  }

  /**
   * @param {ProgressEvent["status"]} status
   * @param {string} file
   */
  #send(status, file) {
    let loaded = 0;
    let total = 0;
    for (const count of this.#files.values()) {
      loaded += count.loaded;
      total += count.total;
    }
    this.#report({ status, file, loaded, total, progress: total === 0 ? 0 : loaded / total });
  }
}
