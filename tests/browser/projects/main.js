// What a user's first page does: the engine here, the engine in a worker, a search.
import { load, similarity, TernError } from "tern-engine";
import { SearchIndex } from "tern-engine/search";

async function main() {
  const here = await load();
  const there = await load({ worker: true });
  const query = here.embed("a small boat");
  const same = (await there.embed("a small boat")).join() === query.join();
  const index = new SearchIndex(there);
  await index.add([
    { id: "ferry", text: "The ferry leaves at nine." },
    { id: "soup", text: "Boil the beets for an hour." },
  ]);
  const [best] = await index.query("boat departure");
  const error = await load({ worker: true, model: new Uint8Array(9) }).catch((reason) => reason);
  await there.dispose();
  return {
    same,
    near: similarity(query, here.embed("a little ship")) > similarity(query, here.embed("algebra")),
    best: best.id,
    code: error instanceof TernError && error.code,
  };
}

main().then(
  (result) => (document.body.dataset.result = JSON.stringify(result)),
  (error) => (document.body.dataset.result = JSON.stringify(`${error.code} ${error.message}`)),
);
