/** Cosine similarity of two vectors, in plain JS. */
import { TernError, checkInput, describe } from "./errors.js";

/**
 * The cosine of the angle between two vectors, in −1…1; 0 where either of them is zero.
 *
 * @param {ArrayLike<number>} a a typed array of floats or integers, or an Array of numbers
 * @param {ArrayLike<number>} b of the same length
 * @returns {number}
 * @throws {TernError} INVALID_INPUT for anything but vectors of finite numbers, DIMENSION when the
 *   lengths differ
 */
export function similarity(a, b) {
  checkVector(a, "first");
  checkVector(b, "second");
  if (a.length !== b.length) {
    throw new TernError(
      "DIMENSION",
      `the first vector has ${a.length} elements, the second ${b.length}; they must be equal`,
    );
  }
  // Dividing by the largest element first keeps the squares of any finite numbers in range.
  const scaleA = largest(a);
  const scaleB = largest(b);
  checkInput(
    Number.isFinite(scaleA) && Number.isFinite(scaleB),
    "a vector holds an element that is not a finite number",
  );
  if (scaleA === 0 || scaleB === 0) return 0;
  let dot = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i] / scaleA;
    const y = b[i] / scaleB;
    dot += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  return Math.max(-1, Math.min(1, dot / Math.sqrt(squaresA * squaresB)));
}

/**
 * @param {unknown} value
 * @param {string} which
 */
function checkVector(value, which) {
  const isVector =
    Array.isArray(value) ||
    (ArrayBuffer.isView(value) &&
      !(value instanceof DataView) &&
      !(value instanceof BigInt64Array) &&
      !(value instanceof BigUint64Array));
  checkInput(isVector, `the ${which} argument must be a vector of numbers, found ${describe(value)}`);
}

/**
 * The largest magnitude in a vector; NaN if an element is no number.
 *
 * @param {ArrayLike<number>} vector
 * @returns {number}
 */
function largest(vector) {
  let max = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i];
    if (typeof value !== "number" || Number.isNaN(value)) return NaN;
    if (value > max) max = value;
    else if (-value > max) max = -value;
  }
  return max;
}
