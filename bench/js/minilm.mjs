/**
 * all-MiniLM-L6-v2 q8 on onnxruntime-web's wasm backend, as transformers.js runs it in a browser:
 * one thread, SIMD. Its token ids are given, as tensors; timed are the forward pass, the mean over
 * the tokens and the normalization.
 */
import * as ort from "onnxruntime-web/wasm";

/**
 * @param {Uint8Array} model  the ONNX file
 * @param {number} warmup
 * @returns {Promise<import("./measure.mjs").Contender>}
 */
export async function minilm(model, warmup) {
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.proxy = false;
  const session = await ort.InferenceSession.create(model, {
    executionProviders: ["wasm"],
    graphOptimizationLevel: "all",
  });
  const dim = 384;
  return {
    name: "minilm-q8-wasm",
    dim,
    warmup,
    prepare({ ids }) {
      const shape = [1, ids.length];
      /** @param {bigint[]} values */
      const tensor = (values) => new ort.Tensor("int64", BigInt64Array.from(values), shape);
      return {
        input_ids: tensor(ids.map(BigInt)),
        attention_mask: tensor(ids.map(() => 1n)),
        token_type_ids: tensor(ids.map(() => 0n)),
      };
    },
    async embed(feeds) {
      const { last_hidden_state: hidden } = await session.run(feeds);
      return meanOfLengthOne(/** @type {Float32Array} */ (hidden.data), dim);
    },
    check() {},
  };
}

/**
 * @param {Float32Array} hidden  [tokens, dim]
 * @param {number} dim
 */
function meanOfLengthOne(hidden, dim) {
  const sum = new Float32Array(dim);
  for (let start = 0; start < hidden.length; start += dim) {
    for (let i = 0; i < dim; i++) sum[i] += hidden[start + i];
  }
  // The mean's divisor cancels out in the normalization.
  let squares = 0;
  for (const value of sum) squares += value * value;
  const scale = 1 / Math.max(Math.sqrt(squares), 1e-12);
  for (let i = 0; i < dim; i++) sum[i] *= scale;
  return sum;
}
