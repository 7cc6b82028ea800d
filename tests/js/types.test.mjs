/** The type checker over the JavaScript and its declarations (types.check.ts says what of). */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("JSDoc types hold, and tern-engine.d.ts agrees with the code", () => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const compiler = `${root}node_modules/typescript/bin/tsc`;
  const run = spawnSync(process.execPath, [compiler, "-p", `${root}tests/js`], { encoding: "utf8" });
  assert.equal(run.status, 0, run.stdout + run.stderr);
});
