/**
 * The Worker under observation: its first module in tests that ask what it did.
 *
 * GET /probe
 *   generated  every attempt to make code at run time, also one that was caught
 *   memories   bytes of every WebAssembly memory
 *   entropy    bytes of randomness that were drawn from the host
 * GET /attempts makes such attempts itself: what the probe noted, and how the runtime refused them
 */
import worker from "./worker.js";

const generated = [];
const memories = new Set();
let entropy = 0;

/**
 * @param {any} holder
 * @param {string} name
 */
function watch(holder, name) {
  holder[name] = new Proxy(holder[name], {
    apply(target, self, list) {
      generated.push(name);
      return Reflect.apply(target, self, list);
    },
    construct(target, list) {
      generated.push(name);
      return Reflect.construct(target, list);
    },
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

const { Instance, Memory, instantiate } = WebAssembly;
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
for (const name of ["Module", "compile", "compileStreaming", "instantiateStreaming"]) {
  if (WebAssembly[name]) watch(WebAssembly, name);
}
for (const name of ["eval", "Function"]) watch(globalThis, name);

const { getRandomValues } = Crypto.prototype;
Crypto.prototype.getRandomValues = function (array) {
  entropy += array.byteLength;
  return getRandomValues.call(this, array);
};

async function attempt() {
  const empty = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
  const tries = [
    () => new WebAssembly.Module(empty),
    () => WebAssembly.compile(empty),
    () => WebAssembly.instantiate(empty),
    () => globalThis.eval("1"),
    () => globalThis.Function("return 1"),
  ];
  const refusals = [];
  for (const each of tries) {
    try {
      await each();
      refusals.push("it worked");
    } catch (error) {
      refusals.push(String(error));
    }
  }
  return { generated: generated.splice(0), refusals };
}

export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname === "/attempts") return Response.json(await attempt());
    if (pathname !== "/probe") return worker.fetch(request, env, context);
    const sizes = [...memories].map((memory) => memory.buffer.byteLength);
    return Response.json({ generated, memories: sizes, entropy });
  },
};
