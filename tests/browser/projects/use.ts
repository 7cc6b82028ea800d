/** Compiled against the installed package, never run. */
import { load, type Engine, type ProgressEvent, type WorkerEngine } from "tern-engine";
import { SearchIndex, type Result } from "tern-engine/search";
import tern from "tern-engine/vite";

const onProgress = ({ progress }: ProgressEvent): void => console.log(progress);
const here: Engine = await load({ onProgress });
const there: WorkerEngine = await load({ worker: { pool: 2 } });
const vector: Float32Array = here.embed("a text");
const vectors: Float32Array[] = await there.embedBatch(["a text"]);
for (const engine of [here, there]) {
  const results: Result[] = await new SearchIndex(engine).query("a text");
  console.log(results.length, vector.length, vectors.length, tern().name);
}
