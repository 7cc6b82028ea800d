/**
 * The vectors of an index and their dot products with a query's: docs/index-format.md, sections 7
 * and 8. Rows lie in blocks of fixed size, so that a growing index copies nothing and a search can
 * pause between blocks.
 */

/** Rows of a block: some 1.5 MB of float32, about a millisecond's work. */
export const BLOCK_ROWS = 1024;

/** @typedef {"float32" | "int8"} VectorKind */

/**
 * @typedef {object} VectorTable
 * @property {VectorKind} kind
 * @property {number} count rows in it; rows are only ever added
 * @property {(vector: Float32Array) => void} add appends a row
 * @property {(from: VectorTable, row: number) => void} copy appends a row of another table of its kind
 * @property {(query: Float32Array) => Scorer} scorer
 *
 * @callback Scorer
 * @param {number} block
 * @param {number} rows how many of the block's rows to score, from its first
 * @param {Float64Array} out gets one score a row
 * @returns {void}
 */

/**
 * @param {VectorKind} kind
 * @param {number} dim
 * @returns {Float32Table | Int8Table}
 */
export function createTable(kind, dim) {
  return kind === "int8" ? new Int8Table(dim) : new Float32Table(dim);
}

export class Float32Table {
  /** @readonly @type {"float32"} */
  kind = "float32";
  count = 0;
  /** @type {Float32Array[]} */
  #blocks = [];
  #dim;
  #stride;

  /** @param {number} dim */
  constructor(dim) {
    this.#dim = dim;
    this.#stride = even(dim);
  }

  /** @param {Float32Array} vector dim elements */
  add(vector) {
    const at = this.count % BLOCK_ROWS;
    if (at === 0) this.#blocks.push(new Float32Array(BLOCK_ROWS * this.#stride));
    this.#blocks[this.#blocks.length - 1].set(vector, at * this.#stride);
    this.count++;
  }

  /**
   * @param {number} row
   * @returns {Float32Array} a view
   */
  row(row) {
    const start = (row % BLOCK_ROWS) * this.#stride;
    return this.#blocks[Math.floor(row / BLOCK_ROWS)].subarray(start, start + this.#dim);
  }

  /**
   * @param {Float32Table} from
   * @param {number} row
   */
  copy(from, row) {
    this.add(from.row(row));
  }

  /**
   * @param {Float32Array} query dim elements
   * @returns {Scorer}
   */
  scorer(query) {
    const stride = this.#stride;
    const padded = new Float64Array(stride);
    padded.set(query);
    return (block, rows, out) => dotsFloat32(this.#blocks[block], rows, stride, padded, out);
  }
}

export class Int8Table {
  /** @readonly @type {"int8"} */
  kind = "int8";
  count = 0;
  /** @type {{codes: Int8Array, scales: Float32Array}[]} */
  #blocks = [];
  #dim;
  #stride;

  /** @param {number} dim */
  constructor(dim) {
    this.#dim = dim;
    this.#stride = even(dim);
  }

  /** @param {Float32Array} vector dim elements */
  add(vector) {
    const { codes, scale } = quantize(vector);
    this.addCodes(codes, scale);
  }

  /**
   * @param {Int8Array} codes dim elements
   * @param {number} scale
   */
  addCodes(codes, scale) {
    const at = this.count % BLOCK_ROWS;
    if (at === 0) {
      const size = BLOCK_ROWS * this.#stride;
      this.#blocks.push({ codes: new Int8Array(size), scales: new Float32Array(BLOCK_ROWS) });
    }
    const block = this.#blocks[this.#blocks.length - 1];
    block.codes.set(codes, at * this.#stride);
    block.scales[at] = scale;
    this.count++;
  }

  /**
   * @param {number} row
   * @returns {Int8Array} a view
   */
  row(row) {
    const start = (row % BLOCK_ROWS) * this.#stride;
    return this.#blocks[Math.floor(row / BLOCK_ROWS)].codes.subarray(start, start + this.#dim);
  }

  /** @param {number} row */
  scale(row) {
    return this.#blocks[Math.floor(row / BLOCK_ROWS)].scales[row % BLOCK_ROWS];
  }

  /**
   * @param {Int8Table} from
   * @param {number} row
   */
  copy(from, row) {
    this.addCodes(from.row(row), from.scale(row));
  }

  /**
   * @param {Float32Array} query dim elements
   * @returns {Scorer}
   */
  scorer(query) {
    const stride = this.#stride;
    const { codes, scale } = quantize(query);
    const padded = new Int32Array(stride);
    padded.set(codes);
    return (block, rows, out) => {
      const { codes, scales } = this.#blocks[block];
      dotsInt8(codes, rows, stride, padded, out);
      for (let r = 0; r < rows; r++) out[r] = out[r] * scales[r] * scale;
    };
  }
}

/**
 * @param {Float32Array} vector
 * @returns {{codes: Int8Array, scale: number}}
 */
export function quantize(vector) {
  let largest = 0;
  for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i]));
  const scale = Math.fround(largest / 127);
  const codes = new Int8Array(vector.length);
  if (scale === 0) return { codes, scale };
  for (let i = 0; i < vector.length; i++) {
    codes[i] = Math.max(-127, Math.min(127, roundHalfEven(vector[i] / scale)));
  }
  return { codes, scale };
}

