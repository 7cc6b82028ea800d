/**
 * Bundles the shim's modules in a site that is otherwise finished, so that a page has one script to fetch
 * before it knows what else it needs.
 *
 *     node tools/bundle_shim.mjs SITE
 *
 * tern-engine.js has all that a load needs in it, and what the manifest says. search.js and the demo share
 * modules with it: these files stay, and hand on what lies in tern-engine.js, so that there is one
 * TernError. A worker shares nothing with its page; engine.worker.js has its own copy of everything.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const MAIN = "tern-engine.js";
const SHARED = ["classify.js", "errors-list.js", "errors.js", "fetch-file.js", "host.js", "sha256.js", "similarity.js"];
const OTHERS = { "search.js": SHARED, "engine.worker.js": [] };
// Of no use in a site: the packages' own entries.
const PACKAGES = ["vite.js", "vite.d.ts", "workerd.js"];

const site = resolve(process.argv[2]);
const { files } = JSON.parse(readFileSync(join(site, "manifest.json"), "utf8"));
const own = Object.entries(files).filter(([, { path }]) => path.startsWith("files/"));
const manifest = JSON.stringify({ files: Object.fromEntries(own) });

/**
 * @param {string} name of the bundle
 * @param {object} source options of esbuild's that say what goes in
 * @param {string[]} external modules that stay files of their own
 */
async function bundle(name, source, external) {
  const { outputFiles, metafile } = await build({
    ...source,
    absWorkingDir: site,
    bundle: true,
    define: { "globalThis.TERN_MANIFEST": manifest },
    external: ["./vendor/*", ...external.map((name) => `./${name}`)],
    format: "esm",
    legalComments: "none",
    metafile: true,
    minifySyntax: true,
    minifyWhitespace: true,
    outfile: name,
    sourcemap: "linked",
    target: "es2022",
    write: false,
  });
  const modules = Object.keys(metafile.inputs).filter((path) => path.endsWith(".js"));
  return { files: outputFiles, modules };
}

const handOn = SHARED.map((name) => `export * from "./${name}";`).join("\n");
const contents = `export * from "./${MAIN}";\n${handOn}`;
const bundles = [
  await bundle(MAIN, { stdin: { contents, resolveDir: site } }, []),
  ...(await Promise.all(Object.entries(OTHERS).map(([name, external]) => bundle(name, { entryPoints: [name] }, external)))),
];
const [main, search] = bundles;
const twice = search.modules.filter((name) => main.modules.includes(name));
if (twice.length > 0) throw new Error(`search.js and tern-engine.js would both have ${twice.join(", ")}: add to SHARED`);
const stubs = await Promise.all(
  SHARED.map(async (name) => {
    const names = Object.keys(await import(pathToFileURL(join(site, name)).href));
    return { path: join(site, name), text: `export { ${names.join(", ")} } from "./${MAIN}";\n` };
  }),
);

const inside = new Set(bundles.flatMap(({ modules }) => modules));
for (const name of [...inside, ...PACKAGES]) rmSync(join(site, name));
for (const { path, text } of [...bundles.flatMap(({ files }) => files), ...stubs]) writeFileSync(path, text);
