/**
 * The endpoint's routes. Needs a fetch-like host and an engine, and nothing of workerd: tests run it
 * in Node with an engine of their own.
 */
import { Hono } from "hono";
import { checkKey } from "./auth.js";
import { readJson } from "./body.js";
import { cacheKey, fromCache, intoCache } from "./cache.js";
import { corsHeaders, preflightHeaders } from "./cors.js";
import { TernError } from "../web/errors.js";
import { HttpError, asHttpError, errorResponse } from "./errors.js";
import { embeddings, model, modelList } from "./openai.js";
import { openapi } from "./openapi.js";
import { page } from "./page.js";
import { readSettings } from "./settings.js";
import { SharedEngine } from "./shared-engine.js";
import { classify, embed, search, similarity, tokenize } from "./twins.js";

/**
 * @typedef {object} Build
 * @property {string} name the model's, such as "tern-engine-emb-int4"
 * @property {string} version
 * @property {string} fingerprint
 * @property {number} dim
 * @property {number} created seconds since 1970
 *
 * @typedef {object} Work what a route needs of its request
 * @property {Record<string, unknown>} json
 * @property {import("./settings.js").Settings} settings
 * @property {Build} build
 * @property {AbortSignal} signal
 * @property {() => Promise<import("../web/engine.js").Engine>} engine
 * @property {(found: {items: number, tokens: number, truncated: number[]}) => void} note for the
 *   log and the answer's headers
 *
 * @typedef {object} Answer
 * @property {unknown} [json]
 * @property {AsyncGenerator<string, void, void>} [pieces] the JSON as text, instead
 * @property {boolean} [streamed] send each piece when it is made
 */

/** @type {Readonly<Record<string, (work: Work) => Promise<Answer>>>} */
const POSTS = {
  "/v1/embeddings": embeddings,
  "/embed": embed,
  "/tokenize": tokenize,
  "/similarity": similarity,
  "/classify": classify,
  "/search": search,
};
const OPEN_PATHS = new Set(["/", "/health", "/openapi.json"]);
const MOST_INDICES = 100;

/**
 * @param {object} parts
 * @param {(env: any) => Promise<import("../web/engine.js").Engine>} parts.startEngine
 * @param {Build} parts.build
 */
