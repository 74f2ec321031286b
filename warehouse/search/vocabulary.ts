/** The tokens of one text column: numbered while texts are read, then stored in the order of their bytes. */
import { findFirst } from "./lists.ts"

const lineBreak = 10

/** Bytes of a vocabulary that are scanned without a pause. */
const pieceBytes = 256 * 2 ** 10

/**
 * Numbers tokens in the order in which they are first seen. A hash table with open addressing over the tokens' bytes
 * takes half the time of a `Map` of strings.
 */
export class VocabularyBuilder {
  size = 0
  #bytes = Buffer.allocUnsafeSlow(2 ** 16)
  #ends = new Uint32Array(2 ** 12)
  #hashes = new Uint32Array(2 ** 12)
  /** Token numbers plus one; 0 is free. At least half of the slots are free. */
  #slots = new Uint32Array(2 ** 13)

  assignNumber(source: Uint8Array, from: number, to: number, hash: number) {
    const mask = this.#slots.length - 1
    let slot = hash & mask
    for (;;) {
      const entry = this.#slots[slot] ?? 0
      if (entry === 0) break
      if (this.#hashes[entry - 1] === hash && this.#equals(entry - 1, source, from, to)) return entry - 1
      slot = (slot + 1) & mask
    }
    return this.#add(source, from, to, hash, slot)
  }

  /** The token numbers in the order of their bytes. */
  sortTokens() {
    const order = Uint32Array.from({ length: this.size }, (_, i) => i)
    const bytes = this.#bytes
    return order.sort((a, b) => bytes.compare(bytes, this.#start(b), this.#ends[b], this.#start(a), this.#ends[a]))
  }

  /** The tokens in the given order, one per line, with a line break before the first, and where each begins. */
  serialize(order: Uint32Array) {
    const bytes = Buffer.allocUnsafeSlow(1 + (this.#ends[this.size - 1] ?? 0) + this.size)
    const starts = new Uint32Array(this.size + 1)
    bytes[0] = lineBreak
    let at = 1
    order.forEach((token, i) => {
      starts[i] = at
      at += this.#bytes.copy(bytes, at, this.#start(token), this.#ends[token])
      bytes[at++] = lineBreak
    })
    starts[this.size] = at
    return { bytes, starts }
  }

  #start(token: number) {
    return token === 0 ? 0 : (this.#ends[token - 1] ?? 0)
  }

  #equals(token: number, source: Uint8Array, from: number, to: number) {
    const start = this.#start(token)
    if ((this.#ends[token] ?? 0) - start !== to - from) return false
    for (let i = from, j = start; i < to; i++, j++) if (source[i] !== this.#bytes[j]) return false
    return true
  }

  #add(source: Uint8Array, from: number, to: number, hash: number, slot: number) {
    const token = this.size++
    const start = this.#start(token)
    const end = start + to - from
    if (end > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes.subarray(0, start)], Math.max(end, this.#bytes.length * 2))
    }
    this.#bytes.set(source.subarray(from, to), start)
    if (token === this.#ends.length) {
      this.#ends = doubleLength(this.#ends)
      this.#hashes = doubleLength(this.#hashes)
    }
    this.#ends[token] = end
    this.#hashes[token] = hash
    this.#slots[slot] = token + 1
    if (this.size * 2 > this.#slots.length) this.#rehash()
    return token
  }

  #rehash() {
    const slots = new Uint32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (let token = 0; token < this.size; token++) {
      let slot = (this.#hashes[token] ?? 0) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = token + 1
    }
    this.#slots = slots
  }
}

const doubleLength = (numbers: Uint32Array<ArrayBuffer>) =>
  new Uint32Array(numbers.buffer.transfer(numbers.byteLength * 2))

/** A stored vocabulary. The number of a token is its position in byte order. */
export const makeVocabulary = (bytes: Buffer, starts: Uint32Array) => {
  const size = starts.length - 1

  const findWithPrefix = (text: Buffer) => {
    const from = findFirst(0, size, (token) => compare(token, text) >= 0)
    return {
      from,
      to: findFirst(0, size, (token) => token >= from && compare(token, text, text.length) > 0)
    }
  }

  const findExact = (text: Buffer) => {
    const from = findFirst(0, size, (token) => compare(token, text) >= 0)
    return from < size && compare(from, text) === 0 ? from : undefined
  }

  /** The tokens that contain a text, or end with it; undefined is a pause. Scans about 1 MB per ms. */
  function* findContaining(text: Buffer, side: "anywhere" | "end"): Generator<number | undefined> {
    const needle = side === "end" ? Buffer.concat([text, Buffer.of(lineBreak)]) : text
    for (let at = 0; at < bytes.length; ) {
      const end = at + pieceBytes
      const hit = bytes.subarray(at, end + needle.length - 1).indexOf(needle)
      if (hit < 0) {
        at = end
        yield undefined
        continue
      }
      const next = findFirst(0, size, (token) => (starts[token] ?? 0) > at + hit)
      yield next - 1
      at = starts[next] ?? bytes.length
    }
  }

  /** Compares a token, or its first `maxBytes` bytes, with a text. */
  const compare = (token: number, text: Buffer, maxBytes = Number.POSITIVE_INFINITY) => {
    const start = starts[token] ?? 0
    const end = Math.min((starts[token + 1] ?? 0) - 1, start + maxBytes)
    return bytes.compare(text, 0, text.length, start, end)
  }

  return { findWithPrefix, findExact, findContaining }
}
