/** Every way a file can arrive wrong, over real sockets: the right code, and the next try works. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { fetchFile } from "../../web/fetch-file.js";
import { Received } from "../../web/received.js";
import { sha256 } from "./support/fakes.mjs";
import { answer, hangUp, serve, stall } from "./support/server.mjs";

const BODY = Buffer.alloc(200_000, "tern");
const varied = Buffer.from(Array.from(BODY, (_, i) => (i * i) >> 7));
const HTML = Buffer.from("\n<!DOCTYPE html><title>Sign in</title>".padEnd(BODY.length));
let server;
let handlers;

before(async () => {
  handlers = {
    "/good": answer(BODY),
    "/varied": answer(varied),
    "/gzipped": (_request, response) =>
      response
        .writeHead(200, { "content-encoding": "gzip", "content-type": "application/wasm" })
        .end(gzipSync(BODY)),
    "/html": answer(HTML, "text/html; charset=utf-8"),
    "/html-untyped": answer(HTML),
    "/short": answer(BODY.subarray(0, 999)),
    "/long": answer(Buffer.concat([BODY, BODY])),
    "/changed": answer(Buffer.alloc(BODY.length, "nret")),
    "/hang-up": hangUp(BODY.subarray(0, 5000), BODY.length),
    "/stall": stall(BODY.subarray(0, 5000), BODY.length),
    "/silent": () => {},
    "/error": (_request, response) => response.writeHead(503).end("busy"),
  };
  server = await serve(handlers);
});
after(() => server.close());

const file = (path) => ({
  name: "model",
  url: server.url + path,
  bytes: BODY.length,
  sha256: sha256(BODY),
});

/** @returns {Promise<any>} the error of a fetch that must fail */
async function failure(path, options = {}, spec = file(path)) {
  const error = await fetchFile(spec, options).then(() => assert.fail("no error"), (e) => e);
  assert.match(error.message, /^tern-engine: model \(.*\) /);
  return error;
}

test("a good file arrives whole, with byte counts on the way", async () => {
  const counts = [];
  const body = await fetchFile(file("good"), { onBytes: (loaded, total) => counts.push([loaded, total]) });
  assert.deepEqual(Buffer.from(body), BODY);
  assert.deepEqual(counts.at(-1), [BODY.length, BODY.length]);
  assert.ok(counts.every(([loaded], i) => i === 0 || loaded >= counts[i - 1][0]));
});

test("a compressed answer is counted and checked as it unpacks", async () => {
  const counts = [];
  const body = await fetchFile(file("gzipped"), { onBytes: (loaded, total) => counts.push([loaded, total]) });
  assert.deepEqual(Buffer.from(body), BODY);
  assert.deepEqual(counts.at(-1), [BODY.length, BODY.length]);
});

/** Slices of 64 KiB: three whole ones and a rest. */
function slicesOf(body, bytes = 1 << 16) {
  const starts = Array.from({ length: Math.ceil(body.length / bytes) }, (_, i) => i * bytes);
  return { bytes, sha256: starts.map((start) => sha256(body.subarray(start, start + bytes))) };
}

test("a file of matching slices is the file, and its own hash is not taken", async () => {
  const spec = { ...file("varied"), sha256: "0".repeat(64) };
  for (const bytes of [1 << 16, 50_000, 300_000]) {
    const body = await fetchFile({ ...spec, slices: slicesOf(varied, bytes) });
    assert.ok(varied.equals(body));
  }
});

test("where a slice does not match, the file's own hash decides", async () => {
  const slices = slicesOf(varied);
  for (const wrong of [
    { ...slices, sha256: slices.sha256.with(2, "0".repeat(64)) },
    { ...slices, sha256: slices.sha256.slice(1) },
    { ...slices, bytes: 70_000 },
  ]) {
    const spec = { ...file("varied"), sha256: sha256(varied), slices: wrong };
    assert.ok(varied.equals(await fetchFile(spec)));
    const error = await failure("varied", {}, { ...spec, sha256: "0".repeat(64) });
    assert.equal(error.code, "LOAD_INTEGRITY");
    assert.match(error.message, /SHA-256/);
  }
});

test("slices are hashed as they come, and a length beyond all memory is only a wrong one", () => {
  const received = new Received(varied.length, 1 << 16);
  received.add(varied.subarray(0, 70_000));
  assert.equal(received.hashes.length, 1);
  received.add(varied.subarray(70_000, 199_999));
  assert.equal(received.hashes.length, 3);
  received.add(varied.subarray(199_999));
  assert.equal(received.hashes.length, 4);
  assert.ok(varied.equals(received.body()));
  received.add(varied.subarray(0, 9));
  assert.ok(Buffer.concat([varied, varied.subarray(0, 9)]).equals(received.body()));
  for (const bytes of [2 ** 52, -1]) {
    const odd = new Received(bytes);
    odd.add(varied);
    assert.ok(varied.equals(odd.body()));
  }
});

for (const [path, code, found] of [
  ["missing", "LOAD_HTTP", /404/],
  ["error", "LOAD_HTTP", /503/],
  ["html", "LOAD_CONTENT", /text\/html/],
  ["html-untyped", "LOAD_CONTENT", /HTML/],
  ["short", "LOAD_TRUNCATED", /999 bytes, expected 200000/],
  ["hang-up", "LOAD_TRUNCATED", /\d+ bytes, expected 200000/],
  ["long", "LOAD_INTEGRITY", /at least \d+ bytes, expected 200000/],
  ["changed", "LOAD_INTEGRITY", /SHA-256/],
]) {
  test(`${path}: ${code}`, async () => {
    const error = await failure(path);
    assert.equal(error.code, code);
    assert.match(error.message, found);
  });
}

