/** Saved indexes in the browser's IndexedDB, under names; nothing leaves the machine. */
import { TernError, checkInput, checkOptions, describe } from "./errors.js";
import { allocate } from "./index-file.js";
import { Pacer } from "./pace.js";
import { LOADING, SAVING, SearchIndex } from "./search-index.js";

// A file is kept in pieces: to copy a large one into the database at once would hold up the page.
const PIECE_BYTES = 4 << 20;
const INFOS = "indexes";
const PIECES = "pieces";

/**
 * @typedef {object} StoredIndex
 * @property {string} name
 * @property {string} fingerprint the model that it was made with
 * @property {number} documents
 * @property {number} passages
 * @property {number} bytes
 * @property {Date} savedAt
 */

/**
 * Opens the database, and makes it where it is missing.
 *
 * @param {{name?: string}} [options] the database's name, "tern-engine" unless given
 * @returns {Promise<IndexStore>}
 * @throws {TernError} STORAGE_UNAVAILABLE where this host has no IndexedDB or forbids it (Node, some
 *   private windows, sandboxed frames), LOAD_NETWORK where the library idb is missing
 */
export async function openIndexStore(options = {}) {
  checkOptions(options, ["name"], "openIndexStore");
  const { name = "tern-engine" } = options;
  checkInput(typeof name === "string", `name must be a string, found ${describe(name)}`);
  const { openDB } = await import("./vendor/idb.js").catch((cause) => {
    const message = `vendor/idb.js, which the index store needs, could not be imported: ${cause}`;
    throw new TernError("LOAD_NETWORK", message, { cause });
  });
  if (!hasDatabases()) {
    const message = "this host has no IndexedDB; index.save() gives the bytes, to be kept elsewhere";
    throw new TernError("STORAGE_UNAVAILABLE", message);
  }
  try {
    const database = await openDB(name, 1, {
      upgrade(/** @type {any} */ fresh) {
        fresh.createObjectStore(INFOS, { keyPath: "name" });
        fresh.createObjectStore(PIECES);
      },
      // Another tab wants to change or delete the database: do not stand in its way.
      blocking: () => database.close(),
    });
    return new IndexStore(database);
  } catch (cause) {
    throw unavailable(`the database ${name} could not be opened`, cause);
  }
}

/** Where storage is forbidden, a browser may have it, lack it, or throw at the very question. */
function hasDatabases() {
  try {
    return Boolean(globalThis.indexedDB);
  } catch {
    return false;
  }
}

export class IndexStore {
  #database;

  /** @param {any} database opened by idb */
  constructor(database) {
    this.#database = database;
  }

  /**
   * Saves an index under a name; one saved there before is replaced, or stays as it was if this fails.
   *
   * @param {string} name
   * @param {SearchIndex} index
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<StoredIndex>}
   * @throws {TernError} STORAGE_QUOTA, STORAGE_UNAVAILABLE once the database is closed, ABORTED,
   *   INDEX_TOO_LARGE, INVALID_INPUT
   */
  async save(name, index, options = {}) {
    checkName(name);
    checkInput(index instanceof SearchIndex, `a SearchIndex is needed, found ${describe(index)}`);
    checkOptions(options, ["signal"], SAVING);
    const pacer = new Pacer(options.signal, SAVING);
    const file = await index.save(options);
    const view = new DataView(file.buffer);
    const [documents, passages] = [view.getUint32(56, true), view.getUint32(60, true)];
    const { fingerprint } = index;
    const info = { name, fingerprint, documents, passages, bytes: file.length, savedAt: new Date() };
    const change = this.#begin("readwrite");
    try {
      const pieces = change.objectStore(PIECES);
      await pieces.delete(piecesOf(name));
      for (let i = 0; i * PIECE_BYTES < file.length; i++) {
        pacer.check();
        await pieces.put(file.slice(i * PIECE_BYTES, (i + 1) * PIECE_BYTES), [name, i]);
      }
      await change.objectStore(INFOS).put(info);
      pacer.check();
      await change.done;
      return info;
    } catch (cause) {
      try {
        change.abort();
      } catch {
        // It has aborted by itself.
      }
      if (cause instanceof TernError) throw cause;
      const message = `an index of ${file.length} bytes could not be stored: ${change.error ?? cause}`;
      throw new TernError("STORAGE_QUOTA", message, { cause: change.error ?? cause });
    }
  }

