/** The build's rewriting of Pyodide: every rule is needed, and a changed Pyodide is noticed. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  FORBIDDEN,
  RULES,
  checkNoGeneration,
  rewrite,
} from "../../../worker/build/pyodide-plugin.mjs";

const path = new URL("../../../node_modules/pyodide/pyodide.asm.mjs", import.meta.url);
const source = readFileSync(path, "utf8");

test("the pinned Pyodide is rewritten, and the result generates no code", () => {
  const { code, trampoline } = rewrite(source);
  assert.equal(Buffer.from(trampoline).subarray(0, 4).toString("latin1"), "\0asm");
  for (const pattern of FORBIDDEN) assert.doesNotMatch(code, pattern);
  assert.match(code, /^import pyodideTrampoline from "\.\/pyodide-trampoline\.wasm";/);
});

test("a place that is gone, or comes twice, fails the build and says which and why", () => {
  for (const rule of RULES) {
    // The last one: the first place for a module of Node belongs to the rule before it.
    const match = [...source.matchAll(rule.find)].at(-1);
    const [before, after] = [source.slice(0, match.index), source.slice(match.index + match[0].length)];
    const without = `${before}0${after}`;
    // With what stands before it: a rule may look at that.
    const twice = `${before}${match[0]};${before.slice(-20)}${match[0]}${after}`;
    for (const changed of [without, twice]) {
      assert.throws(() => rewrite(changed), ({ message }) => {
        if (message.includes("no trampoline module")) return rule.name === "trampoline";
        return message.includes(`rule "${rule.name}" matches`) && message.includes(rule.why);
      });
    }
  }
});

test("what no rule knows is noticed by what it leaves", () => {
  for (const code of [
    "new WebAssembly.Module(bytes)",
    "await WebAssembly.compile(bytes)",
    "eval(text)",
    "new Function(text)",
    "import.meta.url",
    'import("./other.js")',
  ]) {
    assert.throws(() => checkNoGeneration(`let a=1;${code}`, "x.js"), /x\.js still holds/);
    assert.throws(() => rewrite(`${source};${code}`), /has changed|still holds/);
  }
  checkNoGeneration("object.eval(1); importScripts; retrieval(2); WebAssembly.instantiate(m, i)", "x.js");
});