test("an answer without an end is left where it is longer than the file", async () => {
  let read = 0;
  const fetch = async () =>
    new Response(
      new ReadableStream({
        pull: (stream) => (++read < 1000 ? stream.enqueue(BODY.subarray(0, 50_000)) : stream.close()),
      }),
    );
  const error = await failure("endless", { fetch });
  assert.equal(error.code, "LOAD_INTEGRITY");
  assert.match(error.message, /at least 250000 bytes, expected 200000/);
  assert.ok(read < 20, `${read} parts`); // of two tries
});

test("a file of unknown size that is an HTML page or cut short is refused too", async () => {
  for (const [path, code] of [["html", "LOAD_CONTENT"], ["html-untyped", "LOAD_CONTENT"], ["hang-up", "LOAD_TRUNCATED"]]) {
    const error = await failure(path, {}, { name: "model", url: server.url + path });
    assert.equal(error.code, code);
  }
});

test("no server: LOAD_NETWORK, with the cause", async () => {
  const gone = await serve({});
  await gone.close();
  const error = await failure("", {}, { name: "model", url: `${gone.url}model` });
  assert.equal(error.code, "LOAD_NETWORK");
  assert.ok(error.cause instanceof TypeError);
});

test("a body that stalls, and a server that never answers: LOAD_TIMEOUT", async () => {
  for (const path of ["stall", "silent"]) {
    const error = await failure(path, { timeoutMs: 150 });
    assert.equal(error.code, "LOAD_TIMEOUT");
    assert.match(error.message, /150 ms/);
  }
});

test("a body that comes slowly comes, however long it takes; so does one with all the time in the world", async () => {
  const pieces = [0, 40_000, 80_000, 120_000, 160_000].map((start) => varied.subarray(start, start + 40_000));
  handlers["/slow"] = (_request, response) => {
    response.writeHead(200, { "content-length": varied.length });
    pieces.forEach((piece, i) => setTimeout(() => response.write(piece), i * 100));
    setTimeout(() => response.end(), 500);
  };
  const spec = { ...file("slow"), sha256: sha256(varied) };
  const started = performance.now();
  assert.ok(varied.equals(await fetchFile(spec, { timeoutMs: 300 })));
  assert.ok(performance.now() - started > 300);
  assert.ok(varied.equals(await fetchFile(spec, { timeoutMs: Infinity })));
});

test("an abort, before or during: ABORTED, an AbortError as its cause", async () => {
  const early = AbortSignal.abort();
  const late = new AbortController();
  setTimeout(() => late.abort(), 100);
  for (const signal of [early, late.signal]) {
    const error = await fetchFile(file("stall"), { signal }).catch((e) => e);
    assert.equal(error.code, "ABORTED");
    assert.equal(error.cause.name, "AbortError");
  }
});

test("a host that never ends an aborted body: ABORTED and LOAD_TIMEOUT all the same", async () => {
  const fetch = async () => new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(10)) }));
  const controller = new AbortController();
  const onBytes = () => setTimeout(() => controller.abort());
  const spec = { name: "model", url: "http://localhost/model" };
  const error = await fetchFile(spec, { fetch, onBytes, signal: controller.signal }).catch((reason) => reason);
  assert.equal(error.code, "ABORTED");
  assert.equal((await failure("", { fetch, timeoutMs: 50 }, spec)).code, "LOAD_TIMEOUT");
});

test("a file that came whole and wrong is asked for once more, past the HTTP cache", async () => {
  const page = (_request, response) => answer(HTML, "text/html")(_request, response);
  for (const [first, second, code, caches] of [
    [answer(BODY.subarray(0, 10)), answer(BODY), undefined, ["default", "reload"]],
    [answer(Buffer.alloc(BODY.length)), answer(BODY), undefined, ["default", "reload"]],
    [page, answer(BODY), undefined, ["default", "reload"]],
    [page, answer(Buffer.alloc(BODY.length)), "LOAD_INTEGRITY", ["default", "reload"]],
    [hangUp(BODY.subarray(0, 5000), BODY.length), answer(BODY), "LOAD_TRUNCATED", ["default"]],
    [(_request, response) => response.writeHead(500).end(), answer(BODY), "LOAD_HTTP", ["default"]],
  ]) {
    const handlers = [first, second];
    const flaky = await serve({ "/model": (request, response) => handlers.shift()(request, response) });
    const seen = [];
    const fetch = (url, init) => (seen.push(init.cache), globalThis.fetch(url, init));
    const spec = { ...file(""), url: `${flaky.url}model` };
    if (code === undefined) assert.deepEqual(Buffer.from(await fetchFile(spec, { fetch })), BODY);
    else assert.equal((await failure("", { fetch }, spec)).code, code);
    assert.deepEqual(seen, caches);
    await flaky.close();
  }
});

test("local files are read, checked, and missed with a typed error", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tern test #"));
  const url = pathToFileURL(join(folder, "model.bin")).href;
  const error = await failure("", {}, { ...file(""), url });
  assert.equal(error.code, "LOAD_NETWORK");
  await writeFile(join(folder, "model.bin"), BODY);
  const body = await fetchFile({ ...file(""), url });
  assert.equal(body.constructor, Uint8Array);
  assert.deepEqual(Buffer.from(body), BODY);
  const sliced = { ...file(""), url, sha256: "0".repeat(64), slices: slicesOf(BODY) };
  assert.equal((await failure("", {}, sliced)).code, "LOAD_INTEGRITY"); // hashed whole
  await rm(folder, { recursive: true });
});
