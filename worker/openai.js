/** OpenAI's embeddings and models API: shapes, defaults and refusals as its SDKs expect them. */
import { describe } from "../web/errors.js";
import { HttpError, invalidInput } from "./errors.js";
import { checkOptionalText, optionalChoice, optionalInteger, textField, textsField } from "./fields.js";
import { countTokens, embedEach } from "./texts.js";

/** Answers with more texts than this are sent as they are made, and never held whole. */
const STREAM_FROM = 64;

/**
 * POST /v1/embeddings
 *
 * @param {import("./app.js").Work} work
 * @returns {Promise<import("./answer.js").Answer>}
 * @throws {HttpError}
 */
export async function embeddings(work) {
  const { json, settings, build, signal } = work;
  const model = checkModel(textField(json, "model"), settings.modelNames);
  const texts = inputTexts(json, settings.maxInputs);
  const format = optionalChoice(json, "encoding_format", ["float", "base64"]);
  const dimensions = optionalInteger(json, "dimensions", 1, build.dim) ?? build.dim;
  checkOptionalText(json, "user");

  const engine = await work.engine();
  const { counts, total, truncated } = await countTokens(engine, texts, settings.maxTokens, signal);
  work.note({ items: texts.length, tokens: total, truncated });
  const vectors = embedEach(engine, texts, counts, signal);
  const pieces = listOf(vectors, dimensions, format, model, total);
  return { pieces, streamed: texts.length > STREAM_FROM };
}

/**
 * GET /v1/models
 *
 * @param {import("./app.js").Build} build
 * @param {readonly string[]} names
 */
export function modelList(build, names) {
  return { object: "list", data: names.map((name) => modelObject(build, name)) };
}

/**
 * GET /v1/models/{id}
 *
 * @param {import("./app.js").Build} build
 * @param {readonly string[]} names
 * @param {string} id
 * @throws {HttpError} model_not_found
 */
export function model(build, names, id) {
  return modelObject(build, checkModel(id, names));
}

/**
 * @param {import("./app.js").Build} build
 * @param {string} id
 */
function modelObject(build, id) {
  return { id, object: "model", created: build.created, owned_by: "tern-engine" };
}

/**
 * @param {string} name
 * @param {readonly string[]} names
 */
function checkModel(name, names) {
  if (names.includes(name)) return name;
  throw new HttpError("model_not_found", `This endpoint has no such model, only: ${names.join(", ")}.`, {
    param: "model",
  });
}

/**
 * @param {Record<string, unknown>} json
 * @param {number} most
 * @returns {string[]}
 */
function inputTexts(json, most) {
  const { input } = json;
  if (typeof input === "string") return [input];
  if (!Array.isArray(input)) {
    throw invalidInput(`input must be a string or an array of strings, found ${describe(input)}.`, "input");
  }
  const first = Array.isArray(input[0]) ? input[0][0] : input[0];
  if (typeof first === "number") {
    const message =
      "input holds token ids, which are not supported: they belong to another model's tokenizer. " +
      "Send the text itself.";
    throw invalidInput(message, "input");
  }
  return textsField(json, "input", most);
}

/**
 * The answer's JSON in pieces, one a text.
 *
 * @param {AsyncIterable<Float32Array>} vectors
 * @param {number} dimensions
 * @param {"float" | "base64"} format
 * @param {string} model
 * @param {number} tokens
 * @returns {AsyncGenerator<string, void, void>}
 */
async function* listOf(vectors, dimensions, format, model, tokens) {
  let index = 0;
  let before = '{"object":"list","data":[';
  for await (const vector of vectors) {
    const short = shortened(vector, dimensions);
    const embedding = format === "base64" ? base64(short) : Array.from(short);
    yield before + JSON.stringify({ object: "embedding", index, embedding });
    before = ",";
    index += 1;
  }
  const tail = JSON.stringify({ model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
  yield `${index === 0 ? before : ""}],${tail.slice(1)}`;
}

/**
 * The first `dimensions` elements, scaled to length 1.
 *
 * @param {Float32Array} vector of length 1
 * @param {number} dimensions
 */
export function shortened(vector, dimensions) {
  if (dimensions === vector.length) return vector;
  const part = vector.slice(0, dimensions);
  const length = Math.hypot(...part);
  // A vector may well start with a zero or two.
  return length === 0 ? part : part.map((value) => value / length);
}

/**
 * Little-endian float32, which is what the SDKs decode.
 *
 * @param {Float32Array} vector
 */
export function base64(vector) {
  const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  return btoa(String.fromCharCode(...bytes));
}
