/**
 * Splits lower-cased texts and filters into words (letters and digits) and separators. It works on bytes: all UTF-8 bytes
 * beyond ASCII are letters. So a filter's inner tokens are tokens of every text that contains it.
 */

/** 1 for bytes that belong to words. */
const wordFlags = new Uint8Array(256).fill(1, 0x80)
wordFlags.fill(1, 0x30, 0x3a).fill(1, 0x61, 0x7b)
export const wordBytes: Readonly<Uint8Array> = wordFlags

const findTokenEnd = (bytes: Uint8Array, from: number, to: number) => {
  const kind = wordBytes[bytes[from] ?? 0]
  let i = from + 1
  while (i < to && wordBytes[bytes[i] ?? 0] === kind) i++
  return i
}

export interface Token {
  readonly from: number
  readonly to: number
  readonly isWord: boolean
}

export const tokenize = (text: Buffer): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  for (let from = 0; from < text.length; ) {
    const to = findTokenEnd(text, from, text.length)
    tokens.push({ from, to, isWord: wordBytes[text[from] ?? 0] === 1 })
    from = to
  }
  return tokens
}

export const hashStart = 0x811c9dc5 | 0
/** FNV hashes of short words have similar high bits. This function spreads a hash over all bits. */
export const mixHash = (hash: number) => {
  const h = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (h ^ (h >>> 13)) >>> 2 // 30 bits: more would not fit into a small integer of the engine
}
export const hashWord = (bytes: Uint8Array, from: number, to: number) => {
  let hash = hashStart
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193)
  return mixHash(hash)
}

/**
 * A junction is two neighbouring words with the separator between them. Only the three bytes of each word nearest to the
 * separator are used (its edge), because the filter "salt sug" must find "salt sugar". An edge is one number: the byte
 * nearest to the separator is its lowest byte, the number of bytes its highest.
 */
export const edgeLength = 3
export const endOfWord = (bytes: Uint8Array, from: number, to: number) => {
  let edge = bytes[to - 1] ?? 0
  if (to - from > 1) edge |= (bytes[to - 2] ?? 0) << 8
  if (to - from > 2) edge |= (bytes[to - 3] ?? 0) << 16
  return edge | (Math.min(to - from, edgeLength) << 24)
}
export const startOfWord = (bytes: Uint8Array, from: number, to: number) => {
  let edge = bytes[from] ?? 0
  if (to - from > 1) edge |= (bytes[from + 1] ?? 0) << 8
  if (to - from > 2) edge |= (bytes[from + 2] ?? 0) << 16
  return edge | (Math.min(to - from, edgeLength) << 24)
}
/** An edge of which only the nearest byte is known: a filter has fewer than three bytes of a word that may continue. */
export const nearestByte = (edge: number) => (edge & 255) | 0x04000000

export const hashJunction = (left: number, separator: number, right: number) =>
  mixHash(Math.imul(left, 0x9e3779b1) ^ Math.imul(Math.imul(right, 0x85ebca6b) ^ separator, 0x27d4eb2f))
