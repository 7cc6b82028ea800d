/**
 * Prints what V8 holds for the isolate behind an inspector, in bytes, as JSON.
 *
 *     node tests/worker/heap.mjs WEBSOCKET_URL
 *
 * heap     JavaScript objects, and what the runtime holds on their behalf
 * buffers  array buffers
 * wasm     WebAssembly memories, one number each: V8 counts them nowhere else
 */
import { createRequire } from "node:module";

const require = createRequire(new URL("../../worker/package.json", import.meta.url));
const { WebSocket } = require("ws");

const socket = new WebSocket(process.argv[2]);
await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));

const waiting = new Map();
socket.on("message", (data) => {
  const { id, result, error } = JSON.parse(String(data));
  if (error) throw new Error(error.message);
  waiting.get(id)?.(result);
});

/**
 * @param {string} method
 * @param {object} [params]
 */
function call(method, params) {
  const id = waiting.size + 1;
  socket.send(JSON.stringify({ id, method, params }));
  return new Promise((resolve) => waiting.set(id, resolve));
}

await call("Runtime.enable");
const usage = await call("Runtime.getHeapUsage");
const prototype = await call("Runtime.evaluate", { expression: "WebAssembly.Memory.prototype" });
const { objects } = await call("Runtime.queryObjects", { prototypeObjectId: prototype.result.objectId });
const { result } = await call("Runtime.callFunctionOn", {
  objectId: objects.objectId,
  functionDeclaration: "function () { return Array.from(this, (m) => m.buffer.byteLength); }",
  returnByValue: true,
});
const heap = usage.usedSize + usage.embedderHeapUsedSize;
console.log(JSON.stringify({ heap, buffers: usage.backingStorageSize, wasm: result.value }));
socket.close();
