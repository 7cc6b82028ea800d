/**
 * What came of a file so far. Where its length is known, its bytes are laid where they belong and its
 * slices are hashed while the thread waits for more; done at the end, a start would wait for it.
 */
import { sha256 } from "./sha256.js";

export class Received {
  loaded = 0;
  /** @type {Promise<string>[]} SHA-256 of each slice that is whole, hex */
  hashes = [];
  #expected;
  #slice;
  #hashed = 0;
  /** @type {Uint8Array[]} what came beyond the expected length */
  #rest = [];

  /**
   * @param {number} [bytes] expected
   * @param {number} [slice] bytes of a slice; none are hashed where it is not given
   */
  constructor(bytes = 0, slice = Infinity) {
    this.#expected = allocate(bytes);
    this.#slice = slice;
  }

  /** @param {Uint8Array} chunk */
  add(chunk) {
    const room = this.#expected.subarray(this.loaded, this.loaded + chunk.length);
    room.set(chunk.subarray(0, room.length));
    if (room.length < chunk.length) this.#rest.push(chunk.subarray(room.length));
    this.loaded += chunk.length;
    if (this.#slice < Infinity) this.#hash();
  }

  #hash() {
    const { length } = this.#expected;
    for (;;) {
      const end = Math.min(this.#hashed + this.#slice, length);
      if (end === this.#hashed || end > this.loaded) return;
      const hash = sha256(this.#expected.subarray(this.#hashed, end));
      hash.catch(() => {}); // heard of by whoever waits for it
      this.hashes.push(hash);
      this.#hashed = end;
    }
  }

  /** @returns {Uint8Array<ArrayBuffer>} */
  body() {
    const { length } = this.#expected;
    if (this.loaded <= length) return this.#expected.subarray(0, this.loaded);
    const body = new Uint8Array(this.loaded);
    body.set(this.#expected);
    let at = length;
    for (const chunk of this.#rest) {
      body.set(chunk, at);
      at += chunk.length;
    }
    return body;
  }
}

/**
 * A length that is no length, or none that there is room for, is found wrong when the file is here.
 *
 * @param {number} bytes
 */
function allocate(bytes) {
  try {
    return new Uint8Array(bytes);
  } catch {
    return new Uint8Array();
  }
}
