/** Comma-separated values (RFC 4180, and semicolons or tabs where those are what a file uses). */

const TITLE = /^(title|name|subject|headline|heading|question)$/i;
const ID = /^(id|uuid|key|index|no|nr|#)$/i;

/**
 * The records of a file whose first row names the columns.
 *
 * @param {string} text
 * @param {string | null} [given] the separator; null to find it out
 * @returns {Generator<[row: number, record: [column: string, value: string][]]>} row: from 2, as
 *   spreadsheets count
 */
export function* csvRecords(text, given = null) {
  const separator = given ?? likelySeparator(text);
  /** @type {string[] | null} */
  let columns = null;
  let row = 0;
  for (const cells of csvRows(text, separator)) {
    row++;
    if (cells.every((cell) => cell.trim() === "")) continue;
    if (columns === null) columns = cells.map((cell) => cell.trim());
    else yield [row, cells.map((cell, i) => [/** @type {string[]} */ (columns)[i] ?? "", cell.trim()])];
  }
}

/**
 * @param {string} text
 * @param {string} separator
 * @returns {Generator<string[]>}
 */
function* csvRows(text, separator) {
  /** @type {string[]} */
  let cells = [];
  let at = text.startsWith("\ufeff") ? 1 : 0;
  while (at < text.length) {
    let cell = "";
    if (text[at] === '"') {
      for (at++; ; at++) {
        const end = text.indexOf('"', at);
        cell += text.slice(at, end === -1 ? text.length : end);
        at = end === -1 ? text.length : end + 1;
        if (text[at] !== '"') break;
        cell += '"';
      }
    }
    // Anything between a closing quote and the separator counts too: nothing of a text is lost.
    const start = at;
    while (at < text.length && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r") at++;
    cells.push(cell + text.slice(start, at));
    if (text[at] === separator) {
      at++;
      if (at < text.length) continue;
      cells.push("");
    }
    if (text[at] === "\r") at++;
    if (text[at] === "\n") at++;
    yield cells;
    cells = [];
  }
}

/** @param {string} text */
function likelySeparator(text) {
  const head = text.slice(0, 2000).split(/\r?\n/, 1)[0];
  const counts = [",", ";", "\t"].map((separator) => head.split(separator).length);
  return [",", ";", "\t"][counts.indexOf(Math.max(...counts))];
}

/**
 * A record as a text to search: the column that looks like a title is that, the others are named.
 *
 * @param {[column: string, value: string][]} record
 * @returns {{text: string, title?: string}}
 */
export function describeRecord(record) {
  const full = record.filter(([column, value]) => value !== "" && !ID.test(column));
  const title = full.find(([column]) => TITLE.test(column))?.[1];
  const body = full.filter(([column]) => !TITLE.test(column));
  const told = body.length === 0 ? full : body;
  const text = told.map(([column, value]) => (told.length > 1 && column ? `${column}: ${value}` : value)).join("\n");
  return title === undefined ? { text } : { text, title };
}
