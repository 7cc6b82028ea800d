/**
 * A plugin for Vite's development server, which would move the package's modules away from the files
 * beside them, and look for Node's modules in Python's runtime. Builds need no plugin.
 *
 *     import tern from "tern-engine/vite";
 *     export default { plugins: [tern()] };
 */
import { createReadStream } from "node:fs";

const SCRIPT = /\/tern-engine\/(files\/pyodide\.asm\.[0-9a-f]{16}\.mjs)$/;

export default function tern() {
  return {
    name: "tern-engine",
    apply: /** @type {const} */ ("serve"),
    config: () => ({ optimizeDeps: { exclude: ["tern-engine"] } }),
    /** @param {any} server */
    configureServer(server) {
      server.middlewares.use(sendScript);
    },
  };
}

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 * @param {() => void} next
 */
function sendScript(request, response, next) {
  const path = SCRIPT.exec(new URL(request.url ?? "/", "http://localhost").pathname)?.[1];
  if (path === undefined) return next();
  response.setHeader("content-type", "text/javascript");
  createReadStream(new URL(path, import.meta.url)).on("error", next).pipe(response);
}
