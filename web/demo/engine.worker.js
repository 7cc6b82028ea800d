/**
 * The engine off the main thread, so that typing never waits for it. The page sends
 * {type: "start", model} once, then {type: "search", id, query, limit}; what comes back is in Reply.
 *
 * @typedef {{type: "progress", progress: import("../progress.js").ProgressEvent}
 *   | {type: "indexing", done: number, count: number}
 *   | {type: "ready", summary: Record<string, unknown>, count: number}
 *   | {type: "results", id: number, hits: {index: number, score: number}[], ms: number,
 *      truncated: boolean}
 *   | {type: "failed", code: string, message: string}} Reply
 */
import { fetchFile } from "../fetch-file.js";
import { sha256 } from "../sha256.js";
import { load } from "../tern-engine.js";
import { entryText, nearest, readCorpus, readVectors } from "./corpus.js";

const CHUNK = 64;

/** @type {import("../engine.js").Engine} */
let engine;
/** @type {Float32Array} */
let vectors;

/** @param {Reply} reply */
const send = (reply) => postMessage(reply);

addEventListener("message", async ({ data }) => {
  try {
    if (data.type === "start") await start(data.model);
    else search(data);
  } catch (error) {
    const { code = "UNKNOWN", message } = /** @type {any} */ (error);
    send({ type: "failed", code, message });
  }
});

/** @param {string | undefined} model URL of another model than the build's own */
async function start(model) {
  const onProgress = (/** @type {any} */ progress) => send({ type: "progress", progress });
  const [loaded, corpusFile, vectorsFile] = await Promise.all([
    load({ model, onProgress }),
    fetchFile(beside("demo-corpus.json")),
    // Without them, or with those of another model, the corpus is embedded here.
    fetchFile(beside("demo-vectors.bin")).catch(() => new Uint8Array(0)),
  ]);
  engine = loaded;
  const corpus = readCorpus(JSON.parse(new TextDecoder().decode(corpusFile)));
  vectors =
    readVectors(vectorsFile, {
      fingerprint: engine.fingerprint,
      corpusSha256: await sha256(corpusFile),
      count: corpus.length,
      dim: engine.dim,
    }) ?? embedAll(corpus.map(entryText));
  nearest(engine.embed("the first search is the slowest"), vectors, 1);
  send({ type: "ready", summary: JSON.parse(engine.config_summary()), count: corpus.length });
}

/** @param {string} name */
function beside(name) {
  return { name, url: new URL(name, import.meta.url).href };
}

/** @param {string[]} texts */
function embedAll(texts) {
  const all = new Float32Array(texts.length * engine.dim);
  for (let done = 0; done < texts.length; done += CHUNK) {
    send({ type: "indexing", done, count: texts.length });
    const chunk = engine.embedBatch(texts.slice(done, done + CHUNK));
    chunk.forEach((vector, i) => all.set(vector, (done + i) * engine.dim));
  }
  return all;
}

/** @param {{id: number, query: string, limit: number}} request */
function search({ id, query, limit }) {
  const began = performance.now();
  const hits = nearest(engine.embed(query), vectors, limit);
  const ms = performance.now() - began;
  send({ type: "results", id, hits, ms, truncated: engine.tokenCount(query).truncated });
}
