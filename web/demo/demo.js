/** The page: what is typed goes to the worker, what comes back is shown. */
import { readCorpus } from "./corpus.js";
import { EngineCard } from "./engine-card.js";
import { showResults } from "./results.js";

const EXAMPLES = [
  "to laugh quietly",
  "colors in the sky after rain",
  "longing for the past",
  "where planes land and take off",
  "the sadness of losing a loved one",
];
const LIMIT = 24;
const PAUSE_MS = 60; // between a keystroke and its search

/** @param {string} id */
const find = (id) => /** @type {any} */ (document.getElementById(id));
const query = /** @type {HTMLInputElement} */ (find("query"));
const card = new EngineCard({ onCancel: cancel, onRetry: start });

/** @type {Worker | null} */
let worker = null;
let ready = false;
/** @type {import("./corpus.js").Entry[]} */
let corpus = [];

// One search is under way at most; of those asked for meanwhile only the latest counts.
let lastId = 0;
let busy = false;
let waiting = false;

function start() {
  stop();
  card.loading();
  worker = new Worker(new URL("engine.worker.js", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data }) => receive(data));
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    fail("LOAD_NETWORK", event.message || "the page's own scripts could not be loaded");
  });
  const model = new URLSearchParams(location.search).get("model");
  showHint();
  worker.postMessage({ type: "start", model: model ? new URL(model, location.href).href : undefined });
}

/** What stands where results will be. */
function showHint() {
  const typed = query.value.trim() !== "";
  find("empty").textContent = !worker
    ? "The engine is not loaded."
    : typed && !ready
      ? "Your results appear here as soon as the engine is ready."
      : "Your results appear here.";
}

/** Ends the engine and whatever it does: a worker that is gone holds no memory. */
function stop() {
  worker?.terminate();
  worker = null;
  ready = busy = waiting = false;
  showHint();
}

function cancel() {
  stop();
  card.cancelled();
}

/**
 * @param {string} code
 * @param {string} message
 */
function fail(code, message) {
  stop();
  card.failed(code, message);
}

/** @param {import("./engine.worker.js").Reply} reply */
async function receive(reply) {
  switch (reply.type) {
    case "progress":
      return card.progress(reply.progress);
    case "indexing":
      return card.indexing(reply.done, reply.count);
    case "failed":
      return fail(reply.code, reply.message);
    case "ready": {
      const file = await fetch(new URL("demo-corpus.json", import.meta.url));
      corpus = readCorpus(await file.json());
      ready = true;
      card.ready(reply.summary, reply.count);
      return search();
    }
    case "results":
      busy = false;
      if (reply.id === lastId) showResults(corpus, reply, query.value.trim(), lookUp);
      if (waiting) search();
  }
}

/** Asks for what the field holds now, at once or when the search under way has ended. */
function search() {
  const text = query.value.trim();
  if (text === "") {
    lastId++; // whatever is under way is no longer wanted
    showHint();
    return showResults(corpus, null, "", lookUp);
  }
  waiting = busy || !ready;
  if (waiting) return showHint();
  busy = true;
  worker?.postMessage({ type: "search", id: ++lastId, query: text, limit: LIMIT });
}

/** @param {string} text */
function lookUp(text) {
  query.value = text;
  query.focus();
  search();
}

/** @type {ReturnType<typeof setTimeout>} */
let timer;
query.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(search, PAUSE_MS);
});
find("form").addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  clearTimeout(timer);
  search();
});
addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement;
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    query.focus();
    query.select();
  } else if (event.key === "Escape" && typing) {
    query.value = "";
    search();
  }
});
for (const example of EXAMPLES) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: example });
  button.addEventListener("click", () => lookUp(example));
  const item = document.createElement("li");
  item.append(button);
  find("examples").append(item);
}
start();
if (matchMedia("(hover: hover)").matches) query.focus(); // no keyboard that covers a phone's screen
