/** The description of the endpoint that clients and generators read: GET /openapi.json. */
import { HTTP_ERRORS } from "./errors.js";

const text = (description, example) => ({ type: "string", description, example });
const texts = (description, settings, example) => ({
  type: "array",
  items: { type: "string" },
  maxItems: settings.maxInputs,
  description,
  example,
});
const orNull = (schema) => ({ ...schema, type: [schema.type, "null"] });
const object = (properties, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
});
const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema) => ({ "application/json": { schema } });

/**
 * @param {import("./app.js").Build} build
 * @param {import("./settings.js").Settings} settings
 * @returns {Record<string, unknown>}
 */
export function openapi(build, settings) {
  return {
    openapi: "3.1.0",
    info: {
      title: "Sentence embeddings",
      version: build.version,
      description:
        `Texts into vectors of ${build.dim} numbers and length 1. Fields not listed here are ignored. ` +
        "A text of more tokens than the model reads is cut; x-truncated counts those that were. " +
        "A lone surrogate in a text stands for itself: it is a character that the model does not know.",
    },
    ...(settings.apiKeys !== null ? { security: [{ key: [] }] } : {}),
    paths: paths(build, settings),
    components: {
      schemas: schemas(build),
      headers: headers(),
      ...(settings.apiKeys !== null
        ? { securitySchemes: { key: { type: "http", scheme: "bearer" } } }
        : {}),
    },
  };
}

/**
 * @param {import("./app.js").Build} build
 * @param {import("./settings.js").Settings} settings
 */
function paths(build, settings) {
  const post = (summary, request, response) => ({
    post: {
      summary,
      requestBody: { required: true, content: json(request) },
      responses: {
        200: { description: "The answer", content: json(response), headers: answerHeaders() },
        ...failures(400, 408, 413, 415, 429, 503),
        ...(settings.apiKeys !== null ? failures(401) : {}),
      },
    },
  });
  const get = (summary, response, ...statuses) => ({
    get: {
      summary,
      responses: {
        200: { description: "The answer", content: response },
        ...failures(...statuses),
        ...(settings.apiKeys !== null && statuses.length > 0 ? failures(401) : {}),
      },
    },
  });
  const embeddings = post("Embeddings, as in OpenAI's API", embeddingsRequest(build, settings), ref("EmbeddingList"));
  Object.assign(embeddings.post.responses, failures(404));
  return {
    "/v1/embeddings": embeddings,
    "/v1/models": get("The models", json(ref("ModelList")), 503),
    "/v1/models/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: { enum: settings.modelNames } }],
      ...get("One model", json(ref("Model")), 404),
    },
    "/embed": post("The embedding of a text, or of each of several", embedRequest(settings), embedResponse()),
    "/tokenize": post(
      "The ids that the model sees",
      object({ text: text("The text", "a small boat") }),
      object({
        ids: { type: "array", items: { type: "integer" } },
        tokens: { type: "integer" },
        truncated: { type: "boolean" },
      }),
    ),
    "/similarity": post(
      "The cosine of two texts, or of two vectors",
      similarityRequest(),
      object({ similarity: { type: "number", minimum: -1, maximum: 1 } }),
    ),
    "/classify": post(
      "Labels, the nearest in meaning first",
      classifyRequest(settings),
      object({ labels: { type: "array", items: object({ label: { type: "string" }, score: { type: "number" } }) } }),
    ),
    "/search": post(
      "Documents, the nearest in meaning first",
      object(
        {
          query: text("What is sought", "a place to sleep"),
          documents: texts("The texts to rank", settings, ["a hotel", "a soup"]),
          top_k: { ...orNull({ type: "integer" }), minimum: 1, maximum: settings.maxInputs },
        },
        ["query", "documents"],
      ),
      object({ results: { type: "array", items: object({ index: { type: "integer" }, score: { type: "number" } }) } }),
    ),
    "/config": get("Model, build and limits", json({ type: "object" }), 503),
    "/health": get(
      "Whether the endpoint is up; starts nothing",
      json(object({ status: { const: "ok" }, engine: { enum: ["cold", "starting", "ready"] } })),
    ),
    "/openapi.json": get("This description", json({ type: "object" })),
    "/": get("A page for people", { "text/html": { schema: { type: "string" } } }),
  };
}

/**
 * @param {import("./app.js").Build} build
 * @param {import("./settings.js").Settings} settings
 */
