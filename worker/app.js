/**
 * The endpoint's routes. Needs a host that speaks fetch and an engine, and nothing of workerd: tests
 * run it in Node with an engine of their own.
 */
import { Hono } from "hono";
import { TernError } from "../web/errors.js";
import { streamedAnswer, wholeAnswer } from "./answer.js";
import { checkKey } from "./auth.js";
import { readJson } from "./body.js";
import { cacheKey, fromCache, intoCache } from "./cache.js";
import { corsHeaders, preflightHeaders } from "./cors.js";
import { HttpError, asHttpError, errorResponse } from "./errors.js";
import { closeLog, logFault, openLog } from "./log.js";
import { embeddings, model, modelList } from "./openai.js";
import { openapi } from "./openapi.js";
import { page } from "./page.js";
import { checkRate } from "./rate.js";
import { readSettings } from "./settings.js";
import { SharedEngine } from "./shared-engine.js";
import { classify, embed, search, similarity, tokenize } from "./twins.js";

/**
 * @typedef {import("hono").Context} Context
 * @typedef {import("../web/engine.js").Engine} Engine
 *
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
 * @property {() => Promise<Engine>} engine
 * @property {(found: {items: number, tokens: number, truncated: number[]}) => void} note for the
 *   log and the answer's headers; `truncated`: indices of texts that were cut, or QUERY
 */

/** @type {Readonly<Record<string, (work: Work) => Promise<import("./answer.js").Answer>>>} */
const POSTS = {
  "/v1/embeddings": embeddings,
  "/embed": embed,
  "/tokenize": tokenize,
  "/similarity": similarity,
  "/classify": classify,
  "/search": search,
};
/** Paths that ask for no key. */
const OPEN_PATHS = new Set(["/", "/health", "/openapi.json"]);

/**
 * @param {object} parts
 * @param {(env: any) => Promise<Engine>} parts.startEngine
 * @param {Build} parts.build
 */
export function createApp({ startEngine, build }) {
  const shared = new SharedEngine(startEngine);
  const app = new Hono({ strict: true });
  app.use("*", async (c, next) => observed(c, next, readSettings(c.env ?? {}, build.name)));
  app.use("*", async (c, next) => {
    const isOpen = c.req.method === "OPTIONS" || OPEN_PATHS.has(c.req.path);
    if (!isOpen) await checkKey(c.req.raw, c.get("settings").apiKeys);
    await next();
  });

  for (const [path, handler] of Object.entries(POSTS)) {
    route(app, path, { POST: (c) => post(c, path, handler) });
  }
  route(app, "/v1/models", {
    GET: (c) => Response.json(modelList(build, c.get("settings").modelNames)),
  });
  route(app, "/v1/models/:id", {
    GET: (c) => Response.json(model(build, c.get("settings").modelNames, c.req.param("id") ?? "")),
  });
  route(app, "/config", {
    GET: async (c) => {
      const { maxBodyBytes, maxInputs, maxTokens } = c.get("settings");
      const limits = { max_body_bytes: maxBodyBytes, max_inputs: maxInputs, max_tokens: maxTokens };
      return Response.json({ ...JSON.parse((await engineOf(c)).config_summary()), limits });
    },
  });
  route(app, "/health", { GET: () => Response.json({ status: "ok", engine: shared.state }) });
  route(app, "/openapi.json", { GET: (c) => Response.json(openapi(build, c.get("settings"))) });
  route(app, "/", { GET: () => page(build) });

  app.notFound(() => {
    throw new HttpError("not_found", "No such path; /openapi.json lists them.");
  });
  app.onError((error, c) => {
    const known = asHttpError(error);
    c.set("error", known.code);
    if (known.code === "internal_error") logFault(c, error);
    return errorResponse(known);
  });
  return app;

  /**
   * @param {Context} c
   * @param {string} path
   * @param {(work: Work) => Promise<import("./answer.js").Answer>} handler
   * @returns {Promise<Response>}
   */
  async function post(c, path, handler) {
    const settings = c.get("settings");
    await checkRate(c.req.raw, c.env ?? {}, settings.apiKeys);
    const body = await readJson(c.req.raw, settings.maxBodyBytes);
    c.get("log").fields.bytes = body.bytes.length;
    let streams = false;
    try {
      const key = settings.cache ? await cacheKey(path, body.bytes, build, settings) : undefined;
      const kept = key && (await fromCache(key));
      if (kept) return kept;
      const answer = await handler(workOf(c, body.json));
      if (answer.pieces && answer.streamed) {
        streams = true;
        return streamedAnswer(c, answer.pieces, (error) => {
          body.release();
          if (error) guard(c, error);
        });
      }
      const response = await wholeAnswer(c, answer);
      if (key) keepAlive(c, intoCache(key, response));
      return response;
    } catch (error) {
      throw guard(c, error);
    } finally {
      if (!streams) body.release();
    }
  }

  /**
   * An error that is none of ours came out of the interpreter, whose state is anyone's guess from
   * then on: the next request starts another.
   *
   * @param {Context} c
   * @param {unknown} error
   * @returns {unknown} the error for the client
   */
  function guard(c, error) {
    if (error instanceof HttpError || error instanceof TernError) return error;
    shared.reset();
    logFault(c, error);
    return new HttpError("engine_unavailable", "The engine failed and is started anew; try again.", {
      headers: { "retry-after": "1" },
    });
  }

  /**
   * @param {Context} c
   * @param {Record<string, unknown>} json
   * @returns {Work}
   */
  function workOf(c, json) {
    return {
      json,
      build,
      settings: c.get("settings"),
      signal: c.req.raw.signal,
      engine: () => engineOf(c),
      note: (found) => Object.assign(c.get("log").fields, found),
    };
  }

  /** @param {Context} c */
  function engineOf(c) {
    return shared.get(c.env, (work) => keepAlive(c, work));
  }
}

/**
 * What every request gets around its answer: an id, CORS headers, a line in the log.
 *
 * @param {Context} c
 * @param {() => Promise<void>} next
 * @param {import("./settings.js").Settings} settings
 */
async function observed(c, next, settings) {
  const request = c.req.raw;
  const log = openLog(request);
  c.set("settings", settings);
  c.set("log", log);
  // Also when the client leaves: what was taken is given back, and the log gets its line.
  keepAlive(c, log.closed);
  await next();
  const response = new Response(c.res.body, c.res);
  const headers = { ...corsHeaders(request, settings.corsOrigins), "x-request-id": log.id };
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  response.headers.set("x-content-type-options", "nosniff");
  c.res = response;
  if (!c.get("streamed")) closeLog(c, response.status);
}

/**
 * A path with all that HTTP asks of it: HEAD where there is GET, OPTIONS, 405 for the rest.
 *
 * @param {Hono} app
 * @param {string} path
 * @param {Record<string, (c: Context) => Response | Promise<Response>>} methods
 */
function route(app, path, methods) {
  const names = Object.keys(methods);
  const allow = [...names, ...(names.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  app.all(path, (c) => {
    c.set("route", path);
    const { method } = c.req;
    if (method === "OPTIONS") {
      const headers = { allow, ...preflightHeaders(c.req.raw, allow) };
      return new Response(null, { status: 204, headers });
    }
    const handler = methods[method === "HEAD" ? "GET" : method];
    if (handler) return handler(c);
    throw new HttpError("method_not_allowed", `${path} takes ${allow}.`, { headers: { allow } });
  });
}

/**
 * @param {Context} c
 * @param {Promise<unknown>} work
 */
function keepAlive(c, work) {
  try {
    c.executionCtx.waitUntil(work);
  } catch {
    // Hosts without it finish what they began.
  }
}