// Adding and taking away 1.5 · 2^52 leaves no bits for a fraction: binary64's own rounding, which
// is half to even.
const ROUNDER = 1.5 * 2 ** 52;
/** @param {number} x of magnitude below 2^51 */
const roundHalfEven = (x) => x + ROUNDER - ROUNDER;

/**
 * The length of a vector, in binary64; NaN or Infinity where an element is.
 *
 * @param {ArrayLike<number>} vector
 */
export function vectorLength(vector) {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) squares += vector[i] * vector[i];
  return Math.sqrt(squares);
}

/** @param {number} dim */
const even = (dim) => dim + (dim % 2);

// Four rows at once share the loads of the query; two sums a row keep additions from waiting for
// each other. Rows and query are padded to an even length by zeros, which change no sum.

/**
 * @param {Float32Array} block rows × stride
 * @param {number} rows
 * @param {number} stride even
 * @param {Float64Array} query stride elements
 * @param {Float64Array} out
 */
function dotsFloat32(block, rows, stride, query, out) {
  let row = 0;
  for (; row + 4 <= rows; row += 4) {
    const a = row * stride;
    const b = a + stride;
    const c = b + stride;
    const d = c + stride;
    let a0 = 0, a1 = 0, b0 = 0, b1 = 0, c0 = 0, c1 = 0, d0 = 0, d1 = 0; // prettier-ignore
    for (let i = 0; i < stride; i += 2) {
      const q0 = query[i];
      const q1 = query[i + 1];
      a0 += q0 * block[a + i];
      a1 += q1 * block[a + i + 1];
      b0 += q0 * block[b + i];
      b1 += q1 * block[b + i + 1];
      c0 += q0 * block[c + i];
      c1 += q1 * block[c + i + 1];
      d0 += q0 * block[d + i];
      d1 += q1 * block[d + i + 1];
    }
    out[row] = a0 + a1;
    out[row + 1] = b0 + b1;
    out[row + 2] = c0 + c1;
    out[row + 3] = d0 + d1;
  }
  for (; row < rows; row++) {
    const a = row * stride;
    let a0 = 0;
    let a1 = 0;
    for (let i = 0; i < stride; i += 2) {
      a0 += query[i] * block[a + i];
      a1 += query[i + 1] * block[a + i + 1];
    }
    out[row] = a0 + a1;
  }
}

/**
 * @param {Int8Array} block rows × stride
 * @param {number} rows
 * @param {number} stride even
 * @param {Int32Array} query stride elements
 * @param {Float64Array} out
 */
function dotsInt8(block, rows, stride, query, out) {
  let row = 0;
  for (; row + 2 <= rows; row += 2) {
    const a = row * stride;
    const b = a + stride;
    let a0 = 0, a1 = 0, b0 = 0, b1 = 0; // prettier-ignore
    for (let i = 0; i < stride; i += 2) {
      const q0 = query[i];
      const q1 = query[i + 1];
      a0 = (a0 + Math.imul(q0, block[a + i])) | 0;
      a1 = (a1 + Math.imul(q1, block[a + i + 1])) | 0;
      b0 = (b0 + Math.imul(q0, block[b + i])) | 0;
      b1 = (b1 + Math.imul(q1, block[b + i + 1])) | 0;
    }
    out[row] = a0 + a1;
    out[row + 1] = b0 + b1;
  }
  for (; row < rows; row++) {
    const a = row * stride;
    let sum = 0;
    for (let i = 0; i < stride; i++) sum = (sum + Math.imul(query[i], block[a + i])) | 0;
    out[row] = sum;
  }
}
