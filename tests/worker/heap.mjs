/**
 * Prints what V8 holds for the isolate behind an inspector, in bytes, as JSON.
 *
 *     node tests/worker/heap.mjs WEBSOCKET_URL
 *
 * heap     JavaScript objects, and what the runtime holds on their behalf
 * buffers  array buffers; not WebAssembly memories, which V8 counts apart
 */
import { createRequire } from "node:module";

const require = createRequire(new URL("../../worker/package.json", import.meta.url));
const { WebSocket } = require("ws");

const socket = new WebSocket(process.argv[2]);
await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
socket.send(JSON.stringify({ id: 1, method: "Runtime.getHeapUsage" }));
const message = await new Promise((resolve) => socket.once("message", resolve));
const { usedSize, embedderHeapUsedSize, backingStorageSize } = JSON.parse(String(message)).result;
console.log(JSON.stringify({ heap: usedSize + embedderHeapUsedSize, buffers: backingStorageSize }));
socket.close();
