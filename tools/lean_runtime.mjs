/**
 * Pyodide's runtime without what only dynamic libraries and windows need.
 *
 *     node tools/lean_runtime.mjs PYODIDE_DIR OUT_DIR
 *
 * Writes pyodide.asm.mjs and pyodide.asm.wasm into OUT_DIR. Pyodide's wasm exports 8,560 names, nearly
 * all of them for libraries loaded later, and its script has SDL, OpenGL and the like for those. The
 * shim loads no library. Modules that the engine never imports go first (drop_unused_modules.mjs). What
 * the script itself does not use is taken out of both, in turns, until neither shrinks: a name that only a
 * removed function used goes with it. Binaryen removes functions that nothing can reach, Terser variables
 * that nothing reads. Rules that do not match as often as they should fail the build: whoever moves to
 * another Pyodide finds their new places.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import binaryen from "binaryen";
import { minify } from "terser";
import { dropUnusedModules } from "./drop_unused_modules.mjs";

// Those of the wasm: Binaryen would write what they are not for in newer ways.
const { Features } = binaryen;
const FEATURES =
  Features.MutableGlobals | Features.NontrappingFPToInt | Features.SIMD128 | Features.BulkMemory |
  Features.BulkMemoryOpt | Features.SignExt | Features.ExceptionHandling | Features.ReferenceTypes |
  Features.Multivalue | Features.CallIndirectOverlong;

// What web/pyodide-boot.js uses of Pyodide's module.
const SHIM = ["API", "FS", "ENV", "HEAPU8", "HEAPU32", "_Py_Version"];

const ASSIGN_EXPORTS = "function assignWasmExports(wasmExports){";
const IMPORTS = "var wasmImports={";

// From the import of Pyodide's core to the dictionaries of __main__ and builtins, which are had by
// running lines of Python.
const BOOTSTRAP = /let\[r,n\]=API\.rawRun\("import _pyodide_core"\);.{0,300}?__main__; .{0,100}?builtins\.__dict__"\);/g;

/** @type {readonly {why: string, find: RegExp, replace: string, count: number}[]} */
const RULES = [
  {
    why: "an eval that sees every variable keeps them all; libraries run scripts with it",
    find: /(?<![\w.$])eval\(/g,
    replace: "globalThis.eval(",
    count: 6,
  },
  {
    why: "the addresses of all exports are for libraries",
    find: /updateGOT\(origExports\);/g,
    replace: "",
    count: 1,
  },
  {
    why: "pointers to OpenGL's functions, each of which would compile a module",
    find: /if\(!dynamicLibraries\.length\)\{reportUndefinedSymbols\(\);return\}/g,
    replace: "if(!dynamicLibraries.length)return;",
    count: 1,
  },
  {
    why: "whether the function has a pointer already is found by making an object of every function",
    find: /return addFunction\(trampolineInstance\.exports\.trampoline_call\)/g,
    replace:
      "var pointer=getEmptyTableSlot();" +
      "setWasmTableEntry(pointer,trampolineInstance.exports.trampoline_call);return pointer",
    count: 1,
  },
  {
    why: "a snapshot has the modules that a start asks for, and Python's compiler is not needed to get at them",
    find: BOOTSTRAP,
    replace:
      'if(!t){let[failed,output]=API.rawRun("import _pyodide_core");failed&&API.fatal_loading_error("Failed to import _pyodide_core\\n",output)}' +
      'API.sys=API._pyodide._importhook.sys;API.importlib=API.sys.modules.get("importlib");' +
      'let o=API.importlib.import_module;API.os=o("os");let i=o("__main__").__dict__,s=o("builtins").__dict__;',
    count: 1,
  },
  {
    why: "what installs packages; a snapshot must have the objects that it takes from the script",
    find: /API\.package_loader=o\("pyodide\._package_loader"\),/g,
    replace: 'API.config._makeSnapshot&&o("pyodide._package_loader"),',
    count: 1,
  },
  {
    why: "where packages and libraries would be installed",
    find: /API\.sitepackages=API\.package_loader\.SITE_PACKAGES.{0,200}?\.join\(":"\)\),/g,
    replace: "",
    count: 1,
  },
];

/** @param {string} source */
function applyRules(source) {
  for (const { why, find, replace, count } of RULES) {
    const found = [...source.matchAll(find)].length;
    if (found !== count) throw new Error(`pyodide.asm.mjs: ${find} (${why}) matches ${found} times, expected ${count}`);
    source = source.replace(find, replace);
  }
  return source;
}

/**
 * A part of the source that begins with `start`, which ends in the brace that it closes with.
 *
 * @param {string} source
 * @param {string} start
 */
