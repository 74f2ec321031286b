/** Measured: a request without headers with its connection, each byte of its headers, and each header. */
const memoryOf = { request: 13_000, byte: 1, header: 110 }

/** Memory of a request while it waits. `rawHeaders` has names and values in turns. */
export const estimateRequestBytes = (rawHeaders: ReadonlyArray<string>) => {
  const bytes = rawHeaders.reduce((sum, { length }) => sum + length, 0)
  return memoryOf.request + bytes * memoryOf.byte + (rawHeaders.length / 2) * memoryOf.header
}
