/** Prints what a WebAssembly module exports, and what it imports: node wasm_names.mjs FILE */
import { readFileSync } from "node:fs";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const exports = WebAssembly.Module.exports(module).map(({ name }) => name);
const imports = WebAssembly.Module.imports(module).map(({ module, name }) => `${module}.${name}`);
console.log(JSON.stringify({ exports, imports }));