  /**
   * @param {string} name
   * @param {import("./embedder.js").SearchEngine} engine
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<SearchIndex | null>} null where nothing is stored under the name
   * @throws {TernError} INDEX_STALE, INDEX_FORMAT, INDEX_TOO_LARGE, STORAGE_UNAVAILABLE, ABORTED,
   *   INVALID_INPUT
   */
  async load(name, engine, options = {}) {
    checkName(name);
    checkOptions(options, ["signal"], LOADING);
    const pacer = new Pacer(options.signal, LOADING);
    const reading = this.#begin("readonly");
    const info = await read(reading.objectStore(INFOS).get(name));
    if (info === undefined) return null;
    const file = allocate(info.bytes);
    let at = 0;
    for (let i = 0; at < file.length; i++) {
      const piece = await read(reading.objectStore(PIECES).get([name, i]));
      const found = piece === undefined ? "none" : `one of ${piece.length} bytes`;
      if (piece === undefined || piece.length === 0 || piece.length > file.length - at) {
        const expected = `${Math.min(PIECE_BYTES, file.length - at)} bytes`;
        throw new TernError("INDEX_FORMAT", `piece ${i} of the index ${name}: found ${found}, expected ${expected}`);
      }
      file.set(piece, at);
      at += piece.length;
      pacer.check();
    }
    return SearchIndex.load(engine, file, options);
  }

  /**
   * @returns {Promise<StoredIndex[]>} what is stored, by name
   * @throws {TernError} STORAGE_UNAVAILABLE
   */
  async list() {
    return read(this.#begin("readonly").objectStore(INFOS).getAll());
  }

  /**
   * @param {string} name
   * @returns {Promise<boolean>} whether there was one
   * @throws {TernError} STORAGE_UNAVAILABLE, INVALID_INPUT
   */
  async delete(name) {
    checkName(name);
    const change = this.#begin("readwrite");
    const infos = change.objectStore(INFOS);
    const found = (await read(infos.getKey(name))) !== undefined;
    await read(infos.delete(name));
    await read(change.objectStore(PIECES).delete(piecesOf(name)));
    await read(change.done);
    return found;
  }

  /** Closes the database: later calls are rejected with STORAGE_UNAVAILABLE. */
  close() {
    this.#database.close();
  }

  /**
   * @param {"readonly" | "readwrite"} mode
   * @returns {any} a transaction of idb's
   */
  #begin(mode) {
    try {
      const transaction = this.#database.transaction([INFOS, PIECES], mode);
      // Its failure shows in the requests, too; without this it would count as not handled.
      transaction.done.catch(() => {});
      return transaction;
    } catch (cause) {
      throw unavailable("the store is closed, or its database was deleted", cause);
    }
  }
}

/**
 * What the database answers; what it refuses becomes a TernError.
 *
 * @template T
 * @param {Promise<T>} request
 * @returns {Promise<T>}
 */
const read = (request) =>
  request.catch((cause) => {
    throw unavailable("the database did not answer", cause);
  });

/**
 * @param {string} what
 * @param {unknown} cause
 */
const unavailable = (what, cause) => new TernError("STORAGE_UNAVAILABLE", `${what}: ${cause}`, { cause });

/** @param {string} name */
const piecesOf = (name) => IDBKeyRange.bound([name], [name, []]);

/** @param {unknown} name */
function checkName(name) {
  checkInput(typeof name === "string", `name must be a string, found ${describe(name)}`);
  checkInput(name !== "", "name must not be empty");
}
