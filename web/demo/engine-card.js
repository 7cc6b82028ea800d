/** The panel that says how the engine is doing, and offers the one thing to do about it. */
import { find } from "./dom.js";

/** What went wrong, for people; the code and the message stand below. */
const EXPLANATIONS = [
  [/^LOAD_(HTTP|CONTENT)$/, "A file of the engine is not where this page expects it."],
  [/^LOAD_(NETWORK|TIMEOUT)$/, "The connection gave up before everything was here."],
  [/^LOAD_(TRUNCATED|INTEGRITY)$/, "A file arrived damaged, so it was not used."],
  [/^MODEL_/, "The model file is not one that this build can read."],
  [/^WASM_NO_SIMD$/, "This browser is too old for the engine: its WebAssembly has no SIMD."],
  [/^WASM_BLOCKED$/, "This browser or this site does not allow WebAssembly."],
  [/./, "The engine did not start."],
];

/** @param {number} bytes */
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

export class EngineCard {
  #began = 0;

  /** @param {{onCancel: () => void, onRetry: () => void}} handlers */
  constructor({ onCancel, onRetry }) {
    find("cancel").addEventListener("click", onCancel);
    find("retry").addEventListener("click", onRetry);
  }

  loading() {
    this.#began = performance.now();
    this.#show("loading", "Loading the engine …", { busy: true });
    this.#bar(0);
  }

  /** @param {import("../progress.js").ProgressEvent} event */
  progress({ status, loaded, total, progress }) {
    if (status !== "downloading") {
      this.#show("starting", "Starting Python …", { busy: true });
      this.#bar(null);
      return;
    }
    const text = `Loading the engine: ${megabytes(loaded)} of ${megabytes(total)} MB`;
    this.#show("loading", text, { busy: true });
    this.#bar(progress);
  }

  /**
   * @param {number} done
   * @param {number} count
   */
  indexing(done, count) {
    const text = `Reading ${count.toLocaleString("en")} passages …`;
    this.#show("starting", text, { busy: true });
    this.#bar(done / count);
  }

  /**
   * @param {Record<string, any>} summary
   * @param {number} count passages of the encyclopedia
   * @param {string} problem why there are none, or ""
   */
  ready(summary, count, problem) {
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(1);
    const rest = problem === "" ? "" : ", but without the encyclopedia";
    this.#show("ready", `Ready in ${seconds} s${rest}`, { detail: problem, retry: problem !== "" });
    find("facts").textContent =
      `${count.toLocaleString("en")} passages to search. Model ${summary.build}, ${megabytes(summary.model_bytes)} MB, ` +
      `${summary.output_dim} numbers a text, fingerprint ${summary.fingerprint.slice(0, 12)}.`;
  }

  cancelled() {
    this.#show("stopped", "Loading was cancelled. Nothing was kept.", { retry: true });
  }

  /**
   * @param {string} code
   * @param {string} message
   */
  failed(code, message) {
    const [, text] = /** @type {[RegExp, string]} */ (EXPLANATIONS.find(([codes]) => /** @type {RegExp} */ (codes).test(code)));
    this.#show("failed", text, { retry: true, detail: `${code} · ${message.replace(/^tern-engine: /, "")}` });
  }

  /**
   * @param {string} state
   * @param {string} text
   * @param {{busy?: boolean, retry?: boolean, detail?: string}} parts
   */
  #show(state, text, { busy = false, retry = false, detail = "" }) {
    const hadFocus = document.activeElement === find("cancel") || document.activeElement === find("retry");
    find("engine").dataset.state = state;
    find("engine-text").textContent = text;
    find("engine-text").setAttribute("role", busy ? "presentation" : "status");
    find("cancel").hidden = !busy;
    find("retry").hidden = !retry;
    find("progress").hidden = !busy;
    find("engine-detail").hidden = detail === "";
    find("engine-detail").textContent = detail;
    if (hadFocus) (busy ? find("cancel") : retry ? find("retry") : find("query")).focus();
  }

  /** @param {number | null} value null for "at work, no telling how long" */
  #bar(value) {
    if (value === null) find("progress").removeAttribute("value");
    else find("progress").value = value;
  }
}
