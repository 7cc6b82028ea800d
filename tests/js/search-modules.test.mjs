/** The modules around the index: types, and what takes the place of web/vendor/ in the site. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
// The site's copies: tools/website.py puts each in the place of its namesake in web/vendor/.
const VENDOR = { "minisearch.js": "minisearch/dist/es/index.js", "idb.js": "idb/build/index.js" };

test("JSDoc types hold, and search.d.ts agrees with the code", () => {
  const compiler = `${root}node_modules/typescript/bin/tsc`;
  const run = spawnSync(process.execPath, [compiler, "-p", `${root}tests/js/search-types`], { encoding: "utf8" });
  assert.equal(run.status, 0, run.stdout + run.stderr);
});

test("a library's ES module can stand for the file in web/vendor/: alone, with the same exports", async () => {
  for (const [name, path] of Object.entries(VENDOR)) {
    const file = `${root}node_modules/${path}`;
    assert.doesNotMatch(readFileSync(file, "utf8"), /^\s*(import|export)\b[^;]*\bfrom\b/m, `${path} imports others`);
    const [ours, theirs] = await Promise.all([import(`../../web/vendor/${name}`), import(file)]);
    assert.ok(Object.keys(ours).length > 0);
    for (const key of Object.keys(ours)) assert.equal(ours[key], theirs[key]);
  }
});

test("search.js: the names that search.d.ts declares, and no others", async () => {
  const declared = readFileSync(`${root}web/search.d.ts`, "utf8").matchAll(/^export (?:class|function|const) (\w+)/gm);
  const names = Array.from(declared, ([, name]) => name).sort();
  assert.deepEqual(Object.keys(await import("../../web/search.js")).sort(), names);
});

test("bench/search.mjs, which the stated figures come from, runs and measures every part", () => {
  const command = ["--expose-gc", `${root}bench/search.mjs`, "--passages", "3000", "--dims", "32", "--json"];
  const run = spawnSync(process.execPath, command, { encoding: "utf8" });
  assert.equal(run.status, 0, run.stderr);
  const { passages, dims, float32, int8 } = JSON.parse(run.stdout);
  assert.deepEqual([passages, dims], [3000, 32]);
  for (const kind of [float32, int8]) {
    assert.ok(kind.meaning.fastest > 0 && Number.isFinite(kind.meaning.cpu) && kind.held.heap > 0);
    assert.ok(kind.add.ms > 0 && kind.save.ms > 0 && kind.load.ms > 0 && kind.bytes > 3000);
  }
  assert.ok(float32.keyword.median > 0 && float32.hybrid.median > 0 && float32.keywordMemory.heap > 0);
  assert.ok(float32.held.buffers > int8.held.buffers);
});
