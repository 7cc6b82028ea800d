/**
 * The forward pass in obvious SIMD (obvious/forward.c): token ids in, a vector out. No tokenizer, so
 * that what is timed is the bare forward pass.
 */

// Tokens of the text that the products alone are timed at.
const TOKENS = 12;

/**
 * @param {BufferSource} wasm  obvious/*.c, compiled
 * @param {Uint8Array} model  a .bin with an int4 table
 * @param {number} warmup
 * @returns {Promise<import("./measure.mjs").Contender & {
 *   gmacs: (clock: () => number, ms: number) => number,
 *   peak: (clock: () => number, ms: number) => number,
 * }>}
 */
export async function obvious(wasm, model, warmup) {
  const { instance } = await WebAssembly.instantiate(wasm);
  const { memory, reserve, load, forward, products, peak, peak_adds } = /** @type {any} */ (
    instance.exports
  );
  const start = reserve(model.length);
  new Uint8Array(memory.buffer).set(model, start);
  if (load(start) !== 1) throw new Error("obvious-simd cannot read the model");
  const head = new DataView(model.buffer, model.byteOffset);
  const dim = head.getUint16(12, true);
  const layers = head.getUint8(14);
  const ffn = head.getUint16(16, true);
  const output = head.getUint16(18, true);
  const input = reserve(4 * head.getUint16(20, true));
  const macs = TOKENS * layers * (4 * dim * dim + 2 * dim * ffn);
  return {
    name: "obvious-simd",
    dim,
    warmup,
    prepare: ({ ids }) => Uint32Array.from(ids),
    embed(ids) {
      new Uint32Array(memory.buffer, input, ids.length).set(ids);
      const vector = forward(input, ids.length);
      if (vector === 0) throw new Error("obvious-simd refused the ids");
      return new Float32Array(memory.buffer, vector, output).slice();
    },
    check() {},
    gmacs: (clock, ms) => rate(clock, ms, macs, () => products(TOKENS)),
    peak: (clock, ms) => rate(clock, ms, 100_000 * peak_adds(), () => peak(100_000)),
  };
}

/**
 * Billions of operations a second, the best of 15 stretches of `ms` each.
 *
 * @param {() => number} clock  milliseconds
 * @param {number} ms
 * @param {number} operations  of one call of `run`
 * @param {() => unknown} run
 */
export function rate(clock, ms, operations, run) {
  let best = 0;
  // The compiler replaces its first, quick code in the background: the best comes when that is done.
  for (let stretch = 0; stretch < 15; stretch++) {
    const start = clock();
    let calls = 0;
    let spent = 0;
    for (; spent < ms; spent = clock() - start, calls++) run();
    best = Math.max(best, (calls * operations) / spent / 1e6);
  }
  return best;
}
