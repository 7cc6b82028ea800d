/**
 * An esbuild plugin that makes Pyodide run where no code may be generated.
 *
 * A Worker gets its WebAssembly as imported modules: `new WebAssembly.Module(bytes)`, `eval` and the
 * like are refused. Pyodide's script uses them in a handful of places, most of which a start without
 * dynamic libraries never reaches. The rules below rewrite each of them. A rule that does not match
 * exactly as often as it should, and a construct that is left over, fails the build: whoever moves
 * to another Pyodide reads the rule's reason and finds its new place.
 */
import { readFile } from "node:fs/promises";

const TRAMPOLINE_FILE = "pyodide-trampoline.wasm";

/**
 * @typedef {object} Rule
 * @property {string} name
 * @property {string} why
 * @property {RegExp} find with flag g
 * @property {string} replace
 * @property {number} count
 */

/** @type {readonly Rule[]} */
export const RULES = [
  {
    name: "trampoline",
    why: "CPython calls C functions through a small module that Pyodide compiles from hex digits",
    find: /new WebAssembly\.Module\(hexStringToUTF8Array\("[0-9a-f]+"\)\)/g,
    replace: "pyodideTrampoline",
    count: 1,
  },
  {
    name: "function pointers of JavaScript",
    why: "each would need a module compiled for its signature; only ctypes callbacks and GL use them",
    find: /var convertJsFunctionToWasm=\(func,sig\)=>\{.*?return wrappedFunc\};/g,
    replace: 'var convertJsFunctionToWasm=(func,sig)=>refused("a function pointer of type "+sig);',
    count: 1,
  },
  {
    name: "unresolved symbols",
    why: "at the start, those are pointers to GL functions, which a Worker lacks: they become null",
    find: /if\(!dynamicLibraries\.length\)\{reportUndefinedSymbols\(\);return\}/g,
    replace:
      "if(!dynamicLibraries.length){for(const entry of Object.values(GOT))" +
      "if(entry.value==-1)entry.value=0;return}",
    count: 1,
  },
  {
    name: "stack switching",
    why: "whether it is there is found out by compiling an empty module; the engine has no use for it",
    find: /var canConstructWasm=true;try\{new WebAssembly\.Module\(.*?\)\}catch\(e\)\{canConstructWasm=false\}/g,
    replace: "var canConstructWasm=false;",
    count: 1,
  },
  {
    name: "dynamic library",
    why: "its code would be compiled at run time",
    find: /binary instanceof WebAssembly\.Module\?binary:new WebAssembly\.Module\(binary\)/g,
    replace: 'binary instanceof WebAssembly.Module?binary:refused("a dynamic library")',
    count: 1,
  },
  {
    name: "dynamic library, asynchronously",
    why: "as above",
    find: /await WebAssembly\.instantiate\(binary,info\)/g,
    replace: 'refused("a dynamic library")',
    count: 1,
  },
  {
    name: "fetching pyodide.asm.wasm",
    why: "the module is imported and handed to instantiateWasm",
    find: /await WebAssembly\.instantiate(Streaming\(response|\(binary),imports\)/g,
    replace: 'refused("pyodide.asm.wasm")',
    count: 2,
  },
  {
    name: "eval",
    why: "runs the scripts of dynamic libraries and emscripten_run_script",
    find: /(?<![\w.$])eval\(/g,
    replace: 'refused("eval",',
    count: 6,
  },
  {
    name: "require of Node",
    why: "workerd offers no node:module unless a flag asks for it",
    find: /const\{createRequire\}=await import\("node:module"\);var require=createRequire\(import\.meta\.url\)/g,
    replace: "",
    count: 1,
  },
  {
    name: "modules of Node",
    why: "as above",
    find: /(?<![\w.$])import\("(node:[a-z_/]+|ws)"\)/g,
    replace: 'refused("the module $1")',
    count: 11,
  },
  {
    name: "scripts by their address",
    why: "a Worker can import nothing that was not uploaded with it",
    find: /await import\((t|gr\.pathToFileURL\(t\)\.href)\)/g,
    replace: 'refused("a script")',
    count: 3,
  },
  {
    name: "address of the script",
    why: "modules of a Worker have none; it only serves to find files that are not looked for",
    find: /(?<=var _scriptName=|"pyodide\.asm\.wasm",)import\.meta\.url/g,
    replace: '"https://pyodide.invalid/"',
    count: 2,
  },
  {
    name: "message listener",
    why: "workerd refuses listeners that capture; setImmediate is used by main loops only",
    find: /else if\(globalThis\.addEventListener\)\{var __setImmediate_id_counter/g,
    replace: "else if(false){var __setImmediate_id_counter",
    count: 1,
  },
  {
    name: "message channel",
    why: "it would belong to the request that started Python, and be dead in every later one",
    find: /typeof globalThis\.MessageChannel=="function"&&\(Q=new MessageChannel/g,
    replace: "false&&(Q=new MessageChannel",
    count: 1,
  },
];

/** What must not be left in any script of the Worker. */
export const FORBIDDEN = [
  /new WebAssembly\.Module\(/,
  /WebAssembly\.(compile|compileStreaming|instantiateStreaming)\(/,
  /(?<![\w.$])eval\(/,
  /new Function\(/,
  /(?<![\w.$])Function\(["'`]/,
  /import\.meta/,
  /(?<![\w.$])import\(/,
];

const PREAMBLE = `import pyodideTrampoline from "./${TRAMPOLINE_FILE}";
const refused = (what) => {
  throw new Error("a Worker generates no code at run time: " + what + " was asked for");
};
`;

/**
 * @param {string} source pyodide.asm.mjs
 * @returns {{code: string, trampoline: Uint8Array}} the script, and the module it imports
 * @throws {Error} naming the rule that did not match, or what was left over
 */
export function rewrite(source) {
  const hex = /hexStringToUTF8Array\("([0-9a-f]+)"\)/.exec(source)?.[1];
  if (hex === undefined) throw new Error("pyodide.asm.mjs holds no trampoline module in hex digits");
  let code = source;
  for (const { name, why, find, replace, count } of RULES) {
    const found = code.match(find)?.length ?? 0;
    if (found !== count) {
      throw new Error(
        `pyodide.asm.mjs has changed: rule "${name}" matches ${found} times, expected ${count}. ` +
          `It is there because: ${why}.`,
      );
    }
    code = code.replace(find, replace);
  }
  checkNoGeneration(code, "pyodide.asm.mjs");
  return { code: PREAMBLE + code, trampoline: Buffer.from(hex, "hex") };
}

/**
 * @param {string} code
 * @param {string} name
 * @throws {Error} when the script could generate code
 */
export function checkNoGeneration(code, name) {
  for (const pattern of FORBIDDEN) {
    const at = code.search(pattern);
    if (at >= 0) {
      const excerpt = code.slice(Math.max(0, at - 60), at + 60);
      throw new Error(`${name} still holds ${pattern}, which a Worker refuses: …${excerpt}…`);
    }
  }
}

/**
 * @param {(name: string, content: Uint8Array) => Promise<void>} emit writes a module beside the script
 * @returns {import("esbuild").Plugin}
 */
export function pyodideForWorkers(emit) {
  return {
    name: "pyodide-for-workers",
    setup(build) {
      build.onLoad({ filter: /[\\/]pyodide\.asm\.mjs$/ }, async ({ path }) => {
        const { code, trampoline } = rewrite(await readFile(path, "utf8"));
        await emit(TRAMPOLINE_FILE, trampoline);
        return { contents: code, loader: "js" };
      });
      // Modules that are uploaded as they are, beside the script.
      build.onResolve({ filter: /\.(wasm|bin|zip)$/ }, ({ path }) => ({
        path: `./${path.split("/").pop()}`,
        external: true,
      }));
    },
  };
}
