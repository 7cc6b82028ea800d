/** Drives OpenAI's own client, with its defaults, against the address and model it is given. */
import { createRequire } from "node:module";

const require = createRequire(new URL("../../worker/package.json", import.meta.url));
const OpenAI = require("openai").default;
const [baseURL, model] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey: "any" });

const answer = await client.embeddings.create({ model, input: ["a small boat", "ΟΔΟΣ"] });
const vectors = answer.data.map(({ embedding }) =>
  Buffer.from(Float32Array.from(embedding).buffer).toString("base64"),
);
const models = [];
for await (const { id } of client.models.list()) models.push(id);
const missing = await client.embeddings.create({ model: "other", input: "a" }).then(
  () => null,
  ({ status, code }) => [status, code],
);
console.log(JSON.stringify({ vectors, models, missing }));
