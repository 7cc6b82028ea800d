/**
 * For Vite's development server: a plugin that leaves the package's files alone. Vite would move its
 * modules away from the files beside them, and rewrite Python's runtime, whose hash is checked. Builds
 * need no plugin.
 *
 *     import tern from "tern-engine/vite";
 *     export default { plugins: [tern()] };
 */
import { createReadStream } from "node:fs";

const RUNTIME = /\/files\/(pyodide\.asm\.[0-9a-f]{16}\.mjs)$/;

export default function tern() {
  return {
    name: "tern-engine",
    config: () => ({ optimizeDeps: { exclude: ["tern-engine"] } }),
    /** @param {any} server */
    configureServer(server) {
      server.middlewares.use((/** @type {any} */ request, /** @type {any} */ response, /** @type {() => void} */ next) => {
        const name = RUNTIME.exec(new URL(request.url, "http://localhost").pathname)?.[1];
        if (name === undefined) return next();
        response.setHeader("content-type", "text/javascript");
        createReadStream(new URL(`files/${name}`, import.meta.url)).on("error", next).pipe(response);
      });
    },
  };
}
