/** Ascending lists of documents. */

/** Of two of them. */
export const intersection = (a: Uint32Array, b: Uint32Array): Uint32Array => {
  const both = new Uint32Array(Math.min(a.length, b.length))
  let n = 0
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const x = a[i] ?? 0
    const y = b[j] ?? 0
    if (x === y) both[n++] = x
    if (x <= y) i++
    if (y <= x) j++
  }
  return both.subarray(0, n)
}

const distinct = (sorted: Uint32Array) => {
  let n = 0
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[n++] = sorted[i] ?? 0
  return sorted.subarray(0, n)
}

/** Each of some of the first `documents` numbers once, in order. Overwrites what it is given. */
export const ascendingOnce = (docs: Uint32Array, documents: number) => {
  if (docs.length < documents >>> 8) return distinct(docs.sort())
  // Sorting 100 000 takes 8 ms; one bit per document, less than one.
  const marks = new Uint32Array((documents + 31) >>> 5)
  for (const doc of docs) marks[doc >>> 5] = (marks[doc >>> 5] ?? 0) | (1 << (doc & 31))
  let n = 0
  for (let i = 0; i < marks.length; i++) {
    for (let left = marks[i] ?? 0; left !== 0; left &= left - 1) docs[n++] = i * 32 + 31 - Math.clz32(left & -left)
  }
  return docs.subarray(0, n)
}
