/**
 * A bounded load run against one server on this machine.
 *
 *     node tests/worker/load.mjs PORT REQUESTS IN_FLIGHT MALFORMED_SHARE MODEL
 *
 * A pool of requests is sent one by one first; in the run, each answer must equal, byte for byte,
 * the one that its request got then. Prints {sent, wrong, statuses, p50, p99, seconds} as JSON.
 */
import { Agent, request as httpRequest } from "node:http";

const [port, count, inFlight] = process.argv.slice(2, 5).map(Number);
const malformedShare = Number(process.argv[5]);
const model = process.argv[6];
const agent = new Agent({ keepAlive: true, maxSockets: inFlight });

let state = 20_240_601;
/** @param {number} below */
function random(below) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

const WORDS = "boat ship harbour soup lentil recipe station hotel train ticket rain sun tax form".split(" ");
const sentence = () => Array.from({ length: 3 + random(12) }, () => WORDS[random(WORDS.length)]).join(" ");
const sentences = (n) => Array.from({ length: n }, sentence);
const post = (path, content) => ({ method: "POST", path, body: JSON.stringify(content) });

/** How often each kind occurs, of 20. */
const MIX = [
  [10, () => post("/v1/embeddings", { model, input: sentence(), encoding_format: "base64" })],
  [2, () => post("/v1/embeddings", { model, input: sentences(8) })],
  [1, () => post("/v1/embeddings", { model, input: sentences(100), encoding_format: "base64" })],
  [1, () => post("/embed", { text: sentences(30).join(". ") })],
  [2, () => post("/tokenize", { text: sentence() })],
  [1, () => post("/similarity", { a: sentence(), b: sentence() })],
  [1, () => post("/classify", { text: sentence(), labels: ["travel", "food", "money"] })],
  [1, () => post("/search", { query: sentence(), documents: sentences(10) })],
  [1, () => ({ method: "GET", path: "/v1/models" })],
];
const MALFORMED = [
  { method: "POST", path: "/v1/embeddings", body: "{" },
  { method: "POST", path: "/v1/embeddings", body: "[".repeat(100_000) },
  { method: "POST", path: "/embed", body: Buffer.from([0x7b, 0xff, 0xfe]) },
  post("/v1/embeddings", { model, input: [[101, 7592]] }),
  post("/v1/embeddings", { model: "other", input: "a" }),
  post("/v1/embeddings", { model, input: Array(2049).fill("a") }),
  post("/v1/embeddings", { model, input: ["a", null] }),
  post("/search", { query: "a" }),
  post("/embed", { text: "a".repeat(2_200_000) }),
  { method: "POST", path: "/tokenize", body: "{}", type: "text/plain" },
  { method: "GET", path: "/v1/embeddings" },
  { method: "DELETE", path: "/health" },
  { method: "GET", path: "/nowhere" },
];

/** @returns {Promise<{status: number, body: string, ms: number}>} */
function send({ method, path, body, type = "application/json" }) {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const headers = body ? { "content-type": type, "content-length": Buffer.byteLength(body) } : {};
    const message = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("end", () => {
        const ms = performance.now() - started;
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString(), ms });
      });
      answer.on("error", reject);
    });
    message.on("error", reject);
    message.end(body);
  });
}

const pool = MIX.flatMap(([share, make]) => Array.from({ length: share * 10 }, make));
const expected = new Map();
for (const each of [...pool, ...MALFORMED]) expected.set(each, await send(each));

const statuses = {};
const times = [];
let sent = 0;
let wrong = 0;
async function client() {
  while (sent < count) {
    sent += 1;
    const list = random(1000) < malformedShare * 1000 ? MALFORMED : pool;
    const each = list[random(list.length)];
    const { status, body, ms } = await send(each);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status !== expected.get(each).status || body !== expected.get(each).body) wrong += 1;
    times.push(ms);
  }
}
const started = performance.now();
await Promise.all(Array.from({ length: inFlight }, client));
const seconds = (performance.now() - started) / 1000;
times.sort((a, b) => a - b);
const [p50, p99] = [0.5, 0.99].map((part) => times[Math.floor(part * times.length)]);
const bad = [...expected.values()].filter(({ status }) => status >= 500).length;
console.log(JSON.stringify({ sent: times.length, wrong: wrong + bad, statuses, p50, p99, seconds }));
agent.destroy();