function braced(source, start) {
  const from = source.indexOf(start);
  if (from < 0) throw new Error(`pyodide.asm.mjs has no ${start}`);
  let depth = 1;
  let to = from + start.length;
  for (; depth > 0; to++) depth += source[to] === "{" ? 1 : source[to] === "}" ? -1 : 0;
  return { from, to, inside: source.slice(from + start.length, to - 1) };
}

/**
 * Names of exports that the script uses besides taking them over: anywhere, in any role.
 *
 * @param {string} source
 * @param {readonly string[]} names
 */
function usedExports(source, names) {
  const assign = braced(source, ASSIGN_EXPORTS);
  const declared = source.lastIndexOf("var ", assign.from); // the variables that they are taken over into
  const imports = braced(source, IMPORTS);
  const others = [[0, declared], [assign.to, imports.from], [imports.to, source.length]];
  const words = others.flatMap(([from, to]) => source.slice(from, to).match(/[A-Za-z_$][\w$]*/g) ?? []);
  const used = new Set([...words, ...SHIM]);
  return new Set(names.filter((name) => used.has(name) || used.has(`_${name}`)));
}

/**
 * The source without exports and imports that are not in the wasm any more, and without what is only
 * laid out in the module for libraries.
 *
 * @param {string} source
 * @param {Set<string>} exports
 * @param {Set<string>} imports
 */
function withoutUnused(source, exports, imports) {
  const replace = (/** @type {string} */ start, /** @type {string} */ separator, /** @type {(item: string) => boolean} */ keep) => {
    const { from, to, inside } = braced(source, start);
    const items = inside.split(separator).filter(keep);
    source = `${source.slice(0, from)}${start}${items.join(separator)}}${source.slice(to)}`;
  };
  replace(ASSIGN_EXPORTS, ";", (item) => {
    const name = /wasmExports\["([^"]+)"\]/.exec(item)?.[1];
    return name === undefined || exports.has(name);
  });
  replace(IMPORTS, ",", (item) => imports.has(item.split(":")[0]));
  // The signatures of the script's functions: for pointers to them.
  source = source.replace(/(?<![\w$.])[\w$]+\.sig="\w*";?/g, "");
  const all = source;
  return source.replace(/(?<![\w$.=])Module\["([\w$]+)"\]=([\w$]+);/g, (statement, name, value) => {
    const read = new RegExp(`Module(\\?\\.|\\.)${name.replaceAll("$", "\\$")}(?![\\w$])`);
    const used = name !== value || SHIM.includes(name) || read.test(all) || all.split(`Module["${name}"]`).length > 2;
    return used ? statement : "";
  });
}

/** @param {string} source */
async function shrink(source) {
  const compress = { defaults: false, unused: true, dead_code: true, side_effects: true, pure_getters: true, keep_fargs: true, passes: 3 };
  const { code } = await minify(source, { module: true, mangle: false, compress });
  return /** @type {string} */ (code);
}

/**
 * @param {Uint8Array} wasm
 * @param {Set<string>} exports
 */
function withExports(wasm, exports) {
  const module = binaryen.readBinary(wasm);
  module.setFeatures(FEATURES);
  for (const { name } of WebAssembly.Module.exports(new WebAssembly.Module(wasm))) {
    if (!exports.has(name)) module.removeExport(name);
  }
  module.runPasses(["remove-unused-module-elements", "memory-packing"]);
  const lean = module.emitBinary();
  module.dispose();
  return lean;
}

const [pyodide, out] = process.argv.slice(2).map((path) => resolve(path));
const linked = readFileSync(`${pyodide}/pyodide.asm.wasm`);
let source = applyRules(readFileSync(`${pyodide}/pyodide.asm.mjs`, "utf8"));
/** @type {Uint8Array} */
let wasm = linked;
for (let before = Infinity; source.length + wasm.length < before; ) {
  before = source.length + wasm.length;
  const module = new WebAssembly.Module(wasm);
  const names = WebAssembly.Module.exports(module).map(({ name }) => name);
  const imports = new Set(WebAssembly.Module.imports(module).map(({ name }) => name));
  source = await shrink(withoutUnused(source, usedExports(source, names), imports));
  const used = usedExports(source, names);
  if (wasm === linked) wasm = dropUnusedModules(linked, used);
  if (used.size < names.length) wasm = withExports(wasm, used);
}
const addresses = WebAssembly.Module.imports(new WebAssembly.Module(wasm)).filter(({ module }) => module.startsWith("GOT"));
if (addresses.length > 0) throw new Error(`pyodide.asm.wasm still asks for addresses: ${addresses[0].name}, …`);
writeFileSync(`${out}/pyodide.asm.mjs`, source);
writeFileSync(`${out}/pyodide.asm.wasm`, wasm);
