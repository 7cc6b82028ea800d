/** One call a text beside embedBatch, in this thread and through a worker: in Node and in a page. */

const CHUNK = 500;

export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/**
 * Two engines on the same texts, chunk by chunk in turn, so that both meet the same machine.
 *
 * @param {() => Promise<object>} make  an engine of either kind: calls are awaited only where needed
 * @param {{warmup: string[], mixed: string[]}} work
 * @param {() => number} clock  milliseconds
 * @param {() => void} [collect]  collects garbage
 * @returns {Promise<{single: number, batch: number}>} milliseconds a text: the medians
 */
export async function singleBesideBatch(make, { warmup, mixed }, clock, collect = () => {}) {
  const [one, many] = [await make(), await make()];
  for (const engine of [one, many]) await engine.embedBatch(warmup);
  for (const text of warmup) await one.embed(text);
  const spent = { single: [], batch: [] };
  for (let at = 0; at < mixed.length; at += CHUNK) {
    const texts = mixed.slice(at, at + CHUNK);
    collect();
    let start = clock();
    for (const text of texts) {
      const answer = one.embed(text);
      if (answer instanceof Promise) await answer;
    }
    spent.single.push((clock() - start) / texts.length);
    collect();
    start = clock();
    await many.embedBatch(texts);
    spent.batch.push((clock() - start) / texts.length);
  }
  await one.dispose();
  await many.dispose();
  return { single: median(spent.single), batch: median(spent.batch) };
}

/**
 * Both ways in this thread and through a worker, by the clock.
 *
 * @param {(options?: object) => Promise<object>} load  of tern-engine.js
 */
export async function byTheClock(load, work, collect) {
  const clock = () => performance.now();
  return {
    thread: await singleBesideBatch(() => load(), work, clock, collect),
    worker: await singleBesideBatch(() => load({ worker: true }), work, clock, collect),
  };
}
