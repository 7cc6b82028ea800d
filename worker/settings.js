/**
 * What an operator can set: variables, a secret and bindings of the Worker, see wrangler.jsonc.
 */

/**
 * @typedef {object} Settings
 * @property {readonly string[] | null} apiKeys a request must bear one of them; null = open to all
 * @property {readonly string[]} corsOrigins origins whose pages may read answers; "*" = any
 * @property {number} maxBodyBytes
 * @property {number} maxInputs texts in one request
 * @property {number} maxTokens tokens in one request, all its texts together
 * @property {readonly string[]} modelNames what `model` may say, the build's own name first
 * @property {boolean} cache keep answers in the data centre's cache
 */

/** @type {Readonly<Record<"maxBodyBytes" | "maxInputs" | "maxTokens", [name: string, value: number]>>} */
const LIMITS = {
  maxBodyBytes: ["MAX_BODY_BYTES", 2 * 1024 * 1024],
  maxInputs: ["MAX_INPUTS", 2048],
  maxTokens: ["MAX_TOKENS", 131_072],
};

/** @type {WeakMap<object, Settings>} */
const known = new WeakMap();

/**
 * @param {Record<string, any>} env
 * @param {string} modelName the build's own
 * @returns {Settings}
 */
export function readSettings(env, modelName) {
  const before = known.get(env);
  if (before) return before;
  const [maxBodyBytes, maxInputs, maxTokens] = Object.values(LIMITS).map(([name, value]) =>
    limit(env[name], name, value),
  );
  const settings = {
    apiKeys: keys(env.API_KEY),
    // An origin has no path; people write one, of a slash.
    corsOrigins: list(env.CORS_ORIGINS ?? "*").map((origin) => origin.replace(/\/$/, "")),
    maxBodyBytes,
    maxInputs,
    maxTokens,
    modelNames: [modelName, ...list(env.MODEL_ALIASES)],
    cache: env.CACHE === "on",
  };
  known.set(env, settings);
  return settings;
}

/**
 * A mistyped limit must not take the endpoint down, nor lift the limit.
 *
 * @param {unknown} value
 * @param {string} name
 * @param {number} otherwise
 */
function limit(value, name, otherwise) {
  if (value === undefined || value === "") return otherwise;
  const number = Number(value);
  if (Number.isSafeInteger(number) && number > 0) return number;
  console.warn(JSON.stringify({ event: "setting_ignored", name, used: otherwise }));
  return otherwise;
}

/**
 * Whoever set the secret meant to close the endpoint: a blank one lets nobody in.
 *
 * @param {unknown} value
 */
function keys(value) {
  if (value === undefined || value === null) return null;
  const found = list(value);
  if (found.length === 0) console.error(JSON.stringify({ event: "setting_blank", name: "API_KEY" }));
  return found;
}

/** @param {unknown} value items separated by commas */
function list(value) {
  return String(value ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
