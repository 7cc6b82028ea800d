/** The endpoint's app in Node, on an engine that tests make up. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const workerFile = new URL("../../../../worker/", import.meta.url);
const require = createRequire(new URL("package.json", workerFile));
const { buildSync } = require("esbuild");

// As in worker/build/build.mjs: the page's parts are imported as texts.
const bundle = buildSync({
  entryPoints: [fileURLToPath(new URL("app.js", workerFile))],
  bundle: true,
  write: false,
  format: "esm",
  loader: { ".html": "text", ".css": "text", ".client.js": "text" },
  external: ["node:*"],
});
const source = Buffer.from(bundle.outputFiles[0].contents).toString("base64");
export const { createApp } = await import(`data:text/javascript;base64,${source}`);

export const BUILD = { name: "model", version: "1", fingerprint: "f1", dim: 4, created: 0 };

/**
 * @param {Record<string, unknown>} [changes] methods that behave differently
 */
export function engine(changes = {}) {
  return {
    config_summary: () => "{}",
    tokenCount: () => ({ tokens: 3, truncated: false }),
    tokenize: () => Uint32Array.of(101, 7, 102),
    embed: () => Float32Array.of(1, 0, 0, 0),
    ...changes,
  };
}

/**
 * @param {string} path
 * @param {unknown} content
 * @param {Record<string, string>} [headers]
 */
export function postRequest(path, content, headers = {}) {
  return new Request(`http://x${path}`, {
    method: "POST",
    body: JSON.stringify(content),
    headers: { "content-type": "application/json", ...headers },
  });
}

/**
 * Keeps the lines that are logged while `work` runs, as objects.
 *
 * @param {() => Promise<unknown>} work
 * @returns {Promise<any[]>}
 */
export async function logOf(work) {
  const lines = [];
  const before = { log: console.log, error: console.error };
  console.log = console.error = (line) => lines.push(JSON.parse(line));
  try {
    await work();
  } finally {
    Object.assign(console, before);
  }
  return lines;
}