function embeddingsRequest(build, settings) {
  return object(
    {
      model: { enum: settings.modelNames },
      input: {
        anyOf: [text("One text", "a small boat"), texts("Several texts", settings, ["a boat", "a ship"])],
        description: "Arrays of token ids are refused.",
      },
      encoding_format: {
        enum: ["float", "base64", null],
        description: "base64: little-endian float32. Default: float.",
      },
      dimensions: {
        ...orNull({ type: "integer" }),
        minimum: 1,
        maximum: build.dim,
        description:
          "Keeps the first elements only, scaled to length 1 again. The model was not trained for " +
          "that: fewer dimensions cost quality.",
      },
      user: { ...orNull({ type: "string" }), description: "Accepted, and not used." },
    },
    ["model", "input"],
  );
}

/** @param {import("./settings.js").Settings} settings */
function embedRequest(settings) {
  const several = texts("Several texts", { maxInputs: Math.min(settings.maxInputs, 256) }, ["a boat"]);
  return {
    type: "object",
    anyOf: [
      { properties: { texts: several }, required: ["texts"] },
      { properties: { text: text("One text", "a small boat"), texts: { type: "null" } }, required: ["text"] },
    ],
  };
}

function embedResponse() {
  return {
    anyOf: [ref("Embedded"), object({ embeddings: { type: "array", items: ref("Embedded") } })],
  };
}

/** @param {import("./settings.js").Settings} settings */
function classifyRequest(settings) {
  const labels = texts("Texts themselves", settings, ["a complaint about delivery", "praise"]);
  const examples = {
    type: "object",
    additionalProperties: { type: "array", items: { type: "string" }, minItems: 1 },
    description: `Examples by label, which then speak for it: ${settings.maxInputs} of them in all`,
  };
  return object(
    {
      text: text("The text", "my parcel never came"),
      labels: { anyOf: [labels, examples] },
      threshold: { ...orNull({ type: "number" }), description: "Labels that score less are left out" },
    },
    ["text", "labels"],
  );
}

function similarityRequest() {
  const vector = {
    type: "array",
    items: { type: "number" },
    minItems: 3,
    maxItems: 3,
    description: "Of the same length, whatever it is",
  };
  return {
    anyOf: [
      object({ a: text("A text", "a boat"), b: text("Another", "a ship") }),
      object({ a: vector, b: vector }),
    ],
  };
}

/** @param {import("./app.js").Build} build */
function schemas(build) {
  const usage = object({ prompt_tokens: { type: "integer" }, total_tokens: { type: "integer" } });
  const vector = { type: "array", items: { type: "number" } };
  const embedding = object({
    object: { const: "embedding" },
    index: { type: "integer" },
    embedding: { anyOf: [vector, { type: "string", contentEncoding: "base64" }] },
  });
  return {
    EmbeddingList: object({
      object: { const: "list" },
      data: { type: "array", items: embedding },
      model: { type: "string" },
      usage,
    }),
    Embedded: object({
      embedding: { ...vector, minItems: build.dim, maxItems: build.dim },
      tokens: { type: "integer" },
      truncated: { type: "boolean" },
    }),
    Model: object({
      id: { type: "string" },
      object: { const: "model" },
      created: { type: "integer" },
      owned_by: { type: "string" },
    }),
    ModelList: object({ object: { const: "list" }, data: { type: "array", items: ref("Model") } }),
    Error: object({
      error: object({
        message: { type: "string" },
        type: { type: "string" },
        param: { type: ["string", "null"] },
        code: { type: "string", description: "Capitals: the engine's code. Small letters: HTTP's." },
      }),
    }),
  };
}

function headers() {
  return {
    "x-request-id": { schema: { type: "string" }, description: "Names the log entry" },
    "x-truncated": { schema: { type: "string" }, description: "How many texts were cut" },
    "x-truncated-inputs": {
      schema: { type: "string" },
      description:
        "Which: the first 100 indices in input, texts, documents or labels; examples by label are " +
        "counted through, label by label, and a and b are 0 and 1",
    },
    "x-truncated-query": {
      schema: { const: "true" },
      description: "There when the query of /search or the text of /classify was cut",
    },
  };
}

function answerHeaders() {
  return Object.fromEntries(
    Object.keys(headers()).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** @param {number[]} statuses */
function failures(...statuses) {
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = Object.entries(HTTP_ERRORS).filter(([, kind]) => kind.status === status);
      if (status === 400) codes.push(["INVALID_INPUT", { status, meaning: "A field is wrong." }]);
      const description = codes.map(([code, { meaning }]) => `${code}: ${meaning}`).join(" ");
      return [status, { description, content: json(ref("Error")) }];
    }),
  );
}
