/**
 * Prints what the library in a folder says of itself, and a text's vector.
 *
 *     node embed_with.mjs FOLDER TEXT
 */
import { pathToFileURL } from "node:url";

const [folder, text] = process.argv.slice(2);
const { load } = await import(pathToFileURL(`${folder}/tern-engine.js`).href);
const engine = await load();
const vector = await engine.embed(text);
console.log(JSON.stringify({ summary: JSON.parse(engine.config_summary()), vector: Array.from(vector) }));
engine.dispose();
