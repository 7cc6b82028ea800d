/** Lays vectors out on a plane. A classic worker: umap-js is no ES module. */
importScripts("vendor/umap-js.js");

addEventListener("message", async ({ data: { rows, count } }) => {
  const { layOut } = await import("./layout.js");
  const dim = rows.length / count;
  const vectors = Array.from({ length: count }, (_, i) => rows.subarray(i * dim, (i + 1) * dim));
  const points = await layOut(/** @type {any} */ (self).UMAP.UMAP, vectors, (done) => postMessage({ done }));
  postMessage({ points }, [points.buffer]);
});
