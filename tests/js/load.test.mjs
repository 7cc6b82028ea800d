/** `load` over a real server and a fake Python: sharing, aborting, failing and loading again. */
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { Engine, ERROR_CODES } from "../../web/tern-engine.js";
import { checkWebAssembly } from "../../web/host.js";
import { createLoad } from "../../web/load.js";
import { CONTENT, fakeHost, manifest, sha256, site } from "./support/fakes.mjs";
import { answer, hangUp, serve, stall } from "./support/server.mjs";

const open = [];
async function start(changes = {}) {
  const handlers = { ...site(), ...changes };
  const server = await serve(handlers);
  open.push(server);
  const host = fakeHost();
  return { server, handlers, host, load: createLoad(host), options: { baseUrl: server.url } };
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** @returns {Promise<any>} the error of a load that must fail */
const failure = (promise) => promise.then(() => assert.fail("no error"), (error) => error);

const until = async (condition) => {
  const end = Date.now() + 10_000;
  while (!condition()) {
    assert.ok(Date.now() < end, String(condition));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

test("a load fetches each file once and hands model and kernel to Python", async () => {
  const { server, host, load, options } = await start();
  const engine = await load(options);
  assert.ok(engine instanceof Engine);
  const paths = server.requests.map((request) => request.path).sort();
  assert.deepEqual(paths, ["/manifest.json", ...Object.keys(CONTENT).map((n) => `/files/${n}`)].sort());
  assert.deepEqual(Buffer.from(host.created[0].model), CONTENT.model);
  assert.ok(host.created[0].kernels instanceof WebAssembly.Module);
  assert.equal(host.created[0].sha256, sha256(CONTENT.model)); // which was checked
});

test("progress counts bytes over all files, and ends ready", async () => {
  const { load, options } = await start();
  const events = [];
  await load({ ...options, onProgress: (event) => events.push(event) });
  const total = Object.values(CONTENT).reduce((sum, body) => sum + body.length, 0);
  assert.ok(events.every((e) => e.total === total && e.progress === e.loaded / e.total));
  assert.ok(events.every((e, i) => i === 0 || e.loaded >= events[i - 1].loaded));
  const files = new Set(events.filter((e) => e.status === "downloading").map((e) => e.file));
  assert.deepEqual([...files].sort(), Object.keys(CONTENT).sort());
  assert.deepEqual(events.slice(-1), [{ status: "ready", file: "", loaded: total, total, progress: 1 }]);
  assert.equal(events.filter((e) => e.status === "starting").length, 1);
});

test("it is starting only when every byte is here, also where Python was quicker", async () => {
  const { handlers, host, load, options } = await start();
  const real = handlers["/files/model"];
  let release;
  handlers["/files/model"] = (request, response) => void (release = () => real(request, response));
  const events = [];
  const loading = load({ ...options, onProgress: (event) => events.push(event) });
  await until(() => release && host.boots === 1);
  assert.ok(events.every((event) => event.status === "downloading"));
  release();
  await loading;
  const starting = events.findIndex((event) => event.status === "starting");
  assert.equal(events[starting].progress, 1);
  assert.ok(events.slice(0, starting).every((event) => event.status === "downloading"));
});

test("a model of the caller's own: bytes as they are, or fetched from a URL, unchecked", async () => {
  const own = Buffer.from("another model");
  const { server, host, load, options } = await start({ "/own.bin": answer(own) });
  await load({ ...options, model: own });
  await load({ ...options, model: new Uint8Array(own).buffer });
  await load({ ...options, model: `${server.url}own.bin` });
  await load({ ...options, model: new URL("own.bin", server.url) });
  for (const { model, sha256 } of host.created) {
    assert.equal(sha256, "");
    assert.equal(model.constructor, Uint8Array);
    assert.deepEqual(Buffer.from(model), own);
  }
  assert.ok(server.requests.every((request) => request.path !== "/files/model"));
});

test("loads of the same thing share one flight; of another model they do not", async () => {
  const { host, load, options } = await start();
  const bytes = new Uint8Array(4);
  const [a, b, c, d, e] = await Promise.all([
    load(options),
    load({ ...options, baseUrl: options.baseUrl.slice(0, -1) }),
    load({ ...options, model: bytes }),
    load({ ...options, model: bytes }),
    load({ ...options, model: new Uint8Array(4) }),
  ]);
  assert.equal(a, b);
  assert.equal(c, d);
  assert.equal(new Set([a, c, e]).size, 3);
  assert.equal(host.boots, 3);
  assert.notEqual(await load(options), a);
});

test("one caller's abort leaves the others their load", async () => {
  const { server, handlers, host, load, options } = await start();
  const real = handlers["/files/model"];
  let release;
  handlers["/files/model"] = (request, response) => void (release = () => real(request, response));
  const controller = new AbortController();
  const leaving = failure(load({ ...options, signal: controller.signal }));
  const staying = load(options);
  await until(() => release);
  controller.abort();
  const error = await leaving;
  assert.equal(error.code, "ABORTED");
  assert.equal(error.cause.name, "AbortError");
  release();
  assert.ok((await staying) instanceof Engine);
  assert.equal(host.boots, 1);
  assert.equal(server.requests.filter((r) => r.path === "/files/model").length, 1);
});

test("when the last caller aborts, downloads end; loading again works", async () => {
  const { handlers, host, load, options } = await start();
  const real = handlers["/files/model"];
  let dropped = false;
  handlers["/files/model"] = (request, response) => {
    response.on("close", () => (dropped = true));
    stall(CONTENT.model.subarray(0, 100), CONTENT.model.length)(request, response);
  };
  const controller = new AbortController();
  const events = [];
  const first = load({
    ...options,
    signal: controller.signal,
    onProgress: (event) => {
      events.push(event);
      if (event.file === "model") controller.abort();
    },
  });
  assert.equal((await failure(first)).code, "ABORTED");
  const count = events.length;
  await until(() => dropped);
  assert.equal(events.length, count);
  assert.equal(host.bridges.length, 0);
  handlers["/files/model"] = real;
  assert.ok((await load(options)) instanceof Engine);
});

test("an abort while Python starts rejects at once, and the late engine is freed", async () => {
  const { host, load, options } = await start();
  const boot = host.boot;
  let release;
  host.boot = () => new Promise((resolve) => (release = () => resolve(boot())));
  const controller = new AbortController();
  const first = failure(load({ ...options, signal: controller.signal }));
  await until(() => release);
  controller.abort();
  assert.equal((await first).code, "ABORTED");
  release();
  host.boot = boot;
  const engine = await load(options);
  assert.equal(engine.embed("a").length, 3);
  assert.ok(host.bridges.slice(0, -1).every((bridge) => bridge.disposed === 1));
});

test("a signal that is aborted already fetches nothing", async () => {
  const { server, load, options } = await start();
  const error = await failure(load({ ...options, signal: AbortSignal.abort() }));
  assert.equal(error.code, "ABORTED");
  assert.equal(server.requests.length, 0);
});

test("a throwing onProgress fails its own load only", async () => {
  const { load, options } = await start();
  const problem = new Error("from the caller");
  const bad = failure(load({ ...options, onProgress: () => { throw problem; } }));
  const good = load(options);
  assert.equal(await bad, problem);
  assert.ok((await good) instanceof Engine);
});

const breakages = {
  "404 for the model": ["LOAD_HTTP", "/files/model", undefined],
  "404 for the manifest": ["LOAD_HTTP", "/manifest.json", undefined],
  "HTML for the model": ["LOAD_CONTENT", "/files/model", answer("<!doctype html>", "text/html")],
  "HTML for the manifest": ["LOAD_CONTENT", "/manifest.json", answer("<html>")],
  "a manifest that is no JSON": ["LOAD_CONTENT", "/manifest.json", answer("{")],
  "an empty manifest": ["LOAD_CONTENT", "/manifest.json", answer("null")],
  "a truncated kernel": ["LOAD_TRUNCATED", "/files/kernels", answer(CONTENT.kernels.subarray(0, 4))],
  "a broken-off model": ["LOAD_TRUNCATED", "/files/model", hangUp(CONTENT.model.subarray(0, 99), 50_000)],
  "other bytes for the standard library": ["LOAD_INTEGRITY", "/files/python_stdlib.zip", answer("Standard library")],
  "a stalled package": ["LOAD_TIMEOUT", "/files/package", stall("pac", 7)],
};
for (const [name, [code, path, handler]] of Object.entries(breakages)) {
  test(`${name}: ${code}, and the next load works`, async () => {
    const { handlers, load, options } = await start();
    const real = handlers[path];
    handlers[path] = handler;
    const error = await failure(load({ ...options, timeoutMs: 300 }));
    assert.equal(error.code, code);
    assert.match(error.message, /^tern-engine: /);
    handlers[path] = real;
    assert.ok((await load({ ...options, timeoutMs: 5000 })) instanceof Engine);
  });
}

for (const name of Object.keys(CONTENT)) {
  test(`one bit of ${name} changed, or its end cut off, is noticed before anything is made of it`, async () => {
    const { handlers, host, load, options } = await start();
    const path = `/files/${name}`;
    const real = handlers[path];
    const changed = Buffer.from(CONTENT[name]);
    changed[changed.length >> 1] ^= 4;
    for (const [body, code] of [[changed, "LOAD_INTEGRITY"], [CONTENT[name].subarray(0, -1), "LOAD_TRUNCATED"]]) {
      handlers[path] = answer(body);
      const error = await failure(load(options));
      assert.equal(error.code, code);
      assert.ok(error.message.includes(name) && error.message.includes(path));
    }
    assert.deepEqual(host.created, []);
    handlers[path] = real;
    assert.ok((await load(options)) instanceof Engine);
  });
}

test("a snapshot of another content than listed: LOAD_INTEGRITY, and nothing is started from it", async () => {
  const { handlers, host, load, options } = await start();
  const listed = manifest();
  const body = Buffer.from("a snapshot");
  const facts = { id: "0".repeat(64), memoryBytes: 65_536 };
  listed.files.snapshot = { path: "files/snapshot", bytes: body.length, sha256: sha256(body), ...facts };
  handlers["/manifest.json"] = answer(JSON.stringify(listed), "application/json");
  handlers["/files/snapshot"] = answer(Buffer.from("A snapshot"));
  const error = await failure(load(options));
  assert.equal(error.code, "LOAD_INTEGRITY");
  assert.match(error.message, /snapshot/);
  assert.equal(host.boots, 0);
  handlers["/files/snapshot"] = answer(body);
  assert.ok((await load(options)) instanceof Engine);
});

test("what the manifest is expected to list is asked for beside it, once, and counted", async () => {
  const { server, handlers, host, load, options } = await start();
  host.expected = { baseUrl: server.url, manifest: manifest() };
  const real = handlers["/manifest.json"];
  let release;
  handlers["/manifest.json"] = (request, response) => void (release = () => real(request, response));
  const events = [];
  const loading = load({ ...options, onProgress: (event) => events.push(event) });
  await until(() => release && server.requests.length === 1 + Object.keys(CONTENT).length);
  await new Promise((resolve) => setTimeout(resolve, 50)); // the files come before the manifest
  assert.deepEqual(events, []);
  assert.equal(host.boots, 0);
  release();
  await loading;
  assert.equal(server.requests.length, 1 + Object.keys(CONTENT).length);
  assert.equal(events.at(-1).progress, 1);
  assert.equal(events.at(-1).loaded, events.at(-1).total);
});

test("where another manifest is there than expected, it decides", async () => {
  const { server, handlers, host, load, options } = await start();
  const old = manifest();
  old.files.model = { ...old.files.model, path: "files/model.old" }; // gone
  old.files.package = { ...old.files.package, sha256: "0".repeat(64) };
  old.files.kernels = { ...old.files.kernels, path: "files/kernels.old", bytes: 9999 };
  host.expected = { baseUrl: server.url, manifest: old };
  // It comes late, when the load is under way without it.
  const model = handlers["/files/model"];
  let answerOld;
  handlers["/files/kernels.old"] = (...given) => void (answerOld = () => answer(Buffer.alloc(9999))(...given));
  handlers["/files/model"] = (...given) => {
    answerOld();
    setTimeout(() => model(...given), 50);
  };
  const events = [];
  const engine = await load({ ...options, onProgress: (event) => events.push(event) });
  assert.ok(engine instanceof Engine);
  assert.deepEqual(Buffer.from(host.created[0].model), CONTENT.model);
  const asked = new Set(server.requests.map(({ path }) => path));
  assert.ok(["/files/model.old", "/files/model", "/files/kernels.old", "/files/kernels"].every((path) => asked.has(path)));
  const total = Object.values(CONTENT).reduce((sum, body) => sum + body.length, 0);
  assert.deepEqual(events.at(-1), { status: "ready", file: "", loaded: total, total, progress: 1 });
});

test("a download that turned out to be of no use is ended", async () => {
  const { server, handlers, host, load, options } = await start();
  const old = manifest();
  old.files.model = { ...old.files.model, path: "files/model.old", bytes: 9999 };
  host.expected = { baseUrl: server.url, manifest: old };
  let begun = false;
  let ended = false;
  handlers["/files/model.old"] = (request, response) => {
    begun = true;
    const drops = setInterval(() => response.write("."), 20); // it never times out
    response.on("close", () => {
      clearInterval(drops);
      ended = true;
    });
    stall(Buffer.of(0), 9999)(request, response);
  };
  const real = handlers["/manifest.json"];
  handlers["/manifest.json"] = (...given) => void until(() => begun).then(() => real(...given));
  // What is needed does not share the line with it until the end.
  const model = handlers["/files/model"];
  handlers["/files/model"] = (...given) => void until(() => ended).then(() => model(...given));
  assert.ok((await load({ ...options, timeoutMs: 1_000 })) instanceof Engine);
});

test("nothing is expected of another folder, nor the model where the caller brings one", async () => {
  const { server, host, load, options } = await start();
  const other = manifest();
  other.files.model.path = "files/other";
  host.expected = { baseUrl: `${server.url}elsewhere/`, manifest: other };
  await load(options);
  assert.ok(server.requests.every(({ path }) => !path.endsWith("/other")));
  host.expected = { baseUrl: server.url, manifest: manifest() };
  server.requests.length = 0;
  await load({ ...options, model: CONTENT.model });
  assert.ok(server.requests.every(({ path }) => path !== "/files/model"));
});

test("a manifest without a kernel: KERNEL_MISSING; without a hash: LOAD_CONTENT", async () => {
  const { handlers, load, options } = await start();
  for (const [name, code] of [["kernels", "KERNEL_MISSING"], ["package", "LOAD_CONTENT"]]) {
    const changed = manifest();
    delete changed.files[name].sha256;
    handlers["/manifest.json"] = answer(JSON.stringify(changed));
    assert.equal((await failure(load(options))).code, code);
  }
});

test("no server at all: LOAD_NETWORK", async () => {
  const { server, load, options } = await start();
  await server.close();
  open.length = 0;
  assert.equal((await failure(load(options))).code, "LOAD_NETWORK");
});

test("what Python refuses comes through with its own code, and its bridge is released", async () => {
  const { host, load, options } = await start();
  host.bridge = { error_code: "MODEL_MAGIC", error_message: "tern-engine: magic is GGUF, expected TERN" };
  const error = await failure(load(options));
  assert.equal(error.code, "MODEL_MAGIC");
  assert.equal(error.message, host.bridge.error_message);
  assert.equal(host.bridges[0].destroyed, 1);
});

test("a host without SIMD or WebAssembly is refused before anything is fetched", async () => {
  const { server, host, load, options } = await start();
  const blocked = { compile: async () => { throw new WebAssembly.CompileError("blocked by CSP"); } };
  for (const [wasm, code] of [
    [null, "WASM_BLOCKED"],
    [{ ...blocked, validate: () => true }, "WASM_BLOCKED"],
    [{ compile: async () => {}, validate: () => false }, "WASM_NO_SIMD"],
  ]) {
    host.checkWebAssembly = () => checkWebAssembly(wasm);
    assert.equal((await failure(load(options))).code, code);
  }
  assert.equal(server.requests.length, 0);
  await checkWebAssembly();
});

test("options of the wrong type: INVALID_INPUT", async () => {
  const { load, options } = await start();
  for (const wrong of [
    { baseUrl: 7 },
    { baseUrl: "http://" },
    { model: 7 },
    { model: [1, 2] },
    { model: new DataView(new ArrayBuffer(4)) },
    { model: "http://[" },
    { signal: {} },
    { onProgress: "log" },
    { timeoutMs: 0 },
    { timeoutMs: NaN },
    { timeoutMs: "1s" },
    { onprogress: () => {} },
    { worker: { pools: 2 } },
  ]) {
    assert.equal((await failure(load({ ...options, ...wrong }))).code, "INVALID_INPUT", JSON.stringify(wrong));
  }
  assert.equal((await failure(load(null))).code, "INVALID_INPUT");
  assert.match((await failure(load({ modelUrl: "a" }))).message, /no option modelUrl, only baseUrl, model, /);
});

test("every code in the list has a meaning", () => {
  for (const [code, meaning] of Object.entries(ERROR_CODES)) {
    assert.match(code, /^[A-Z_]+$/);
    assert.match(meaning, /\.$/);
  }
});
