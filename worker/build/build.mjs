/**
 * Bundles the Worker.
 *
 *     node worker/build/build.mjs PARTS.json OUT_DIR
 *
 * PARTS.json names what goes in: {pyodide: folder, kernels: file, build: {name, version, …}}.
 * OUT_DIR gets worker.js and, beside it, the WebAssembly modules that it imports. The static assets
 * are laid out by the caller. Fails when the bundle could generate code at run time.
 */
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { checkNoGeneration, pyodideForWorkers } from "./pyodide-plugin.mjs";

const [partsFile, outDir] = process.argv.slice(2).map((path) => resolve(path));
const parts = JSON.parse(await readFile(partsFile, "utf8"));
const worker = dirname(dirname(fileURLToPath(import.meta.url)));

await rm(outDir, { recursive: true, force: true });
await mkdir(outDir, { recursive: true });
const result = await build({
  entryPoints: [join(worker, "index.js")],
  outfile: join(outDir, "worker.js"),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  alias: { "pyodide/pyodide.asm.mjs": join(parts.pyodide, "pyodide.asm.mjs") },
  define: { TERN_BUILD: JSON.stringify(parts.build) },
  loader: { ".html": "text", ".css": "text", ".client.js": "text" },
  // host.js of the shim has a branch for Node, which a Worker never takes.
  external: ["node:*"],
  logLevel: "warning",
  plugins: [pyodideForWorkers((name, content) => writeFile(join(outDir, name), content))],
});
if (result.warnings.length > 0) process.exit(1);
checkNoGeneration(await readFile(join(outDir, "worker.js"), "utf8"), "worker.js");
await copyFile(join(parts.pyodide, "pyodide.asm.wasm"), join(outDir, "pyodide.asm.wasm"));
await copyFile(parts.kernels, join(outDir, "kernels.wasm"));
