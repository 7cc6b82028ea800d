/** Stand-ins for everything behind `start`, so that its failure paths run in milliseconds. */
import { createHash } from "node:crypto";
import { answer } from "./server.mjs";

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** The smallest module, as a kernel and as pyodide.asm.wasm. */
export const WASM = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

export const CONTENT = {
  "pyodide.asm.mjs": Buffer.from("export default async () => {};"),
  "pyodide.asm.wasm": WASM,
  "python_stdlib.zip": Buffer.from("standard library"),
  package: Buffer.from("package"),
  kernels: WASM,
  model: Buffer.alloc(50_000, 7),
};

export function manifest(content = CONTENT) {
  const files = Object.entries(content).map(([name, body]) => [
    name,
    { path: `files/${name}`, bytes: body.length, sha256: sha256(body) },
  ]);
  return { engine: "tern-engine", files: Object.fromEntries(files) };
}

/** Handlers for `serve` that answer everything a load asks for. */
export function site() {
  const handlers = {
    "/manifest.json": answer(Buffer.from(JSON.stringify(manifest())), "application/json"),
  };
  for (const [name, body] of Object.entries(CONTENT)) handlers[`/files/${name}`] = answer(body);
  return handlers;
}

/**
 * A bridge that embeds a text as [length, calls, 0], in a memory that grows at every call. Of a batch, two texts a part.
 *
 * @param {object} [overrides]
 */
export function fakeBridge(overrides = {}) {
  const memory = new WebAssembly.Memory({ initial: 1 });
  let calls = 0;
  const write = (text, index = 0) => {
    new Float32Array(memory.buffer, 64 + 16 * index, 4).set([text.length, ++calls, 0, NaN]);
    return 64;
  };
  const bridge = {
    error_code: "",
    error_message: "",
    memory,
    dim: 3,
    max_seq_len: 8,
    fingerprint: "f".repeat(64),
    text_offset: 256,
    plain: "abcd ",
    plain_limit: 6,
    after_text: "\0.",
    ids_offset: 128,
    truncated: false,
    out_offset: 64,
    out_stride: 16,
    embed(text) {
      memory.grow(1);
      return write(text);
    },
    embed_written() {
      const written = Buffer.from(memory.buffer, 256, 8).toString("latin1");
      return bridge.embed(written.slice(0, written.indexOf("\0.")) + "!");
    },
    embed_batch(texts, take) {
      for (let at = 0; at < texts.length; at += 2) {
        memory.grow(1);
        const part = texts.slice(at, at + 2);
        part.forEach(write);
        take(part.length);
      }
      return 0;
    },
    tokenize(text) {
      memory.grow(1);
      new Uint32Array(memory.buffer, 128, 2).set([101, text.length]);
      return 2;
    },
    token_count(text) {
      bridge.truncated = text.length > 8;
      return Math.min(text.length, 8);
    },
    config_summary: () => '{"engine": "tern-engine"}',
    disposed: 0,
    dispose: () => void bridge.disposed++,
    destroyed: 0,
    destroy: () => void bridge.destroyed++,
    ...overrides,
  };
  return bridge;
}

/**
 * A host for `createLoad` whose Python is a fake.
 *
 * @param {object} [overrides]
 */
export function fakeHost(overrides = {}) {
  const host = {
    boots: 0,
    bridges: [],
    created: [],
    bridge: {},
    checkWebAssembly: async () => {},
    importModule: async () => async () => {},
    async boot() {
      host.boots++;
      return {
        pyimport: () => ({
          destroy() {},
          create(model, kernels, sha256) {
            host.created.push({ model, kernels, sha256 });
            const bridge = fakeBridge(host.bridge);
            host.bridges.push(bridge);
            return bridge;
          },
        }),
      };
    },
    ...overrides,
  };
  return host;
}
