/** The engine as JavaScript sees it: typed arrays out of a Python object that runs in Pyodide. */
import { classify } from "./classify.js";
import { TernError, checkInput, describe } from "./errors.js";

/**
 * The Python side, `tern_engine._js.create(…)`. Methods answer −1 where they failed, and
 * `error_code` and `error_message` then say why.
 *
 * @typedef {object} Bridge
 * @property {string} error_code
 * @property {string} error_message
 * @property {WebAssembly.Memory} memory the kernel's
 * @property {number} dim
 * @property {number} max_seq_len
 * @property {string} fingerprint
 * @property {number} text_offset where a plain text is written, a byte a character
 * @property {string} plain the characters of plain texts, all of ASCII
 * @property {number} plain_limit the most of them
 * @property {string} after_text what stands behind such a text
 * @property {number} ids_offset
 * @property {boolean} truncated
 * @property {(text: string) => number} embed byte offset of float32[dim] in the kernel's memory
 * @property {() => number} embed_written as `embed`, of the text that was written
 * @property {(texts: string[], take: (count: number) => void) => number} embed_batch calls `take`
 *   for each part of the texts, whose vectors then stand at `out_offset`, `out_stride` bytes apart
 * @property {number} out_offset
 * @property {number} out_stride
 * @property {(text: string) => number} tokenize count of uint32 ids at `ids_offset`
 * @property {(text: string) => number} token_count
 * @property {() => string} config_summary
 * @property {() => void} dispose
 * @property {() => void} [destroy] releases the Python object (Pyodide adds it)
 */

export class Engine {
  /** @type {Bridge | null} */
  #bridge;
  /** @type {WebAssembly.Memory} */
  #memory;
  #embed;
  #embedWritten;
  /** Where the kernel leaves an embedding. */
  #vector = new Float32Array(0);
  /** Where it reads a plain text. */
  #text = new Uint8Array(0);
  #textOffset;
  /** 1 for the characters of plain texts. */
  #plain = new Uint8Array(128);
  #plainLimit;
  #afterText;
  #summary;

  /** @param {Bridge} bridge one whose `error_code` is empty; the engine owns it from here on */
  constructor(bridge) {
    this.#bridge = bridge;
    // Fetched once: a look-up through Pyodide costs more than the call itself.
    this.#memory = bridge.memory;
    this.#embed = bridge.embed;
    this.#embedWritten = bridge.embed_written;
    this.#textOffset = bridge.text_offset;
    for (const code of encode(bridge.plain)) this.#plain[code] = 1;
    this.#plainLimit = bridge.plain_limit;
    this.#afterText = encode(bridge.after_text);
    this.#summary = bridge.config_summary();
    /** Length of an embedding. @readonly */
    this.dim = bridge.dim;
    /** Tokens a text is cut to, [CLS] and [SEP] included. @readonly */
    this.maxSeqLen = bridge.max_seq_len;
    /** SHA-256 of the model, in hex: vectors of equal fingerprints can be compared. @readonly */
    this.fingerprint = bridge.fingerprint;
  }

  /**
   * The embedding of one text: `dim` floats of length 1.
   *
   * @param {string} text
   * @returns {Float32Array} a copy that the caller owns
   * @throws {TernError} INVALID_INPUT, DISPOSED
   */
  embed(text) {
    this.#live();
    checkText(text, "text");
    const offset = this.#answer(this.#write(text) ? this.#embedWritten() : this.#embed(text));
    // The view is kept: making one takes longer than the copy. A memory that grew has detached it,
    // and then it begins at 0.
    if (this.#vector.byteOffset !== offset) {
      this.#vector = new Float32Array(this.#memory.buffer, offset, this.dim);
    }
    return this.#vector.slice();
  }

