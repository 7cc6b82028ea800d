/** The wheel in a Pyodide of the user's own, self-hosted from dist/web/pyodide. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readJson, SITE } from "./support/site.mjs";
import { serve } from "./support/server.mjs";

const golden = readJson("tests/golden/vectors.json");
const manifest = JSON.parse(readFileSync(new URL("manifest.json", SITE), "utf8"));
const folder = fileURLToPath(new URL("pyodide/", SITE));

async function python() {
  const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", SITE).href);
  return loadPyodide({ indexURL: folder, packageBaseUrl: folder });
}

/** What a user does first, and what it must give. */
function checkPackage(python) {
  const facts = python.runPython(readFileSync(new URL("support/facts.py", import.meta.url), "utf8"));
  const found = JSON.parse(facts(golden.texts[0], 7));
  facts.destroy();
  assert.equal(found.type, "array");
  assert.equal(found.typecode, "f");
  assert.equal(found.length, 384);
  assert.equal(found.numpy, false);
  assert.deepEqual(found.hi, [101, 7632, 102]);
  assert.equal(found.fingerprint, manifest.fingerprint);
  assert.equal(found.build, "int4");
  assert.equal(found.code, "INVALID_INPUT");
  assert.equal(found.again, true);
  return found;
}

test('loadPackage("tern-engine-emb-int4"), then plain Python', async () => {
  const interpreter = await python();
  await interpreter.loadPackage("tern-engine-emb-int4", { messageCallback() {} });
  checkPackage(interpreter);
  const embed = interpreter.pyimport("tern_engine").embed;
  const hash = createHash("sha256");
  for (const text of golden.texts) {
    const vector = embed(text);
    const view = vector.getBuffer();
    hash.update(Buffer.from(view.data.buffer, view.data.byteOffset, view.data.byteLength));
    view.release();
    vector.destroy();
  }
  assert.equal(hash.digest("hex"), golden.sha256);
});

test("micropip.install of the wheel's URL", async () => {
  const wheel = readFileSync(new URL(manifest.files.wheel.path, SITE));
  const name = manifest.files.wheel.path.split("/").at(-1);
  const headers = { "content-type": "application/zip", "access-control-allow-origin": "*" };
  const server = await serve({
    [`/${name}`]: (_request, response) => response.writeHead(200, headers).end(wheel),
  });
  const interpreter = await python();
  await interpreter.loadPackage("micropip", { messageCallback() {} });
  await interpreter.pyimport("micropip").install(server.url + name);
  checkPackage(interpreter);
  await server.close();
});
