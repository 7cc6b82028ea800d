/**
 * Makes an index with the built library, in Node and in a page.
 *
 *   node tests/tools/make_index.mjs --stdin < GIVEN.json
 */

/**
 * @param {string} library where dist/web lies, as a URL that import() takes
 * @param {{documents: object[], queries: string[], kind: "float32" | "int8"}} given
 * @returns the index file in hexadecimal digits, and for each query rows of id, score and the
 *   passage's range
 */
export async function makeIndex(library, { documents, queries, kind }) {
  const { load } = await import(`${library}/tern-engine.js`);
  const { SearchIndex } = await import(`${library}/search.js`);
  const engine = await load();
  const index = new SearchIndex(engine, { vectors: kind });
  await index.add(documents);
  const file = new Uint8Array(await index.save());
  const results = [];
  for (const query of queries) {
    const found = await index.query(query, { k: 20 });
    results.push(found.map(({ id, score, passage }) => [id, score, passage.start, passage.end]));
  }
  engine.dispose();
  return { file: Array.from(file, (byte) => byte.toString(16).padStart(2, "0")).join(""), results };
}

if (globalThis.process?.argv[2] === "--stdin") {
  const { text } = await import("node:stream/consumers");
  const given = JSON.parse(await text(process.stdin));
  console.log(JSON.stringify(await makeIndex("../../dist/web", given)));
}
