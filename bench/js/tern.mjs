/**
 * This engine, from the built site: a text in, a vector out, tokenizer and Python boundary included.
 *
 * @param {string} moduleUrl  URL of tern-engine.js
 * @param {number} warmup
 * @returns {Promise<import("./measure.mjs").Contender>}
 */
export async function tern(moduleUrl, warmup) {
  const { load } = await import(moduleUrl);
  const engine = await load();
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
