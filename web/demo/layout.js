/** Vectors on a plane, near ones near each other: the same in a worker and when the site is built. */

const SEED = 7;
// Fewer points than this have no neighbourhoods to speak of.
const FEWEST = 8;
const NEIGHBORS = 15;
const MARGIN = 0.02;

/**
 * @param {any} UMAP of umap-js
 * @param {Float32Array[]} rows unit vectors
 * @param {(done: number) => void} [onProgress] 0…1
 * @returns {Promise<Float32Array>} x and y of each, 0…1
 */
export async function layOut(UMAP, rows, onProgress) {
  if (rows.length < FEWEST) return onCircle(rows.length);
  const umap = new UMAP({
    nComponents: 2,
    nNeighbors: Math.min(NEIGHBORS, rows.length - 1),
    minDist: 0.08,
    distanceFn: distance,
    random: randomNumbers(SEED),
  });
  const epochs = umap.initializeFit(rows);
  for (let epoch = 1; epoch <= epochs; epoch++) {
    umap.step();
    if (epoch % 10 === 0) onProgress?.(epoch / epochs);
  }
  return intoUnitSquare(umap.getEmbedding());
}

/**
 * Of unit vectors; umap-js wants one that is 0 for equal ones.
 *
 * @param {Float32Array} a
 * @param {Float32Array} b
 */
function distance(a, b) {
  let dot = 0;
  for (let i = 0; i < a.length; i++) dot += a[i] * b[i];
  return Math.max(0, 1 - dot);
}

/** @param {number} seed */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
}

/** @param {number} count */
function onCircle(count) {
  const points = new Float32Array(2 * count);
  for (let i = 0; i < count; i++) {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2;
    points[2 * i] = 0.5 + 0.3 * Math.cos(angle);
    points[2 * i + 1] = 0.5 + 0.3 * Math.sin(angle);
  }
  return points;
}

/**
 * Each axis for itself. The few points farthest out would leave the others little room: the scale is
 * that of all but one in a hundred, and those are held at the edge.
 *
 * @param {number[][]} embedding
 */
function intoUnitSquare(embedding) {
  const points = new Float32Array(2 * embedding.length);
  for (const axis of [0, 1]) {
    const sorted = Float64Array.from(embedding, (point) => point[axis]).sort();
    const low = sorted[Math.floor(0.005 * (sorted.length - 1))];
    const high = sorted[Math.ceil(0.995 * (sorted.length - 1))];
    embedding.forEach((point, i) => {
      const place = high > low ? (point[axis] - low) / (high - low) : 0.5;
      points[2 * i + axis] = MARGIN + (1 - 2 * MARGIN) * Math.min(1, Math.max(0, place));
    });
  }
  return points;
}
