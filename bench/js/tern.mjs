/**
 * This engine, from the built site: a text in, a vector out, tokenizer and Python boundary included.
 *
 * @param {string} moduleUrl  URL of tern-engine.js
 * @param {number} warmup
 * @param {Uint8Array} [model]  another model than the build's own
 * @returns {Promise<import("./measure.mjs").Contender>}
 */
export async function tern(moduleUrl, warmup, model) {
  const { load } = await import(moduleUrl);
  const engine = await load({ model });
  return {
    name: "tern",
    dim: JSON.parse(engine.config_summary()).d_model,
    warmup,
    prepare: (item) => item.text,
    embed: (text) => engine.embed(text),
    check({ text, ids }) {
      if (String(engine.tokenize(text)) !== String(ids)) {
        throw new Error(`tern reads other tokens than planned in: ${text}`);
      }
    },
  };
}
