/** A small HTTP server for tests: a table of handlers, on a free port. */
import { createServer } from "node:http";

/**
 * @param {Record<string, import("node:http").RequestListener>} handlers by path
 * @returns {Promise<{url: string, requests: {path: string, cache: string | undefined}[], close(): Promise<void>}>}
 */
export async function serve(handlers) {
  const requests = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    requests.push({ path, cache: request.headers["cache-control"] });
    const handler = handlers[path];
    if (handler) handler(request, response);
    else response.writeHead(404, { "content-type": "text/plain" }).end("no such file");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Answers 200 with a body.
 *
 * @param {string | Uint8Array} body
 * @param {string} [type]
 */
export const answer =
  (body, type = "application/octet-stream") =>
  (_request, response) =>
    response.writeHead(200, { "content-type": type, "content-length": body.length }).end(body);

/** Announces `announced` bytes, sends those of `body`, and hangs up. */
export const hangUp = (body, announced) => (_request, response) => {
  response.writeHead(200, { "content-length": announced });
  response.write(body, () => setTimeout(() => response.destroy(), 20));
};

/** Sends `body` and then nothing more, for as long as the client waits. */
export const stall = (body, announced) => (_request, response) => {
  response.writeHead(200, { "content-length": announced });
  response.write(body);
};
