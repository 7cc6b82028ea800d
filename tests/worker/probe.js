/**
 * The Worker under observation: its first module in tests that ask what it did. Answers GET /probe:
 *
 * generated  every attempt to make code at run time, also one that was caught
 * memories   bytes of every WebAssembly memory
 */
import worker from "./worker.js";

const generated = [];
const memories = new Set();

/** @param {string} name */
function watch(holder, name, allowed = () => false) {
  const note = (list) => {
    if (!allowed(list[0])) generated.push(name);
  };
  holder[name] = new Proxy(holder[name], {
    apply: (target, self, list) => (note(list), Reflect.apply(target, self, list)),
    construct: (target, list, kind) => (note(list), Reflect.construct(target, list, kind)),
  });
}

const isModule = (value) => value instanceof WebAssembly.Module;

/** @param {WebAssembly.Instance} instance */
function collect(instance) {
  for (const value of Object.values(instance.exports)) {
    if (value instanceof WebAssembly.Memory) memories.add(value);
  }
  return instance;
}

const { Instance, Memory, Module, instantiate } = WebAssembly;
WebAssembly.Instance = new Proxy(Instance, {
  construct: (target, list) => collect(Reflect.construct(target, list)),
});
WebAssembly.Memory = new Proxy(Memory, {
  construct(target, list) {
    const memory = Reflect.construct(target, list);
    memories.add(memory);
    return memory;
  },
});
WebAssembly.instantiate = async (source, imports) => {
  if (!isModule(source)) generated.push("instantiate");
  const result = await instantiate(source, imports);
  collect(isModule(source) ? result : result.instance);
  return result;
};
WebAssembly.Module = new Proxy(Module, {
  construct(target, list) {
    generated.push("Module");
    return Reflect.construct(target, list);
  },
});
for (const name of ["compile", "compileStreaming", "instantiateStreaming"]) {
  if (WebAssembly[name]) watch(WebAssembly, name);
}
for (const name of ["eval", "Function"]) watch(globalThis, name);

export default {
  fetch(request, env, context) {
    if (new URL(request.url).pathname !== "/probe") return worker.fetch(request, env, context);
    return Response.json({ generated, memories: [...memories].map((m) => m.buffer.byteLength) });
  },
};
