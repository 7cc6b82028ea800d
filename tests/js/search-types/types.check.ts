/** Compiled, never run: search.d.ts agrees with the code, and reads as meant. */
import * as fusion from "../../../web/fusion.js";
import * as sentences from "../../../web/sentences.js";
import * as code from "../../../web/search-index.js";
import * as store from "../../../web/store.js";
import * as words from "../../../web/words.js";
import { IndexStore, RRF_K, SearchIndex, markRanges, openIndexStore, splitSentences } from "../../../web/search.js";
import type { Document, QueryOptions, Result, SearchEngine } from "../../../web/search.js";
import type { Engine } from "../../../web/tern-engine.js";

// The code has what the declarations promise …
declare const codeIndex: code.SearchIndex;
const promisedIndex: Pick<SearchIndex, keyof SearchIndex> = codeIndex;
declare const codeStore: store.IndexStore;
const promisedStore: Omit<Pick<IndexStore, keyof IndexStore>, "save"> = codeStore;
const promisedSplit: typeof splitSentences = sentences.splitSentences;
const promisedMark: typeof markRanges = words.markRanges;
const promisedK: typeof RRF_K = fusion.RRF_K;
// … and takes what they admit.
declare const declaredIndexOptions: NonNullable<ConstructorParameters<typeof SearchIndex>[1]>;
new code.SearchIndex({} as SearchEngine, declaredIndexOptions);
const load: (...args: Parameters<typeof SearchIndex.load>) => Promise<unknown> = code.SearchIndex.load;
const open: (...args: Parameters<typeof openIndexStore>) => Promise<unknown> = store.openIndexStore;
// The other way round, nothing that the code takes is left out.
declare const codeQueryOptions: NonNullable<Parameters<code.SearchIndex["query"]>[1]>;
const admittedQuery: QueryOptions = codeQueryOptions;
declare const codeAddOptions: NonNullable<Parameters<code.SearchIndex["add"]>[1]>;
const admittedAdd: Parameters<SearchIndex["add"]>[1] = codeAddOptions;
declare const codeEngine: ConstructorParameters<typeof code.SearchIndex>[0];
const admittedEngine: SearchEngine = codeEngine;
declare const codeResult: Awaited<ReturnType<code.SearchIndex["query"]>>[number];
const promisedResult: Required<Result> = codeResult as Required<typeof codeResult>;

export async function use(engine: Engine): Promise<void> {
  const index = new SearchIndex(engine, { vectors: "int8" });
  const document: Document = { id: "1", text: "text", meta: { year: 2024 } };
  await index.add([document], { onProgress: ({ done, total }) => void (done / total) });
  const results: Result[] = await index.query("text", { mode: "hybrid", filter: ({ meta }) => meta?.year > 2000 });
  const pieces: string[] = markRanges(results[0].passage?.text ?? "", results[0].highlights).map((p) => p.text);
  const again: SearchIndex = await SearchIndex.load(engine, await index.save());
  const database = await openIndexStore();
  await database.save("mine", again);
  // @ts-expect-error an id is a string
  await index.add({ id: 1, text: "text" });
  // @ts-expect-error no such mode
  await index.query("text", { mode: "both" });
  // @ts-expect-error stores come from openIndexStore
  new IndexStore();
  void [pieces, await index.query(engine.embed("text"))];
}
void [promisedIndex, promisedStore, promisedSplit, promisedMark, promisedK, load, open];
void [admittedQuery, admittedAdd, admittedEngine, promisedResult];
