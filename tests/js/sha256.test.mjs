import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { hex, sha256, sha256Plain } from "../../web/sha256.js";

const expected = (bytes) => createHash("sha256").update(bytes).digest("hex");

test("known digests", async () => {
  const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  assert.equal(hex(sha256Plain(new Uint8Array(0))), empty);
  assert.equal(await sha256(new Uint8Array(0)), empty);
});

test("without the platform's help: every length around the block size, and views into buffers", () => {
  const source = randomBytes(600);
  for (let length = 0; length < 400; length++) {
    const bytes = source.subarray(7, 7 + length);
    assert.equal(hex(sha256Plain(bytes)), expected(bytes));
  }
  const large = randomBytes(1_000_003);
  assert.equal(hex(sha256Plain(large)), expected(large));
});

test("a page without crypto.subtle gets the same digest", async () => {
  const bytes = randomBytes(1000);
  const crypto = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value: undefined, configurable: true });
  try {
    assert.equal(await sha256(bytes), expected(bytes));
  } finally {
    Object.defineProperty(globalThis, "crypto", crypto);
  }
  assert.equal(await sha256(bytes), expected(bytes));
});
