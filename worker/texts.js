/** Works through many texts without holding up other requests for long. */
import { HttpError } from "./errors.js";

/** Tokens embedded between two pauses: some milliseconds of work. */
const TOKENS_AT_A_TIME = 256;
/** Texts counted between two pauses. */
const COUNTS_AT_A_TIME = 64;

/**
 * @typedef {import("../web/engine.js").Engine} Engine
 * @typedef {{tokens: number, truncated: boolean}} Count
 */

/** Lets events of other requests through. */
export function pause() {
  return new Promise((resolve) => setTimeout(resolve));
}

/**
 * Counts first, so that what is too much is refused before any of it is embedded.
 *
 * @param {Engine} engine
 * @param {readonly string[]} texts
 * @param {number} maxTokens
 * @param {AbortSignal} signal
 * @returns {Promise<{counts: Count[], total: number, truncated: number[]}>} `truncated`: indices
 * @throws {HttpError} too_many_tokens, client_closed_request
 */
export async function countTokens(engine, texts, maxTokens, signal) {
  const counts = [];
  const truncated = [];
  let total = 0;
  for (const [index, text] of texts.entries()) {
    if (index % COUNTS_AT_A_TIME === COUNTS_AT_A_TIME - 1) await breathe(signal);
    const count = engine.tokenCount(text);
    counts.push(count);
    total += count.tokens;
    if (count.truncated) truncated.push(index);
    if (total > maxTokens) {
      const message = `The texts have more than ${maxTokens} tokens in all; send fewer at a time.`;
      throw new HttpError("too_many_tokens", message);
    }
  }
  return { counts, total, truncated };
}

/**
 * The texts' vectors, one after another.
 *
 * @param {Engine} engine
 * @param {readonly string[]} texts
 * @param {readonly Count[]} counts
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<Float32Array, void, void>}
 * @throws {HttpError} client_closed_request
 */
export async function* embedEach(engine, texts, counts, signal) {
  let sincePause = 0;
  for (const [index, text] of texts.entries()) {
    if (sincePause + counts[index].tokens > TOKENS_AT_A_TIME && sincePause > 0) {
      await breathe(signal);
      sincePause = 0;
    }
    sincePause += counts[index].tokens;
    yield engine.embed(text);
  }
}

/**
 * @param {Engine} engine
 * @param {readonly string[]} texts
 * @param {readonly Count[]} counts
 * @param {AbortSignal} signal
 * @returns {Promise<Float32Array[]>}
 */
export async function embedAll(engine, texts, counts, signal) {
  const vectors = [];
  for await (const vector of embedEach(engine, texts, counts, signal)) vectors.push(vector);
  return vectors;
}

/** @param {AbortSignal} signal */
async function breathe(signal) {
  await pause();
  if (signal.aborted) {
    throw new HttpError("client_closed_request", "The client went away before the answer.");
  }
}
