/** HTML to text without a DOM: workers have none, and a page's parser would hold up the page. */

const SKIPPED = /<(script|style|noscript|template|svg|head|title)\b[^>]*>[\s\S]*?<\/\1\s*>/gi;
const BLOCK = /<\/?(?:p|div|section|article|main|header|footer|aside|nav|ul|ol|li|dl|dt|dd|table|tr|td|th|blockquote|pre|figure|figcaption|form|hr|br|h[1-6])\b[^>]*>/gi;
const HEADING = /<h([1-6])\b[^>]*>([\s\S]*?)<\/h\1\s*>/gi;

// The names of U+00A0 … U+00FF, in order.
const LATIN =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";
/** @type {Map<string, string>} */
const NAMED = new Map([
  ...LATIN.split(" ").map((name, i) => /** @type {[string, string]} */ ([name, String.fromCharCode(0xa0 + i)])),
  ["amp", "&"], ["lt", "<"], ["gt", ">"], ["quot", '"'], ["apos", "'"],
  ["ndash", "–"], ["mdash", "—"], ["lsquo", "‘"], ["rsquo", "’"], ["sbquo", "‚"],
  ["ldquo", "“"], ["rdquo", "”"], ["bdquo", "„"], ["hellip", "…"], ["bull", "•"],
  ["euro", "€"], ["trade", "™"], ["minus", "−"], ["rarr", "→"], ["larr", "←"], ["oelig", "œ"],
  ["OElig", "Œ"], ["scaron", "š"], ["Scaron", "Š"], ["ensp", " "], ["emsp", " "], ["thinsp", " "],
]);

/**
 * @param {string} html
 * @returns {{title: string, text: string}} headings are marked as in Markdown, paragraphs are apart
 */
export function htmlToText(html) {
  const title = /<title\b[^>]*>([\s\S]*?)<\/title\s*>/i.exec(html)?.[1] ?? "";
  const text = html
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(SKIPPED, "\n\n")
    .replace(/\s+/g, " ")
    .replace(HEADING, (_, level, inner) => `\n\n${"#".repeat(Number(level))} ${inner.replace(/<[^>]*>/g, " ")}\n\n`)
    .replace(BLOCK, "\n\n")
    .replace(/<[^>]*>/g, "");
  const lines = decodeEntities(text).split(/\n\n/).map((line) => line.replace(/[ \t]+/g, " ").trim());
  return { title: decodeEntities(title).replace(/\s+/g, " ").trim(), text: lines.filter(Boolean).join("\n\n") };
}

/** @param {string} text */
function decodeEntities(text) {
  return text.replace(/&(#x[\da-f]+|#\d+|\w+);/gi, (whole, name) => {
    if (name[0] !== "#") return NAMED.get(name) ?? whole;
    const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : parseInt(name.slice(1), 10);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}
