/** The Worker: the app, on the engine that was built into it. */
import { createApp } from "./app.js";
import { startEngine } from "./engine-start.js";

/* global TERN_BUILD -- set by build/build.mjs */
const { snapshot, ...build } = TERN_BUILD;

export default createApp({ startEngine: (env) => startEngine(env, snapshot), build });
