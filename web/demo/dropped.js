/** The files of a drop, those in folders included. */

/**
 * @param {DataTransfer} transfer of a drop event, which has to be read at once
 * @returns {Promise<import("./readers.js").Material[]>}
 */
export async function filesOfDrop(transfer) {
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry?.() ?? null);
  const plain = Array.from(transfer.files, (file) => ({ name: file.name, file }));
  if (!entries.some((entry) => entry?.isDirectory)) return plain;
  const found = [];
  for (const entry of entries) if (entry !== null) found.push(...(await filesUnder(entry)));
  return found;
}

/**
 * @param {any} entry a FileSystemEntry
 * @returns {Promise<import("./readers.js").Material[]>}
 */
async function filesUnder(entry) {
  if (entry.isFile) {
    /** @type {File} */
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ name: entry.fullPath.replace(/^\//, ""), file }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    // It gives a hundred at a time.
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return found;
    for (const child of some) if (!child.name.startsWith(".")) found.push(...(await filesUnder(child)));
  }
}