  /**
   * The embeddings of many texts, each the same bits as `embed` gives.
   *
   * @param {readonly string[]} texts
   * @returns {Float32Array[]} one a text, in order; copies that the caller owns
   * @throws {TernError} INVALID_INPUT, DISPOSED
   */
  embedBatch(texts) {
    const bridge = this.#live();
    checkInput(Array.isArray(texts), `texts must be an array of strings, found ${describe(texts)}`);
    for (let i = 0; i < texts.length; i++) checkText(texts[i], `texts[${i}]`);
    if (texts.length === 0) return [];
    /** @type {Float32Array[]} */
    const vectors = [];
    const offset = bridge.out_offset;
    const step = bridge.out_stride / Float32Array.BYTES_PER_ELEMENT;
    const take = (/** @type {number} */ count) => {
      const all = new Float32Array(this.#memory.buffer, offset, count * step);
      for (let at = 0; at < all.length; at += step) vectors.push(all.slice(at, at + this.dim));
    };
    this.#answer(bridge.embed_batch(texts, take));
    return vectors;
  }

  /**
   * The token ids of a text as the model sees them: [CLS] … [SEP], cut to `maxSeqLen`.
   *
   * @param {string} text
   * @returns {Uint32Array} a copy that the caller owns
   * @throws {TernError} INVALID_INPUT, DISPOSED
   */
  tokenize(text) {
    const bridge = this.#live();
    checkText(text, "text");
    const count = this.#answer(bridge.tokenize(text));
    return new Uint32Array(this.#memory.buffer, bridge.ids_offset, count).slice();
  }

  /**
   * How many tokens of a text the model reads, and whether the rest of it was cut off.
   *
   * @param {string} text
   * @returns {{tokens: number, truncated: boolean}}
   * @throws {TernError} INVALID_INPUT, DISPOSED
   */
  tokenCount(text) {
    const bridge = this.#live();
    checkText(text, "text");
    return { tokens: this.#answer(bridge.token_count(text)), truncated: bridge.truncated };
  }

  /**
   * Labels ranked by the cosine of their embeddings to the text's; see classify.js.
   *
   * @param {string} text
   * @param {import("./classify.js").Labels} labels
   * @param {import("./classify.js").ClassifyOptions} [options]
   * @returns {import("./classify.js").LabelScore[]}
   */
  classify(text, labels, options) {
    return classify(this, text, labels, options);
  }

  /**
   * A JSON object as text: engine, version, build, shapes, model size, fingerprint, host.
   *
   * @returns {string}
   * @throws {TernError} DISPOSED
   */
  config_summary() {
    this.#live();
    return this.#summary;
  }

  /** Frees the model and the Python side. Later calls throw DISPOSED; a second dispose is fine. */
  dispose() {
    const bridge = this.#bridge;
    if (bridge === null) return;
    this.#bridge = null;
    bridge.dispose();
    for (const method of [this.#embed, this.#embedWritten]) /** @type {any} */ (method).destroy?.();
    bridge.destroy?.();
    // Nothing may keep the kernel's memory alive: it holds the model.
    this.#memory = /** @type {any} */ (null);
    this.#vector = new Float32Array(0);
    this.#text = new Uint8Array(0);
    this.#embed = this.#embedWritten = /** @type {any} */ (null);
  }

  /**
   * Writes a plain text to where the kernel reads it. Pyodide would take longer to make a Python string
   * of it, for Python to write that.
   *
   * @param {string} text
   * @returns {boolean} false if the text is not plain, or too long
   */
  #write(text) {
    const { length } = text;
    if (length > this.#plainLimit) return false;
    if (this.#text.length === 0) {
      const size = this.#plainLimit + this.#afterText.length;
      this.#text = new Uint8Array(this.#memory.buffer, this.#textOffset, size);
    }
    const [bytes, plain] = [this.#text, this.#plain];
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (plain[code] !== 1) return false;
      bytes[i] = code;
    }
    bytes.set(this.#afterText, length);
    return true;
  }

  /** @returns {Bridge} */
  #live() {
    if (this.#bridge === null) {
      throw new TernError("DISPOSED", "the engine was used after dispose()");
    }
    return this.#bridge;
  }

  /**
   * Passes a bridge's answer on, or throws the error behind a −1.
   *
   * @param {number} answer
   * @returns {number}
   */
  #answer(answer) {
    if (answer < 0) throw bridgeError(this.#live());
    return answer;
  }
}

/**
 * @param {Bridge} bridge one that has just failed
 * @returns {TernError}
 */
export function bridgeError(bridge) {
  return new TernError(/** @type {any} */ (bridge.error_code), bridge.error_message);
}

/** @param {string} text */
function encode(text) {
  return new TextEncoder().encode(text);
}

/**
 * @param {unknown} text
 * @param {string} name
 */
function checkText(text, name) {
  checkInput(typeof text === "string", `${name} must be a string, found ${describe(text)}`);
}
