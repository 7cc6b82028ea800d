/** The routes on a made-up engine: what real ones hardly ever do. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { BUILD, createApp, engine, logOf, postRequest } from "./support/app.mjs";

const embeddings = (input) => postRequest("/v1/embeddings", { model: "model", input });

/** An engine that fails on the text "bad", and counts how often it was started. */
function fragile() {
  const state = { starts: 0 };
  const embed = (text) => {
    if (text === "bad") throw new RangeError("Maximum call stack size exceeded by: bad");
    return Float32Array.of(1, 0, 0, 0);
  };
  const app = createApp({
    build: BUILD,
    startEngine: async () => {
      state.starts += 1;
      return engine({ embed });
    },
  });
  return { app, state };
}

test("an interpreter that fails is a 503, and the next request gets another one", async () => {
  const { app, state } = fragile();
  const lines = await logOf(async () => {
    assert.equal((await app.fetch(embeddings("good"), {})).status, 200);
    const reply = await app.fetch(embeddings("bad"), {});
    assert.equal(reply.status, 503);
    assert.equal(reply.headers.get("retry-after"), "1");
    assert.equal((await reply.json()).error.code, "engine_unavailable");
    assert.equal(state.starts, 1);
    assert.equal((await app.fetch(embeddings("good"), {})).status, 200);
    assert.equal(state.starts, 2);
  });
  const fault = lines.find(({ event }) => event === "fault");
  assert.equal(fault.name, "RangeError");
  assert.ok(fault.places.length > 0);
  assert.doesNotMatch(JSON.stringify(lines), /bad/);
});

test("one that fails in a streamed answer cuts it short, and is replaced, too", async () => {
  const { app, state } = fragile();
  const lines = await logOf(async () => {
    const reply = await app.fetch(embeddings([...Array(99).fill("good"), "bad"]), {});
    assert.equal(reply.status, 200);
    await assert.rejects(reply.text());
    assert.equal((await app.fetch(embeddings("good"), {})).status, 200);
    assert.equal(state.starts, 2);
  });
  assert.ok(lines.some(({ event, name }) => event === "fault" && name === "RangeError"));
  assert.ok(lines.some(({ items, code }) => items === 100 && code === "internal_error"));
});

test("a request that is refused leaves the engine alone", async () => {
  const { app, state } = fragile();
  await logOf(async () => {
    await app.fetch(embeddings("good"), {});
    for (const content of [{}, { text: 1 }, { text: "a", labels: { b: [] } }]) {
      for (const path of ["/v1/embeddings", "/tokenize", "/classify"]) {
        await app.fetch(postRequest(path, content), {});
      }
    }
    assert.equal((await app.fetch(postRequest("/classify", { text: "a", labels: 1 }), {})).status, 400);
    await app.fetch(embeddings("good"), {});
  });
  assert.equal(state.starts, 1);
});

test("a message that quotes the request is of bounded length", async () => {
  const { app } = fragile();
  await logOf(async () => {
    const labels = { ["x".repeat(100_000)]: [] };
    const reply = await app.fetch(postRequest("/classify", { text: "a", labels }), {});
    const { message } = (await reply.json()).error;
    assert.ok(message.length <= 500 && message.includes("xxx"));
  });
});

test("the rate is counted by a key only where keys are checked", async () => {
  const counted = [];
  const RATE_LIMITER = {
    limit: async ({ key }) => {
      counted.push(key);
      return { success: key !== "spent" };
    },
  };
  const { app } = fragile();
  const send = async (env, headers) => {
    const request = postRequest("/tokenize", { text: "a" }, headers);
    return (await app.fetch(request, { RATE_LIMITER, ...env })).status;
  };
  const headers = (key) => ({ authorization: `Bearer  ${key}`, "cf-connecting-ip": "10.0.0.7" });
  await logOf(async () => {
    assert.equal(await send({}, headers("made up")), 200);
    assert.equal(await send({}, headers("another")), 200);
    assert.equal(await send({ API_KEY: "real" }, headers("real")), 200);
    assert.equal(await send({ API_KEY: "real" }, headers("made-up")), 401);
    assert.equal(await send({ API_KEY: "spent" }, headers("spent")), 429);
  });
  assert.deepEqual(counted, ["10.0.0.7", "10.0.0.7", "real", "spent"]);
});

test("Retry-After follows the limiter's period", async () => {
  const { app } = fragile();
  const RATE_LIMITER = { limit: async () => ({ success: false }) };
  await logOf(async () => {
    for (const [env, seconds] of [[{}, "60"], [{ RATE_LIMIT_PERIOD: "10" }, "10"]]) {
      const reply = await app.fetch(postRequest("/tokenize", { text: "a" }), { RATE_LIMITER, ...env });
      assert.deepEqual([reply.status, reply.headers.get("retry-after")], [429, seconds]);
    }
  });
});
