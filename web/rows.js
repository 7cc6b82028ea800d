/**
 * Entries and their vectors, row by row. Rows are only ever added, and an entry that was removed is
 * only marked, so that a search that pauses half-way goes on over what it started with.
 */
import { Best } from "./fusion.js";
import { BLOCK_ROWS, createTable } from "./vectors.js";

/** @typedef {import("./entries.js").Entry} Entry */

// Removed rows are worth a copy of the others from this number on, once they are the majority.
const COMPACT_FROM = 1024;

export class Rows {
  #table;
  /** @type {{entry: Entry, first: number}[]} first: its first row; the others follow */
  #runs = [];
  #removed = 0;

  /**
   * @param {import("./vectors.js").VectorKind} kind
   * @param {number} dim
   */
  constructor(kind, dim) {
    this.dim = dim;
    this.#table = createTable(kind, dim);
  }

  /** What the vectors lie in; an entry's start at `entry.row`. */
  get table() {
    return this.#table;
  }

  /** Whether more than half of it is of no use any more. */
  get isSparse() {
    return this.#removed >= COMPACT_FROM && this.#removed > this.#table.count / 2;
  }

  /**
   * @param {Entry} entry
   * @param {(row: number) => void} addRow adds the row of passage number `row` to the table
   */
  add(entry, addRow) {
    entry.row = this.#table.count;
    this.#runs.push({ entry, first: entry.row });
    for (let part = 0; part < entry.passageCount; part++) addRow(part);
  }

  /** @param {Entry} entry */
  remove(entry) {
    entry.removed = true;
    this.#removed += entry.passageCount;
  }

  /**
   * A copy without removed entries. This object stays as it is, but its entries' `row` is the copy's.
   *
   * @param {import("./pace.js").Pacer} pacer
   * @returns {Promise<Rows>}
   */
  async compacted(pacer) {
    const rows = new Rows(this.#table.kind, this.dim);
    for (const { entry, first } of this.#runs) {
      if (entry.removed) continue;
      const from = /** @type {any} */ (this.#table);
      rows.add(entry, (part) => /** @type {any} */ (rows.table).copy(from, first + part));
      if (pacer.due) await pacer.pause();
    }
    return rows;
  }

  /**
   * The documents nearest to a query, each with its best passage.
   *
   * @param {Float32Array} query
   * @param {number} size how many
   * @param {((document: import("./documents.js").Document) => boolean) | undefined} filter
   * @param {import("./pace.js").Pacer} pacer
   * @returns {Promise<import("./fusion.js").Hit[]>} best first
   */
  async nearest(query, size, filter, pacer) {
    const runs = this.#runs.length;
    const rows = this.#table.count;
    const scores = new Float64Array(rows);
    const score = this.#table.scorer(query);
    for (let first = 0; first < rows; first += BLOCK_ROWS) {
      const last = Math.min(first + BLOCK_ROWS, rows);
      score(first / BLOCK_ROWS, last - first, scores.subarray(first, last));
      if (pacer.due) await pacer.pause();
    }
    const best = new Best(size);
    for (let i = 0; i < runs; i++) {
      const { entry, first } = this.#runs[i];
      if (entry.removed || entry.passageCount === 0) continue;
      if (filter !== undefined && !filter(entry.document)) continue;
      let part = 0;
      for (let p = 1; p < entry.passageCount; p++) if (scores[first + p] > scores[first + part]) part = p;
      best.offer(entry, part, scores[first + part]);
      if (i % 256 === 255 && pacer.due) await pacer.pause();
    }
    return best.ranked();
  }
}
