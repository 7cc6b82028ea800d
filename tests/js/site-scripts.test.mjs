/** The site's scripts: bundled, and still one library. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { ROOT, SITE, readJson } from "./support/site.mjs";

const IMPORT = /(?:^|[;}\n])(?:import|export)\b[^;"']*\bfrom\s*["']([^"']+)["']/g;
const script = (name) => readFileSync(new URL(name, SITE), "utf8");
const imports = (source) => [...source.matchAll(IMPORT)].map(([, from]) => from);

test("all that a load needs is one script, and so is its worker", () => {
  assert.deepEqual(imports(script("tern-engine.js")), []);
  assert.deepEqual(imports(script("engine.worker.js")), []);
  assert.ok(imports(script("search.js")).includes("./errors.js")); // the pattern finds some
});

test("modules that others import hand on what the one script has", async () => {
  const apart = ["sw.js", "search.js", "engine.worker.js"];
  const names = readdirSync(SITE).filter((name) => name.endsWith(".js") && !apart.includes(name));
  assert.ok(names.includes("errors.js") && !names.includes("load.js"));
  const main = await import(new URL("tern-engine.js", SITE).href);
  for (const name of names) {
    const own = await import(new URL(name, SITE).href);
    const written = await import(new URL(`web/${name}`, ROOT).href);
    for (const key of Object.keys(written)) {
      assert.ok(own[key]);
      assert.equal(own[key], main[key], `${name}: ${key}`);
    }
  }
  const { SearchIndex } = await import(new URL("search.js", SITE).href);
  assert.throws(() => new SearchIndex(3), main.TernError);
});

test("the script knows what the manifest says of the shim's files, and no more", () => {
  const { files } = readJson("dist/web/manifest.json");
  const source = script("tern-engine.js");
  for (const { path, sha256, slices } of Object.values(files)) {
    assert.equal(source.includes(path), path.startsWith("files/"), path);
    if (!path.startsWith("files/")) continue;
    for (const hash of [sha256, ...(slices?.sha256 ?? [])]) assert.ok(source.includes(hash));
  }
  assert.ok(["model", "snapshot", "pyodide.asm.wasm"].every((role) => files[role].slices.sha256.length > 10));
});

test("the npm package has the modules as they are written", () => {
  const names = readdirSync(new URL("web/", ROOT)).filter((name) => name.endsWith(".js") && name !== "packaged.js");
  for (const name of names) {
    const [packaged, written] = ["dist/npm/", "web/"].map((folder) => readFileSync(new URL(folder + name, ROOT), "utf8"));
    assert.equal(packaged, written, name);
  }
});
