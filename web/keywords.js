/**
 * The keyword half of the index: MiniSearch over passages and titles. It is made from the documents
 * when it is first asked for, and kept in step with them from then on; it is never stored.
 */
import { TernError } from "./errors.js";
import { Pacer } from "./pace.js";
import { wordsOf } from "./words.js";

/** @typedef {import("./entries.js").Entry} Entry */
/** @typedef {{entry: Entry, part: number, score: number, terms: string[]}} KeywordHit */

/**
 * What MiniSearch is given for a passage: its words and its title's, already taken apart.
 *
 * @typedef {{id: number, text: string[], title: string[]}} Unit
 */

// What a word in the title counts against one in the text.
const TITLE_BOOST = 2;
// The last word of a query may be unfinished from this length on.
const PREFIX_FROM = 3;
// A word that no passage holds is taken for a misspelt one: one letter in five, of words this long.
const FUZZY_FROM = 5;
const FUZZINESS = 0.2;
// How many occurrences a query looks at, some 3 µs each: its common words are left out where rarer ones
// reach this number already, and a beginning of very many words is no word's beginning.
const BUDGET = 5000;

export class Keywords {
  #import;
  /** @type {any} a MiniSearch, once it was asked for */
  #search = null;
  /** @type {{entry: Entry, gone: boolean}[]} changes that #search does not know yet, in order */
  #pending = [];
  /** @type {Map<number, {entry: Entry, part: number}>} by the passage's id in #search */
  #units = new Map();
  /** @type {Map<Entry, number>} the id of an entry's first passage */
  #firstIds = new Map();
  /** @type {Map<string, number>} in how many passages or their titles a term is */
  #counts = new Map();
  #nextId = 0;
  /** @type {Promise<void>} */
  #last = Promise.resolve();

  /** @param {() => Promise<any>} [importMiniSearch] another way to get the library, for tests */
  constructor(importMiniSearch = () => import("./vendor/minisearch.js")) {
    this.#import = importMiniSearch;
  }

  /** @param {Entry} entry */
  add(entry) {
    if (this.#search !== null) this.#pending.push({ entry, gone: false });
  }

  /** @param {Entry} entry */
  remove(entry) {
    if (this.#search !== null) this.#pending.push({ entry, gone: true });
  }

  /**
   * Brings the half up to date.
   *
   * @param {() => Iterable<Entry>} entries all there are
   * @returns {Promise<void>}
   * @throws {TernError} LOAD_NETWORK where the library cannot be imported
   */
  update(entries) {
    const turn = this.#last.then(() => this.#update(entries));
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** @param {() => Iterable<Entry>} entries */
  async #update(entries) {
    if (this.#search === null) {
      this.#search = createSearch(await this.#library());
      for (const entry of entries()) this.#pending.push({ entry, gone: false });
    }
    const pacer = new Pacer(undefined, "");
    for (let i = 0; i < this.#pending.length; i++) {
      const { entry, gone } = this.#pending[i];
      for (const unit of gone ? this.#forget(entry) : this.#learn(entry)) {
        if (gone) this.#search.remove(unit);
        else this.#search.add(unit);
        if (pacer.due) await pacer.pause();
      }
    }
    this.#pending.length = 0;
  }

  async #library() {
    try {
      return (await this.#import()).default;
    } catch (cause) {
      const message = `vendor/minisearch.js, which keyword search needs, could not be imported: ${cause}`;
      throw new TernError("LOAD_NETWORK", message, { cause });
    }
  }

  /**
   * @param {Entry} entry
   * @returns {Generator<Unit>}
   */
  *#learn(entry) {
    const first = this.#nextId;
    this.#firstIds.set(entry, first);
    for (const unit of unitsOf(entry, first)) {
      this.#nextId = unit.id + 1;
      this.#units.set(unit.id, { entry, part: unit.id - first });
      for (const term of termsOf(unit)) this.#counts.set(term, (this.#counts.get(term) ?? 0) + 1);
      yield unit;
    }
  }

  /**
   * @param {Entry} entry one that was learnt
   * @returns {Generator<Unit>}
   */
  *#forget(entry) {
    const first = /** @type {number} */ (this.#firstIds.get(entry));
    this.#firstIds.delete(entry);
    for (const unit of unitsOf(entry, first)) {
      this.#units.delete(unit.id);
      for (const term of termsOf(unit)) {
        const left = /** @type {number} */ (this.#counts.get(term)) - 1;
        if (left > 0) this.#counts.set(term, left);
        else this.#counts.delete(term);
      }
      yield unit;
    }
  }

  /**
   * The passages that hold words of a query, in no order. To be called once `update` has resolved.
   *
   * @param {string} query
   * @returns {KeywordHit[]}
   */
  find(query) {
    const terms = wordsOf(query).map(({ term }) => term);
    const last = terms.at(-1) ?? "";
    const isBeginning = last.length >= PREFIX_FROM && this.#countOfBeginning(last) <= BUDGET;
    const hits = this.#search.search(this.#telling(new Set(terms)).join(" "), {
      boost: { title: TITLE_BOOST },
      prefix: (/** @type {string} */ term) => isBeginning && term === last,
      fuzzy: (/** @type {string} */ term) =>
        !this.#counts.has(term) && term.length >= FUZZY_FROM && FUZZINESS,
      tokenize: (/** @type {string} */ text) => text.split(" "),
    });
    return hits.map((/** @type {{id: number, score: number, terms: string[]}} */ hit) => ({
      .../** @type {{entry: Entry, part: number}} */ (this.#units.get(hit.id)),
      score: hit.score,
      terms: hit.terms,
    }));
  }

  /**
   * The rarest terms of a query that keep within the budget; at least one.
   *
   * @param {Set<string>} terms
   * @returns {string[]}
   */
  #telling(terms) {
    const counted = Array.from(terms, (term) => ({ term, count: this.#counts.get(term) ?? 0 }));
    counted.sort((one, other) => one.count - other.count);
    let sum = 0;
    return counted.filter(({ count }, i) => (sum += count) <= BUDGET || i === 0).map(({ term }) => term);
  }

  /** @param {string} beginning */
  #countOfBeginning(beginning) {
    let sum = 0;
    for (const [term, count] of this.#counts) if (term.startsWith(beginning)) sum += count;
    return sum;
  }
}

/** @param {any} MiniSearch */
function createSearch(MiniSearch) {
  return new MiniSearch({
    fields: ["text", "title"],
    extractField: (/** @type {any} */ unit, /** @type {string} */ field) => unit[field],
    stringifyField: (/** @type {string[]} */ terms) => terms,
    tokenize: (/** @type {string[]} */ terms) => terms,
    processTerm: (/** @type {string} */ term) => term,
  });
}

/**
 * A unit for each passage; one with the title alone for a document without passages.
 *
 * @param {Entry} entry
 * @param {number} firstId
 * @returns {Generator<Unit>}
 */
function* unitsOf(entry, firstId) {
  const title = wordsOf(entry.document.title ?? "").map(({ term }) => term);
  const texts = entry.passageCount > 0 ? entry.passageTexts() : [""];
  for (const [i, text] of texts.entries()) {
    yield { id: firstId + i, title, text: wordsOf(text).map(({ term }) => term) };
  }
}

/** @param {Unit} unit */
const termsOf = ({ text, title }) => new Set([...text, ...title]);
