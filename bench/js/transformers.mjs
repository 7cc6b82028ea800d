/**
 * all-MiniLM-L6-v2 q8 through transformers.js in a page: a text in, a vector out, on one thread. Its
 * tokenizer is part of it.
 */

/**
 * @param {string} base  URL of the folder of its files, ending in "/"
 * @param {{lean: boolean}} how  lean: with onnxruntime's smaller binary without GPU, which is faster
 *   here, instead of the one that transformers.js asks for
 * @returns {Promise<(text: string) => Promise<Float32Array>>}
 */
export async function transformers(base, { lean }) {
  const { env, pipeline } = await import(`${base}transformers.min.js`);
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  // A path: of a whole URL it finds the model, but not the tokenizer.
  env.localModelPath = new URL("models/", base).pathname;
  const binary = `${base}ort-wasm-simd-threaded${lean ? "" : ".asyncify"}`;
  env.backends.onnx.wasm.wasmPaths = { mjs: `${binary}.mjs`, wasm: `${binary}.wasm` };
  env.backends.onnx.wasm.numThreads = 1;
  const options = { dtype: "q8", device: "wasm" };
  const extract = await pipeline("feature-extraction", "all-MiniLM-L6-v2", options);
  return async (text) => {
    const output = await extract(text, { pooling: "mean", normalize: true });
    return Float32Array.from(output.data);
  };
}
