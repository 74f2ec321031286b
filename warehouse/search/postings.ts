/**
 * Posting lists: for each term the documents that contain it, ascending, as varints of their differences. Terms in more
 * than `maxListed` documents get no list: they make up most occurrences, and their lists would restrict little. Lists are
 * built in runs of several million occurrences, each sorted by counting: appending directly takes five times as long,
 * because of cache misses.
 */
import { type FileWriter, type Places, toPlaces } from "./files.ts"

const maxRunLength = 2 ** 22

interface Run {
  readonly bytes: Uint8Array
  /** Start of each term's bytes, and the end. Terms first seen after this run have no entry. */
  readonly starts: Uint32Array
}

export class PostingsBuilder {
  readonly #maxListed: number
  readonly #runs: Array<Run> = []
  // The occurrences of the current run.
  readonly #terms: Uint32Array
  readonly #docs: Uint32Array
  readonly #sorted: Uint32Array
  #collected = 0
  /** Per term, for the runs sorted so far. */
  #counts: Uint32Array<ArrayBuffer>
  #lastDocs: Int32Array<ArrayBuffer>
  #size: number

  /** `terms` is the number of terms known in advance. */
  constructor(maxListed: number, documents: number, terms: number) {
    const length = Math.min(maxRunLength, 1024 + documents * 64)
    this.#maxListed = maxListed
    this.#terms = new Uint32Array(length)
    this.#docs = new Uint32Array(length)
    this.#sorted = new Uint32Array(length)
    this.#counts = new Uint32Array(Math.max(terms, 1))
    this.#lastDocs = new Int32Array(Math.max(terms, 1)).fill(-1)
    this.#size = terms
  }

  /** Records that a document has a term. Documents must be added in ascending order. */
  add(term: number, doc: number) {
    if (term >= this.#size) this.#grow(term)
    if ((this.#counts[term] ?? 0) > this.#maxListed) return // known to be common
    if (this.#collected === this.#terms.length) this.#endRun()
    this.#terms[this.#collected] = term
    this.#docs[this.#collected++] = doc
  }

  /** Writes the lists of the terms in the given order. `places` has the offset of each list, and the end. */
  write(writer: FileWriter, order: Uint32Array): { readonly docs: Uint32Array; readonly places: Places } {
    this.#endRun()
    const ends = new Float64Array(order.length + 1)
    ends[0] = writer.size
    order.forEach((term, i) => {
      if ((this.#counts[term] ?? 0) <= this.#maxListed) {
        for (const { bytes, starts } of this.#runs) {
          if (term + 1 < starts.length) writer.write(bytes, starts[term], starts[term + 1])
        }
      }
      ends[i + 1] = writer.size
    })
    return { docs: order.map((term) => this.#counts[term] ?? 0), places: toPlaces(ends) }
  }

  /** Sorts the documents of the run by term, and encodes them. */
  #endRun() {
    const terms = this.#terms
    const sorted = this.#sorted
    const ends = new Uint32Array(this.#size + 1)
    for (let i = 0; i < this.#collected; i++) {
      const next = (terms[i] ?? 0) + 1
      ends[next] = (ends[next] ?? 0) + 1
    }
    for (let term = 1; term < ends.length; term++) ends[term] = (ends[term] ?? 0) + (ends[term - 1] ?? 0)
    for (let i = 0; i < this.#collected; i++) {
      const term = terms[i] ?? 0
      const at = ends[term] ?? 0
      sorted[at] = this.#docs[i] ?? 0
      ends[term] = at + 1
    }
    this.#runs.push(this.#encode(ends))
    this.#collected = 0
  }

  /** `ends` has the end of each term among the sorted documents. */
  #encode(ends: Uint32Array): Run {
    let bytes = new Uint8Array(this.#collected * 2 + 16)
    const starts = new Uint32Array(this.#size + 1)
    let length = 0
    let i = 0
    for (let term = 0; term < this.#size; term++) {
      starts[term] = length
      const end = ends[term] ?? 0
      if (i === end) continue
      let count = this.#counts[term] ?? 0
      let last = this.#lastDocs[term] ?? -1
      if (length + (end - i) * 5 > bytes.length) bytes = enlarge(bytes, length + (end - i) * 5)
      for (; i < end; i++) {
        const doc = this.#sorted[i] ?? 0
        if (doc === last) continue
        let delta = doc - last
        last = doc
        count++
        for (; delta > 127; delta >>>= 7) bytes[length++] = (delta & 127) | 128
        bytes[length++] = delta
      }
      this.#counts[term] = count
      this.#lastDocs[term] = last
      if (count > this.#maxListed) length = starts[term] ?? 0
    }
    starts[this.#size] = length
    return { bytes: bytes.slice(0, length), starts }
  }

  #grow(term: number) {
    this.#size = term + 1
    if (this.#size <= this.#counts.length) return
    const before = this.#counts.length
    const bytes = this.#size * 2 * Uint32Array.BYTES_PER_ELEMENT
    this.#counts = new Uint32Array(this.#counts.buffer.transfer(bytes))
    this.#lastDocs = new Int32Array(this.#lastDocs.buffer.transfer(bytes)).fill(-1, before)
  }
}

const enlarge = (bytes: Uint8Array<ArrayBuffer>, minLength: number) =>
  new Uint8Array(bytes.buffer.transfer(Math.max(minLength, bytes.length * 2)))

/** Decodes the list between two offsets into `target`, from `at` on. Returns the count of numbers written. */
export const decodePostings = (bytes: Uint8Array, from: number, to: number, target: Uint32Array, at: number) => {
  let doc = -1
  let n = at
  for (let i = from; i < to; ) {
    let byte = bytes[i++] ?? 0
    let delta = byte & 127
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[i++] ?? 0
      delta += (byte & 127) * 2 ** shift
    }
    doc += delta
    target[n++] = doc
  }
  return n - at
}
