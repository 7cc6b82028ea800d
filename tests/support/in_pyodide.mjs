/**
 * Runs a file of Python in a Pyodide, and prints what its last expression gives.
 *
 *     node in_pyodide.mjs PYODIDE.MJS FILE.PY '{"stdlib": …, "unpack": …, "install": …, "globals": …}'
 *
 * Of the options, all of which may be missing, `stdlib` is the standard library to take, `unpack` a zip
 * of packages to lay beside them, `install` the name of a package that micropip installs, and `globals`
 * what the file finds defined.
 */
import { readFileSync } from "node:fs";

// Node quotes the source line of an error, which is all of Pyodide here.
process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});

const [loader, file, options] = process.argv.slice(2);
const { stdlib, unpack, install, globals = {} } = JSON.parse(options);
const { loadPyodide } = await import(loader);
const python = await loadPyodide({ stdout() {}, ...(stdlib && { stdLibURL: stdlib }) });
if (unpack !== undefined) {
  const archive = new Uint8Array(readFileSync(unpack)); // Pyodide takes no Buffer
  const extractDir = python.runPython("import site; site.getsitepackages()[0]");
  python.unpackArchive(archive, "zip", { extractDir });
}
if (install !== undefined) {
  await python.loadPackage("micropip", { messageCallback() {} });
  await python.pyimport("micropip").install(install);
}
for (const [name, value] of Object.entries(globals)) python.globals.set(name, python.toPy(value));
console.log(python.runPython(readFileSync(file, "utf8")));
