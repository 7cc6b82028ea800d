/**
 * Compiles Python to bytecode inside Pyodide itself, since bytecode fits one Python version only.
 *
 *     node tools/precompile.mjs {stdlib,engine} PYODIDE_DIR PACKAGE.zip OUT_DIR
 *
 * "stdlib" writes into OUT_DIR
 *   python_stdlib.zip          the whole standard library as .pyc; boots in a third of the time
 * and "engine"
 *   python_stdlib_engine.zip   of it what Pyodide's own packages and PACKAGE.zip import
 *   package.zip                PACKAGE.zip with its .py compiled
 * The zips are stored, not deflated: Python reads them without inflating, and servers compress them
 * better. The .pyc are unchecked: Python looks for no source beside them. The same input gives the
 * same bytes. "engine" has the lines of its code but not the columns, a quarter of its size compressed:
 * tracebacks point at columns only beside a source.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

// Node would quote the source line of an error, which is all of Pyodide.
process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});

const part = process.argv[2];
const [pyodideDir, packageZip, outDir] = process.argv.slice(3).map((path) => resolve(path));
const { loadPyodide } = await import(pathToFileURL(`${pyodideDir}/pyodide.mjs`).href);
const env = part === "engine" ? { PYTHONNODEBUGRANGES: "1" } : {};
const python = await loadPyodide({ env, indexURL: `${pyodideDir}/` });
const script = new URL("./precompile_inside.py", import.meta.url);
python.FS.writeFile("/package.zip", readFileSync(packageZip));
python.FS.writeFile("/precompile_inside.py", readFileSync(script));
python.runPython(`import sys; sys.path.insert(0, "/"); import precompile_inside`);
python.runPython(`precompile_inside.main("${part}")`);
for (const name of python.FS.readdir("/out").filter((entry) => entry.endsWith(".zip"))) {
  writeFileSync(`${outDir}/${name}`, python.FS.readFile(`/out/${name}`));
}
