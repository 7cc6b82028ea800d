/** Rankings: the best of many, and one made of two. docs/index-format.md, section 8. */

/** The constant of reciprocal rank fusion: how little the first places stand out. */
export const RRF_K = 60;
/** How many documents of each half a hybrid search looks at, at least. */
export const RRF_DEPTH = 200;

/** @typedef {import("./entries.js").Entry} Entry */
/** @typedef {{entry: Entry, part: number, score: number}} Hit */

/**
 * Equal scores rank in the index's order.
 *
 * @param {Hit} one
 * @param {Hit} other
 */
const byScore = (one, other) => other.score - one.score || one.entry.order - other.entry.order;

/** Collects hits and keeps the best `size` of them. */
export class Best {
  #size;
  /** @type {Hit[]} */
  #hits = [];
  #least = -Infinity;

  /** @param {number} size */
  constructor(size) {
    this.#size = size;
  }

  /**
   * @param {Entry} entry
   * @param {number} part
   * @param {number} score
   */
  offer(entry, part, score) {
    if (score < this.#least) return;
    this.#hits.push({ entry, part, score });
    if (this.#hits.length >= 2 * this.#size + 64) this.#prune();
  }

  #prune() {
    this.#hits.sort(byScore);
    this.#hits.length = Math.min(this.#hits.length, this.#size);
    if (this.#hits.length === this.#size) this.#least = this.#hits[this.#size - 1].score;
  }

  /** @returns {Hit[]} best first */
  ranked() {
    this.#prune();
    return this.#hits;
  }
}

/**
 * The best hit of each document; the first passage of equal ones.
 *
 * @template {Hit} T
 * @param {Iterable<T>} hits
 * @returns {T[]}
 */
export function bestOfDocuments(hits) {
  /** @type {Map<Entry, T>} */
  const best = new Map();
  for (const hit of hits) {
    const known = best.get(hit.entry);
    const better =
      known === undefined || hit.score > known.score || (hit.score === known.score && hit.part < known.part);
    if (better) best.set(hit.entry, hit);
  }
  return Array.from(best.values());
}

/**
 * Reciprocal rank fusion. The passage is that of the ranking in which the document stands higher,
 * meaning's where it stands equally high.
 *
 * @param {readonly Hit[]} meaning best first
 * @param {readonly Hit[]} keyword best first
 * @returns {Hit[]} best first
 */
export function fuse(meaning, keyword) {
  /** @type {Map<Entry, {hit: Hit, rank: number}>} */
  const fused = new Map();
  for (const ranking of [meaning, keyword]) {
    ranking.forEach(({ entry, part }, i) => {
      const rank = i + 1;
      const term = 1 / (RRF_K + rank);
      const known = fused.get(entry);
      if (known === undefined) {
        fused.set(entry, { hit: { entry, part, score: term }, rank });
      } else {
        known.hit.score += term;
        if (rank < known.rank) known.hit.part = part;
      }
    });
  }
  return Array.from(fused.values(), ({ hit }) => hit).sort(byScore);
}
