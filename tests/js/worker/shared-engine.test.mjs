/** One engine for all requests: when it is started, shared, waited for, and started again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedEngine } from "../../../worker/shared-engine.js";

console.log = console.error = () => {}; // its log lines

function deferred() {
  let resolve, reject;
  const promise = new Promise((yes, no) => ((resolve = yes), (reject = no)));
  return { promise, resolve, reject };
}
const ignore = () => {};
const unavailable = { code: "engine_unavailable", status: 503 };

test("concurrent requests share a start, and it is kept alive once", async () => {
  const start = deferred();
  let starts = 0;
  const kept = [];
  const shared = new SharedEngine(() => (starts++, start.promise));
  assert.equal(shared.state, "cold");
  const waiting = [1, 2, 3].map(() => shared.get({}, (work) => kept.push(work)));
  assert.equal(shared.state, "starting");
  start.resolve("engine");
  assert.deepEqual(await Promise.all(waiting), ["engine", "engine", "engine"]);
  assert.equal(shared.state, "ready");
  assert.equal(await shared.get({}, ignore), "engine");
  assert.equal(starts, 1);
  assert.equal(kept.length, 1);
  await kept[0];
});

test("a failed start reaches all who wait for it, and the next request tries again", async () => {
  let starts = 0;
  const shared = new SharedEngine(async () => {
    starts += 1;
    if (starts === 1) throw Object.assign(new Error("no"), { code: "LOAD_HTTP" });
    return "engine";
  });
  const waiting = [shared.get({}, ignore), shared.get({}, ignore)];
  for (const each of waiting) {
    await assert.rejects(each, { ...unavailable, message: "The engine did not start. LOAD_HTTP" });
  }
  assert.equal(shared.state, "cold");
  assert.equal(await shared.get({}, ignore), "engine");
  assert.equal(starts, 2);
});

test("a start that never ends is given up, and what comes of it later is not taken", async () => {
  const stuck = deferred();
  const starts = [stuck.promise, Promise.resolve("second")];
  const shared = new SharedEngine(() => starts.shift(), 20);
  await assert.rejects(shared.get({}, ignore), unavailable);
  assert.equal(await shared.get({}, ignore), "second");
  stuck.resolve("first");
  await stuck.promise;
  assert.equal(await shared.get({}, ignore), "second");
});

test("an engine that was given up is replaced", async () => {
  let starts = 0;
  const shared = new SharedEngine(async () => ++starts);
  assert.equal(await shared.get({}, ignore), 1);
  shared.reset();
  assert.equal(shared.state, "cold");
  assert.equal(await shared.get({}, ignore), 2);
});
