/** The text of PDF files, by pdf.js, which is fetched with the first of them. */
import { failure } from "./failure.js";

/**
 * @param {Uint8Array} bytes
 * @returns {AsyncGenerator<import("./readers.js").Part>} a part a page
 */
export async function* pdfPages(bytes) {
  const { getDocument, GlobalWorkerOptions } = await import("./vendor/pdf.mjs");
  GlobalWorkerOptions.workerSrc = new URL("vendor/pdf.worker.mjs", import.meta.url).href;
  const task = getDocument({
    data: bytes,
    isEvalSupported: false,
    useSystemFonts: true,
    disableFontFace: true,
    verbosity: 0,
    // No document here to make elements in.
    ownerDocument: /** @type {any} */ ({ fonts: new Set(), createElement: () => null }),
  });
  try {
    const pdf = await task.promise;
    const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
    const title = String(/** @type {{Title?: string}} */ (info)?.Title ?? "");
    for (let page = 1; page <= pdf.numPages; page++) {
      const content = await (await pdf.getPage(page)).getTextContent();
      yield { text: joined(content.items), title, place: `page ${page}` };
    }
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    if (name === "PasswordException") throw failure("PDF_PASSWORD", "it is protected with a password");
    throw failure("PDF_DAMAGED", message);
  } finally {
    await task.destroy();
  }
}

/**
 * Lines joined to paragraphs; words cut at a line's end made whole.
 *
 * @param {any[]} items
 */
function joined(items) {
  const text = items.map(({ str = "", hasEOL = false }) => str + (hasEOL ? "\n" : "")).join("");
  return text
    .replace(/(\p{Ll})-\n(?=\p{Ll})/gu, "$1")
    .replace(/(?<![.!?:。])\n(?!\n)/g, " ")
    .replace(/[ \t]+/g, " ");
}
