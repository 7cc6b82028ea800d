/** The built Worker, with the model and the Python files as data modules instead of static assets. */
import worker from "./endpoint.js";
import model from "./model.bin";
import python from "./python.zip";

const files = { "/model.bin": model, "/python.zip": python };
const ASSETS = { fetch: async (url) => new Response(files[new URL(url).pathname]) };

export default {
  fetch: (request, env, context) => worker.fetch(request, { ...env, ASSETS }, context),
};
