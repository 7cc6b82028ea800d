/** Small parts of the endpoint, each by itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkKey } from "../../../worker/auth.js";
import { readJson } from "../../../worker/body.js";
import { cacheKey } from "../../../worker/cache.js";
import { asHttpError, errorResponse } from "../../../worker/errors.js";
import { base64, shortened } from "../../../worker/openai.js";
import { readSettings } from "../../../worker/settings.js";
import { TernError } from "../../../web/errors.js";

const request = (body, headers = {}) =>
  new Request("http://x/", {
    method: "POST",
    body,
    duplex: "half",
    headers: { "content-type": "application/json", ...headers },
  });

test("settings: defaults, lists, and limits that make no sense", () => {
  const warnings = [];
  console.warn = (line) => warnings.push(JSON.parse(line));
  const plain = readSettings({}, "model");
  assert.deepEqual(plain, {
    apiKeys: null,
    corsOrigins: ["*"],
    maxBodyBytes: 2 * 1024 * 1024,
    maxInputs: 2048,
    maxTokens: 131_072,
    modelNames: ["model"],
    cache: false,
  });
  assert.deepEqual(warnings, []);
  const odd = readSettings(
    { MAX_INPUTS: "many", MAX_TOKENS: "-1", MAX_BODY_BYTES: "1e3", API_KEY: " a ,,b", CORS_ORIGINS: "" },
    "model",
  );
  assert.deepEqual([odd.maxInputs, odd.maxTokens, odd.maxBodyBytes], [2048, 131_072, 1000]);
  assert.deepEqual([odd.apiKeys, odd.corsOrigins], [["a", "b"], []]);
  assert.deepEqual(warnings.map(({ name }) => name), ["MAX_INPUTS", "MAX_TOKENS"]);
});

test("an allowed origin may end in a slash", () => {
  const { corsOrigins } = readSettings({ CORS_ORIGINS: "https://a.example/, http://b:8000" }, "model");
  assert.deepEqual(corsOrigins, ["https://a.example", "http://b:8000"]);
});

test("a blank key is no key at all, and told of once", (context) => {
  const logged = [];
  context.mock.method(console, "error", (line) => logged.push(JSON.parse(line)));
  for (const API_KEY of ["", " ", " , "]) {
    const env = { API_KEY };
    assert.deepEqual(readSettings(env, "model").apiKeys, []);
    assert.deepEqual(readSettings(env, "model").apiKeys, []);
    assert.deepEqual(logged.splice(0), [{ event: "setting_blank", name: "API_KEY" }]);
  }
});

test("keys are compared whole", async () => {
  const bearing = (key) => new Request("http://x/", { headers: { authorization: `Bearer ${key}` } });
  await checkKey(new Request("http://x/"), null);
  for (const request of [new Request("http://x/"), bearing("abc"), bearing("")]) {
    await assert.rejects(checkKey(request, []), { code: "invalid_api_key", status: 401 });
  }
  await checkKey(bearing("abc"), ["x", "abc"]);
  for (const wrong of ["ab", "abcd", "ABC", "abd"]) {
    await assert.rejects(checkKey(bearing(wrong), ["x", "abc"]), { code: "invalid_api_key" });
  }
});

test("the time that a comparison takes tells nothing of the keys", async (context) => {
  const digested = [];
  const { digest } = crypto.subtle;
  context.mock.method(crypto.subtle, "digest", (name, bytes) => {
    digested.push(new TextDecoder().decode(bytes));
    return digest.call(crypto.subtle, name, bytes);
  });
  const bearing = (key) => new Request("http://x/", { headers: { authorization: `Bearer ${key}` } });
  const keys = ["first", "second", "third"];
  for (const given of ["first", "third", "f", "firsx", "x".repeat(1000)]) {
    digested.length = 0;
    await checkKey(bearing(given), keys).catch(() => {});
    // Every key, whichever matches, and by hashes: bytes in common say nothing.
    assert.deepEqual(digested.toSorted(), [given, given, given, ...keys].toSorted());
  }
});

test("what is kept is told apart by path, body, model and settings", async () => {
  const build = { name: "m", version: "1", fingerprint: "f", dim: 4, created: 0 };
  const settings = readSettings({}, "m");
  const body = new TextEncoder().encode("{}");
  const plain = ["/embed", body, build, settings];
  const url = async (parts) => (await cacheKey(...parts)).url;
  const others = [
    ["/tokenize", body, build, settings],
    ["/embed", new TextEncoder().encode("{ }"), build, settings],
    ["/embed", body, { ...build, fingerprint: "g" }, settings],
    ["/embed", body, { ...build, version: "2" }, settings],
    ["/embed", body, build, readSettings({ MAX_TOKENS: "5" }, "m")],
    ["/embed", body, build, readSettings({ MODEL_ALIASES: "n" }, "m")],
  ];
  const urls = await Promise.all([plain, ...others].map(url));
  assert.equal(new Set(urls).size, urls.length);
  assert.equal(await url(plain), urls[0]);
});

test("a body that stalls, and one that takes for ever", async () => {
  const stream = (pull) => new ReadableStream({ pull });
  const stalled = request(stream(() => new Promise(() => {})));
  await assert.rejects(readJson(stalled, 1000, { stallMs: 20 }), { code: "body_timeout" });
  const dripping = request(
    stream(async (controller) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      controller.enqueue(new Uint8Array([0x20]));
    }),
  );
  await assert.rejects(readJson(dripping, 1000, { longestMs: 60 }), { code: "body_timeout" });
});

test("a body that breaks off is the client's leaving, or its fault", async () => {
  const broken = (error) =>
    new ReadableStream({
      pull(controller) {
        controller.error(error);
      },
    });
  const garbled = request(broken(new Error("internal error")));
  await assert.rejects(readJson(garbled, 1000), { code: "body_broken", status: 400 });
  const left = request(broken(Object.assign(new Error("lost"), { retryable: true })));
  await assert.rejects(readJson(left, 1000), { code: "client_closed_request" });
});

test("brackets in strings are not depth", async () => {
  const text = '["[[['.repeat(100) + '\\"'.repeat(3);
  const { json, release } = await readJson(request(JSON.stringify({ text })), 10_000);
  assert.equal(json.text, text);
  release();
  const deep = `{"text":${"[".repeat(31)}${"]".repeat(31)}}`;
  (await readJson(request(deep), 10_000)).release();
  const deeper = `{"text":${"[".repeat(32)}${"]".repeat(32)}}`;
  await assert.rejects(readJson(request(deeper), 10_000), { code: "invalid_json" });
});

test("what is held is given back, whatever happens", async () => {
  const large = JSON.stringify({ text: "a".repeat(9_000_000) });
  const first = await readJson(request(large), 10_000_000);
  await assert.rejects(readJson(request(large), 10_000_000), { code: "overloaded" });
  first.release();
  first.release();
  (await readJson(request(large), 10_000_000)).release();
  await assert.rejects(readJson(request(large.slice(1)), 10_000_000), { code: "invalid_json" });
  (await readJson(request(large), 10_000_000)).release();
});

test("errors keep the engine's codes, and tell nothing of what is ours", async () => {
  const shape = async (error) => {
    const response = errorResponse(asHttpError(error));
    return [response.status, (await response.json()).error.code];
  };
  assert.deepEqual(await shape(new TernError("DIMENSION", "a")), [400, "DIMENSION"]);
  assert.deepEqual(await shape(new TernError("DISPOSED", "a")), [500, "internal_error"]);
  assert.deepEqual(await shape(new Error("secret")), [500, "internal_error"]);
  assert.doesNotMatch(asHttpError(new Error("secret")).message, /secret/);
});

test("shortened vectors have length one, and base64 is little-endian", () => {
  const vector = Float32Array.of(0.6, 0, 0.8);
  assert.equal(shortened(vector, 3), vector);
  assert.deepEqual([...shortened(vector, 2)], [1, 0]);
  assert.deepEqual([...shortened(Float32Array.of(0, 1), 1)], [0]);
  assert.equal(base64(Float32Array.of(1)), "AACAPw==");
  assert.equal(base64(Float32Array.of(9, 1).subarray(1)), "AACAPw==");
});
