/** Two made engines in the measuring loop, on a made clock: who ran which text, and the samples. */

import { measure } from "../../bench/js/measure.mjs";

const log = [];
let now = 0;

const contender = (name, cost, wrap) => ({
  name,
  dim: 2,
  warmup: 1,
  prepare: (item) => {
    now += 1000;
    return item.text;
  },
  embed: (text) => {
    log.push(name + text);
    now += cost;
    return wrap([1, 0]);
  },
  check() {},
});

const items = (...texts) => texts.map((text) => ({ text, ids: [] }));
const round = (...texts) => [{ tokens: 8, items: items(...texts) }];
const samples = await measure(
  [
    contender("a", 2, (vector) => vector),
    contender("b", 10, (vector) => Promise.resolve(vector)),
  ],
  { warmup: items("w", "x"), rounds: [round("1", "2", "3"), round("4", "5")] },
  () => now,
  () => {
    now += 500;
  },
);
console.log(JSON.stringify({ log: log.join(" "), samples }));
