/** Compiled, never run: the hand-written declarations agree with the code, and read as meant. */
import { createLoad } from "../../web/load.js";
import { classify as classifyCode } from "../../web/classify.js";
import { Engine as EngineCode } from "../../web/engine.js";
import { TernError as TernErrorCode } from "../../web/errors.js";
import { ERROR_CODES as codes } from "../../web/errors-list.js";
import { similarity as similarityCode } from "../../web/similarity.js";
import { WorkerEngine as WorkerEngineCode } from "../../web/worker-engine.js";
import { load as loadInWorkerd } from "../../web/workerd.js";
import { ERROR_CODES, Engine, TernError, WorkerEngine, classify, load, similarity } from "../../web/tern-engine.js";
import type { LabelScore, LoadOptions, ProgressEvent } from "../../web/tern-engine.js";

// The code has what the declarations promise …
const promisedCodes: typeof ERROR_CODES = codes;
const promisedSimilarity: typeof similarity = similarityCode;
const promisedClassify: typeof classify = classifyCode;
declare const engineCode: EngineCode;
const promisedEngine: Pick<Engine, keyof Engine> = engineCode;
const promisedInWorkerd: typeof load = loadInWorkerd;
declare const workerCode: WorkerEngineCode;
const promisedWorker: Pick<WorkerEngine, keyof WorkerEngine> = workerCode;
declare const errorCode: TernErrorCode;
const promisedError: TernError = errorCode;
type Options<F extends (options?: any) => any> = NonNullable<Parameters<F>[0]>;
declare const declaredOptions: Options<typeof load>;
const acceptedOptions: Options<ReturnType<typeof createLoad>> = declaredOptions;

// … and the declarations admit what the code takes.
declare const codeOptions: Options<ReturnType<typeof createLoad>>;
const admittedOptions: LoadOptions = codeOptions;

export async function use(): Promise<void> {
  const onProgress = ({ status, file, loaded, total, progress }: ProgressEvent): string =>
    `${status} ${file} ${loaded / total} ${progress.toFixed(2)}`;
  const engine = await load({ model: "model.bin", signal: AbortSignal.timeout(1), onProgress });
  const vector: Float32Array = engine.embed("text");
  const vectors: Float32Array[] = engine.embedBatch(["a", "b"] as const);
  const ids: Uint32Array = engine.tokenize("text");
  const { tokens, truncated }: { tokens: number; truncated: boolean } = engine.tokenCount("text");
  const score: number = similarity(vector, vectors[0]) + similarity([1, 2], new Int8Array(2));
  const best: LabelScore = engine.classify("text", ["a", "b"])[0];
  const same: LabelScore[] = classify(engine, "text", ["a"]);
  const summary: string = engine.config_summary();
  // @ts-expect-error a text is a string
  engine.embed(7);
  // @ts-expect-error vectors, not texts
  similarity("a", 7);
  // @ts-expect-error no such option
  await load({ url: "." });
  // @ts-expect-error engines come from load
  new Engine();
  void [ids, tokens, truncated, score, best, same, summary, engine.dim, engine.fingerprint];
  engine.dispose();

  const remote: WorkerEngine = await load({ worker: { pool: 2 } });
  const one: WorkerEngine = await load({ worker: true });
  const here: Engine = await load({ worker: false });
  const { signal } = new AbortController();
  const far: Float32Array = await remote.embed("text", { signal });
  const onDone = (done: number, total: number): number => done / total;
  const all: Float32Array[] = await remote.embedBatch(["a"], { signal, onProgress: onDone });
  const ranked: LabelScore[] = await classify(remote, "text", { a: ["an example"] }, { threshold: 0.1 });
  // @ts-expect-error true or a number
  await load({ worker: { pool: "all" } });
  void [one, here, far, all, ranked, remote.workers];
  await remote.dispose();
}
void [promisedCodes, promisedWorker, promisedInWorkerd, promisedSimilarity, promisedClassify, promisedEngine, promisedError];
void [acceptedOptions, admittedOptions];
