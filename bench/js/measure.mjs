/**
 * The measuring loop, the same on every host that runs JavaScript.
 *
 * @typedef {{text: string, ids: number[]}} Item
 * @typedef {{warmup: Item[], rounds: {tokens: number, items: Item[]}[][]}} Plan
 * @typedef {object} Contender
 * @property {string} name  "tern", "minilm-q8-wasm", …
 * @property {number} dim  width of the model
 * @property {number} warmup  texts of the plan's warm-up to run: enough for compilers and caches
 * @property {(item: Item) => unknown} prepare  makes the input of `embed`, outside the timed part
 * @property {(input: any) => Float32Array | Promise<Float32Array>} embed  the timed part
 * @property {(item: Item) => void} check  throws when the engine reads other tokens than planned
 * @typedef {{engine: string, dim: number, tokens: number, ms: number}} Sample
 */

const REWARM_MS = 40;

/**
 * One sample an engine, token count and round: the mean time of a text in that round. The engines
 * take turns within a round, on the same texts, so that a slow spell of the machine meets them all.
 * A turn begins with REWARM_MS of texts of the warm-up that are not timed: they bring the engine back
 * into the processor's caches, which the other engine and the garbage collector have just filled with
 * their own. A turn of the faster engine takes some 12 ms, so that without them its cold start would be
 * a good part of what is measured.
 *
 * @param {Contender[]} contenders
 * @param {Plan} plan
 * @param {() => number} clock  milliseconds
 * @param {() => void} settle  collects garbage, before each turn, so that none pays for others
 * @returns {Promise<Sample[]>}
 */
export async function measure(contenders, plan, clock, settle) {
  let next = 0;
  /** @param {Contender} contender */
  const rewarm = async ({ prepare, embed }) => {
    const end = performance.now() + REWARM_MS;
    do await embed(prepare(plan.warmup[next++ % plan.warmup.length]));
    while (performance.now() < end);
  };
  for (const contender of contenders) {
    for (const item of plan.warmup.slice(0, contender.warmup)) {
      await contender.embed(contender.prepare(item));
    }
  }
  /** @type {Sample[]} */
  const samples = [];
  for (const round of plan.rounds) {
    for (const { tokens, items } of round) {
      for (const contender of contenders) {
        const { name: engine, dim, embed } = contender;
        const timed = items.map(contender.prepare);
        settle();
        await rewarm(contender);
        const start = clock();
        for (const input of timed) {
          const result = embed(input);
          if (result instanceof Promise) await result;
        }
        samples.push({ engine, dim, tokens, ms: (clock() - start) / timed.length });
      }
    }
  }
  return samples;
}

/**
 * The vectors of the first text of each token count, for the judge; and every text's tokens are
 * compared with the plan. Run after the measurement: it fills the caches.
 *
 * @param {Contender[]} contenders
 * @param {Plan} plan
 * @returns {Promise<{engine: string, dim: number, tokens: number, vector: number[]}[]>}
 */
export async function proofs(contenders, plan) {
  const found = [];
  for (const { name: engine, dim, prepare, embed, check } of contenders) {
    for (const { items } of plan.rounds.flat()) items.forEach(check);
    for (const { tokens, items } of plan.rounds[0]) {
      const vector = await embed(prepare(items[0]));
      found.push({ engine, dim, tokens, vector: Array.from(vector) });
    }
  }
  return found;
}