export function createApp({ startEngine, build }) {
  const shared = new SharedEngine(startEngine);
  const app = new Hono({ strict: true });

  /** @param {import("hono").Context} c */
  const engineOf = (c) => shared.get(c.env, (work) => keepAlive(c, work));

  app.use("*", async (c, next) => {
    const settings = readSettings(c.env ?? {}, build.name);
    const request = c.req.raw;
    const log = { started: Date.now(), id: requestId(request), fields: {}, done: false };
    c.set("settings", settings);
    c.set("log", log);
    await next();
    const headers = { ...corsHeaders(request, settings.corsOrigins), "x-request-id": log.id };
    const response = new Response(c.res.body, c.res);
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    response.headers.set("x-content-type-options", "nosniff");
    c.res = response;
    if (!c.get("streamed")) writeLog(c, c.res.status);
  });

  app.use("*", async (c, next) => {
    const { apiKeys } = c.get("settings");
    if (c.req.method !== "OPTIONS" && !OPEN_PATHS.has(c.req.path)) await checkKey(c.req.raw, apiKeys);
    await next();
  });

  /**
   * @param {string} path
   * @param {Record<string, (c: import("hono").Context) => Response | Promise<Response>>} methods
   */
  const route = (path, methods) => {
    const names = Object.keys(methods);
    const allow = [...names, ...(names.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
    app.all(path, (c) => {
      c.set("route", path);
      const { method } = c.req;
      if (method === "OPTIONS") {
        return new Response(null, {
          status: 204,
          headers: { allow, ...preflightHeaders(c.req.raw, allow) },
        });
      }
      const handler = methods[method === "HEAD" ? "GET" : method];
      if (handler) return handler(c);
      throw new HttpError("method_not_allowed", `${path} takes ${allow}.`, { headers: { allow } });
    });
  };

  for (const [path, handler] of Object.entries(POSTS)) {
    route(path, { POST: (c) => post(c, path, handler) });
  }
  route("/v1/models", { GET: (c) => c.json(modelList(build, c.get("settings").modelNames)) });
  route("/v1/models/:id", {
    GET: (c) => c.json(model(build, c.get("settings").modelNames, c.req.param("id") ?? "")),
  });
  route("/config", {
    GET: async (c) => {
      const { maxBodyBytes, maxInputs, maxTokens } = c.get("settings");
      const limits = { max_body_bytes: maxBodyBytes, max_inputs: maxInputs, max_tokens: maxTokens };
      return c.json({ ...JSON.parse((await engineOf(c)).config_summary()), limits });
    },
  });
  route("/health", { GET: (c) => c.json({ status: "ok", engine: shared.state }) });
  route("/openapi.json", { GET: (c) => c.json(openapi(build, c.get("settings"))) });
  route("/", { GET: () => page(build) });

  app.notFound(() => {
    throw new HttpError("not_found", "No such path; /openapi.json lists them.");
  });
  app.onError((error, c) => {
    const known = asHttpError(error);
    c.set("error", known.code);
    if (known.code === "internal_error") {
      const { id } = c.get("log");
      const text = String(/** @type {Error} */ (error).stack ?? error);
      console.error(JSON.stringify({ event: "fault", request_id: id, name: error.name, stack: text }));
    }
    return errorResponse(known);
  });
  return app;

  /**
   * @param {import("hono").Context} c
   * @param {string} path
   * @param {(work: Work) => Promise<Answer>} handler
   */
  async function post(c, path, handler) {
    const settings = c.get("settings");
    await checkRate(c);
    const body = await readJson(c.req.raw, settings.maxBodyBytes);
    c.get("log").fields.bytes = body.bytes.length;
    let streamed = false;
    try {
      const key = settings.cache ? await cacheKey(path, body.bytes, build, settings) : undefined;
      const kept = key && (await fromCache(key));
      if (kept) return withHeaders(kept, { "x-cache": "hit" });
      const work = workOf(c, body.json, settings);
      const answer = await guarded(() => handler(work));
      if (answer.pieces && answer.streamed) {
        streamed = true;
        return stream(c, answer.pieces, body.release);
      }
      const text = answer.pieces
        ? await guarded(() => joined(answer.pieces))
        : JSON.stringify(answer.json);
      const response = new Response(text, { headers: answerHeaders(c) });
      if (key) {
        keepAlive(c, intoCache(key, response.clone()));
        response.headers.set("x-cache", "miss");
      }
      return response;
    } finally {
      if (!streamed) body.release();
    }
  }

  /**
   * @param {import("hono").Context} c
   * @param {Record<string, unknown>} json
   * @param {import("./settings.js").Settings} settings
   * @returns {Work}
   */
  function workOf(c, json, settings) {
    return {
      json,
      settings,
      build,
      signal: c.req.raw.signal,
      engine: () => engineOf(c),
      note: (found) => Object.assign(c.get("log").fields, found),
    };
  }

  /**
   * An exception that is none of ours came out of the interpreter, whose state is then anyone's
   * guess: the next request gets a fresh one.
   *
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async function guarded(work) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof HttpError) && !(error instanceof TernError)) shared.reset();
      throw error;
    }
  }

  /**
   * @param {import("hono").Context} c
   * @param {AsyncGenerator<string, void, void>} pieces
   * @param {() => void} release
   */
  function stream(c, pieces, release) {
    c.set("streamed", true);
    const encoder = new TextEncoder();
    /** @param {number} status */
    const end = (status) => {
      release();
      writeLog(c, status);
    };
    const body = new ReadableStream({
      async pull(controller) {
        try {
          const { done, value } = await guarded(() => pieces.next());
          if (!done) return controller.enqueue(encoder.encode(value));
          controller.close();
          end(200);
        } catch (error) {
          const known = asHttpError(error);
          c.set("error", known.code);
          end(known.status);
          controller.error(error);
        }
      },
      async cancel() {
        end(499);
        await pieces.return();
      },
    });
    return new Response(body, { headers: answerHeaders(c) });
  }
}

/** @param {AsyncIterable<string> | undefined} pieces */
async function joined(pieces) {
  let text = "";
  for await (const piece of pieces ?? []) text += piece;
  return text;
}

/**
 * @param {Response} response
 * @param {Record<string, string>} headers
 */
function withHeaders(response, headers) {
  const copy = new Response(response.body, response);
  for (const [name, value] of Object.entries(headers)) copy.headers.set(name, value);
  copy.headers.delete("cache-control");
  return copy;
}

/**
 * @param {import("hono").Context} c
 * @returns {Record<string, string>}
 */
function answerHeaders(c) {
  const truncated = c.get("log").fields.truncated ?? [];
  const headers = { "content-type": "application/json", "x-truncated": String(truncated.length) };
  if (truncated.length === 0) return headers;
  return { ...headers, "x-truncated-inputs": truncated.slice(0, MOST_INDICES).join(",") };
}

/**
 * Asks the rate-limit binding, where one is configured.
 *
 * @param {import("hono").Context} c
 */
async function checkRate(c) {
  const limiter = c.env?.RATE_LIMITER;
  if (!limiter) return;
  const { headers } = c.req.raw;
  const key = headers.get("authorization") ?? headers.get("cf-connecting-ip") ?? "";
  const { success } = await limiter.limit({ key });
  if (!success) {
    throw new HttpError("rate_limit_exceeded", "Too many requests; try again later.", {
      headers: { "retry-after": String(c.env.RATE_LIMIT_PERIOD ?? 60) },
    });
  }
}

/** @param {Request} request */
function requestId(request) {
  const given = request.headers.get("x-request-id") ?? "";
  return /^[\w.-]{1,64}$/.test(given) ? given : crypto.randomUUID();
}

/**
 * @param {import("hono").Context} c
 * @param {Promise<unknown>} work
 */
function keepAlive(c, work) {
  try {
    c.executionCtx.waitUntil(work);
  } catch {
    // Hosts without it finish what they began.
  }
}

/**
 * One line a request: what was done, never the text it was done to.
 *
 * @param {import("hono").Context} c
 * @param {number} status
 */
function writeLog(c, status) {
  const log = c.get("log");
  if (log.done) return;
  log.done = true;
  const { items, tokens, truncated, bytes } = log.fields;
  const entry = {
    event: "request",
    request_id: log.id,
    method: c.req.method,
    route: c.get("route") ?? "none",
    status,
    code: c.get("error"),
    items,
    tokens,
    truncated: truncated?.length,
    bytes,
    ms: Date.now() - log.started,
  };
  console.log(JSON.stringify(entry));
}
