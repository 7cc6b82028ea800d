/**
 * Builds the project in the working folder with the tools' defaults, as far as they have any.
 *
 *     node build.mjs {vite,vite-path,webpack,esbuild,vite-dev}
 *
 * "vite-path" builds for a page at /a/path/; the others' output lies anywhere, but for Vite's own.
 * "vite-dev" serves it instead, prints the URL, and goes on until its input ends.
 */
import { cp } from "node:fs/promises";

const root = process.cwd();
const BUILDS = {
  async vite() {
    const { build } = await import("vite");
    await build({ root, logLevel: "warn" });
  },

  async "vite-path"() {
    const { build } = await import("vite");
    await build({ root, base: "/a/path/", logLevel: "warn" });
  },

  async webpack() {
    const { default: webpack } = await import("webpack");
    const compiler = webpack({
      context: root,
      mode: "production",
      entry: "./main.js",
      performance: false, // it warns of the model's size
    });
    const stats = await new Promise((resolve, reject) =>
      compiler.run((error, result) => (error ? reject(error) : resolve(result))),
    );
    if (stats.hasErrors() || stats.compilation.warnings.length > 0) {
      throw new Error(stats.toString({ all: false, errors: true, warnings: true }));
    }
    await cp("webpack.html", "dist/index.html");
  },

  async esbuild() {
    const { build } = await import("esbuild");
    await build({
      absWorkingDir: root,
      entryPoints: { app: "main.js", "engine.worker": "tern-engine/engine.worker.js" },
      bundle: true,
      format: "esm",
      minify: true,
      outdir: "dist",
      logLevel: "warning",
    });
    await cp("node_modules/tern-engine/files", "dist/files", { recursive: true });
    await cp("esbuild.html", "dist/index.html");
  },

  async "vite-dev"() {
    const { createServer } = await import("vite");
    const server = await createServer({
      root,
      logLevel: "silent",
      server: { host: "127.0.0.1", port: 0, hmr: false },
    });
    await server.listen();
    console.log(server.resolvedUrls.local[0]);
    process.stdin.resume().on("end", () => server.close().then(() => process.exit()));
  },
};

await BUILDS[process.argv[2]]();
