/** Ascending lists of documents, and binary search. */

export const intersect = (a: Uint32Array, b: Uint32Array): Uint32Array => {
  const common = new Uint32Array(Math.min(a.length, b.length))
  let n = 0
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const x = a[i] ?? 0
    const y = b[j] ?? 0
    if (x === y) common[n++] = x
    if (x <= y) i++
    if (y <= x) j++
  }
  return common.subarray(0, n)
}

/** Binary search for the first number for which `isReached` is true, as for all after it; `high` if there is none. */
export const findFirst = (low: number, high: number, isReached: (n: number) => boolean) => {
  let from = low
  let to = high
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isReached(middle)) to = middle
    else from = middle + 1
  }
  return from
}

const deduplicate = (sorted: Uint32Array) => {
  let n = 0
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[n++] = sorted[i] ?? 0
  return sorted.subarray(0, n)
}

/** Sorts and deduplicates numbers below `documents`. Overwrites its input. */
export const sortUnique = (docs: Uint32Array, documents: number) => {
  if (docs.length < documents >>> 8) return deduplicate(docs.sort())
  // Sorting 100 000 numbers takes 8 ms; a bitmap with one bit per document takes less than 1 ms.
  const marks = new Uint32Array((documents + 31) >>> 5)
  for (const doc of docs) marks[doc >>> 5] = (marks[doc >>> 5] ?? 0) | (1 << (doc & 31))
  let n = 0
  for (let i = 0; i < marks.length; i++) {
    for (let bits = marks[i] ?? 0; bits !== 0; bits &= bits - 1) docs[n++] = i * 32 + 31 - Math.clz32(bits & -bits)
  }
  return docs.subarray(0, n)
}
