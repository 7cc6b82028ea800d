/** Vectors and passages out of an index file, as docs/index-format.md lays it out. */

const HEADER_BYTES = 64;
const INT8 = 1;

/**
 * @param {Uint8Array<ArrayBuffer>} file written by SearchIndex.save
 * @param {number} most how many passages at most, evenly spread over the file
 * @returns {Promise<{passages: {document: any, text: string}[], rows: Float32Array}>} rows: unit
 *   vectors, one after the other
 */
export async function vectorsOfFile(file, most) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const [kind, dim] = [view.getUint32(12, true), view.getUint32(48, true)];
  const [documents, count] = [view.getUint32(56, true), view.getUint32(60, true)];
  const lengthsAt = HEADER_BYTES;
  const countsAt = lengthsAt + 4 * documents;
  const rangesAt = countsAt + 4 * documents;
  const scalesAt = rangesAt + 8 * count;
  const vectorsAt = scalesAt + (kind === INT8 ? 4 * count : 0);
  let recordAt = vectorsAt + count * dim * (kind === INT8 ? 1 : 4);

  const step = Math.max(1, Math.ceil(count / most));
  const passages = [];
  const rows = new Float32Array(Math.ceil(count / step) * dim);
  let passage = 0;
  for (let i = 0; i < documents; i++) {
    const bytes = view.getUint32(lengthsAt + 4 * i, true);
    const end = passage + view.getUint32(countsAt + 4 * i, true);
    let document = null;
    for (; passage < end; passage++) {
      if (passage % step !== 0) continue;
      document ??= JSON.parse(new TextDecoder().decode(file.subarray(recordAt, recordAt + bytes)));
      const from = view.getUint32(rangesAt + 8 * passage, true);
      const to = view.getUint32(rangesAt + 8 * passage + 4, true);
      const row = rows.subarray(passages.length * dim, (passages.length + 1) * dim);
      passages.push({ document, text: Array.from(document.text).slice(from, to).join("") });
      for (let j = 0; j < dim; j++) {
        const at = vectorsAt + (passage * dim + j) * (kind === INT8 ? 1 : 4);
        row[j] = kind === INT8 ? view.getInt8(at) : view.getFloat32(at, true);
      }
      normalize(row);
    }
    recordAt += bytes;
  }
  return { passages, rows };
}

/** @param {Float32Array} row */
function normalize(row) {
  const length = Math.hypot(...row) || 1;
  for (let i = 0; i < row.length; i++) row[i] /= length;
}
