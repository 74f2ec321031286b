/** One text column of the search: documents that may contain a text, by the index, and those that do, by their texts. */
import { join } from "node:path"
import { type Bundle, PieceFile, type Places } from "./files.ts"
import { maxListedDocuments, textFiles } from "./indexed-columns.ts"
import { findFirst, intersection, sortUnique } from "./lists.ts"
import { decodePostings } from "./postings.ts"
import {
  edgeLength,
  endOfWord,
  hashJunction,
  hashToken,
  nearestByte,
  startOfWord,
  type Token,
  tokenize
} from "./tokenizer.ts"
import { Vocabulary } from "./vocabulary.ts"

/** Maximum tokens of a term. A filter that more tokens contain matches so many texts that a page soon fills. */
const maxTokens = 4096

/** Maximum terms whose lists are read. A few restrict as much as the thousands that fit into a URL. */
const maxLists = 32

/** Tokens, or lists of one term, that are processed between pauses. */
const itemsPerPause = 128

/** Bytes per read: around one text or list, and when all texts are read. */
const nearBytes = 16 * 2 ** 10
const blockBytes = 256 * 2 ** 10

interface Term {
  /** Documents that have the term. A document with several of its tokens counts once per token. */
  readonly docs: number
  /** The lists of the term, as pairs of offsets in the postings file. */
  readonly lists: ReadonlyArray<readonly [number, number]>
}

export class TextColumn {
  readonly documents: number
  readonly #common: number
  readonly #texts: PieceFile
  readonly #postings: PieceFile
  readonly #starts: Places
  readonly #vocabulary: Vocabulary
  readonly #tokenDocs: Uint32Array
  readonly #tokenPlaces: Places
  readonly #junctionDocs: Uint32Array
  readonly #junctionPlaces: Places
  // The texts that were read last: bytes `#windowStart` to `#windowEnd` of the file.
  #window = Buffer.allocUnsafeSlow(blockBytes)
  #windowStart = 0
  #windowEnd = 0
  #list = Buffer.allocUnsafeSlow(nearBytes)

  constructor(folder: string, column: string, index: Bundle) {
    const files = textFiles(column)
    this.#starts = index.places("textStarts")
    this.documents = this.#starts.length - 1
    this.#common = maxListedDocuments(this.documents)
    this.#vocabulary = new Vocabulary(index.bytes("vocabulary"), index.naturals("tokenStarts"))
    this.#tokenDocs = index.naturals("tokenDocs")
    this.#tokenPlaces = index.places("tokenPlaces")
    this.#junctionDocs = index.naturals("junctionDocs")
    this.#junctionPlaces = index.places("junctionPlaces")
    this.#texts = new PieceFile(join(folder, files.texts))
    this.#postings = new PieceFile(join(folder, files.postings))
  }

  close() {
    this.#texts.close()
    this.#postings.close()
  }

  contains(doc: number, text: Buffer): boolean {
    const at = this.#load(doc, nearBytes) - this.#windowStart
    const end = this.#end(doc) - this.#windowStart
    return this.#window.subarray(at, end).includes(text)
  }

  /** The first document from `doc` on that contains the text, if it is in the next block of texts. */
  find(doc: number, text: Buffer): { readonly found: number } | { readonly next: number } {
    const at = this.#load(doc, blockBytes) - this.#windowStart
    const last = this.#lastInWindow(doc)
    const hit = this.#window.subarray(0, this.#end(last) - this.#windowStart).indexOf(text, at)
    if (hit < 0) return { next: last + 1 }
    return { found: this.#docAt(this.#windowStart + hit, doc, last) }
  }

  /** A superset of the documents with the text, ascending; undefined if they are too many. A yield is a pause. */
  *candidates(text: Buffer): Generator<void, Uint32Array | undefined> {
    let fewest: Uint32Array | undefined
    const read = new Set<number>()
    for (const term of this.#findTerms(text)) {
      yield
      if (term === undefined) continue
      if (term.docs === 0) return new Uint32Array()
      const place = term.lists[0]?.[0] ?? 0
      if (term.lists.length === 1 && read.has(place)) continue // the same word again
      if (fewest === undefined || term.docs < fewest.length * 8) {
        const docs = yield* this.#read(term)
        fewest = fewest === undefined ? docs : intersection(fewest, docs)
        read.add(place)
      }
      if (fewest.length < 64) return fewest // checking their texts is cheaper than reading more terms
      if (read.size === maxLists) return fewest
    }
    return fewest
  }

  /** The terms of every text that contains this one, the cheapest first. Undefined is a pause, or a common term. */
  *#findTerms(text: Buffer): Generator<Term | undefined> {
    const tokens = tokenize(text)
    const [first] = tokens
    if (first === undefined) return
    if (tokens.length === 1) return yield yield* this.#unlessCommon(text, "anywhere")
    const last = tokens.length - 1
    for (const [i, token] of tokens.entries()) {
      const right = tokens[i + 2]
      if (token.isWord && right !== undefined) {
        yield this.#junction(text, token, right, { opens: i === 0, closes: i + 2 === last })
      }
      if (i > 0 && i < last) yield this.#exactly(text.subarray(token.from, token.to))
    }
    const end = tokens[last] ?? first
    const { from, to } = this.#vocabulary.beginningWith(text.subarray(end.from, end.to))
    yield yield* this.#term(range(from, to))
    yield yield* this.#unlessCommon(text.subarray(first.from, first.to), "end")
  }

  /** A word at the edge of the filter may continue. If fewer than three of its bytes are known, only the nearest is used. */
  #junction(text: Buffer, left: Token, right: Token, edge: { opens: boolean; closes: boolean }) {
    const opens = edge.opens && left.to - left.from < edgeLength
    const closes = edge.closes && right.to - right.from < edgeLength
    const known = opens || closes ? nearestByte : (edge: number) => edge
    const hash = hashJunction(
      known(endOfWord(text, left.from, left.to)),
      hashToken(text, left.to, right.from),
      known(startOfWord(text, right.from, right.to))
    )
    const bucket = hash & (this.#junctionDocs.length - 1)
    const docs = this.#junctionDocs[bucket] ?? 0
    if (docs > this.#common) return undefined
    return { docs, lists: [[this.#junctionPlaces[bucket] ?? 0, this.#junctionPlaces[bucket + 1] ?? 0] as const] }
  }

  #exactly(text: Buffer): Term | undefined {
    const token = this.#vocabulary.exactly(text)
    if (token === undefined) return { docs: 0, lists: [] }
    const docs = this.#tokenDocs[token] ?? 0
    return docs > this.#common ? undefined : { docs, lists: [this.#listOf(token)] }
  }

  /** If the text itself is a common token, the vocabulary need not be scanned. */
  *#unlessCommon(text: Buffer, where: "anywhere" | "end") {
    return this.#exactly(text) === undefined ? undefined : yield* this.#term(this.#vocabulary.containing(text, where))
  }

  /** A term of several tokens; undefined among them is a pause. */
  *#term(tokens: Iterable<number | undefined>): Generator<undefined, Term | undefined> {
    let docs = 0
    const lists: Array<readonly [number, number]> = []
    for (const token of tokens) {
      if (token === undefined || lists.length % itemsPerPause === itemsPerPause - 1) yield
      if (token === undefined) continue
      docs += this.#tokenDocs[token] ?? 0
      if (docs > this.#common || lists.length === maxTokens) return undefined
      lists.push(this.#listOf(token))
    }
    return { docs, lists }
  }

  #listOf(token: number) {
    return [this.#tokenPlaces[token] ?? 0, this.#tokenPlaces[token + 1] ?? 0] as const
  }

  *#read({ docs, lists }: Term): Generator<void, Uint32Array> {
    const all = new Uint32Array(docs)
    let n = 0
    let start = 0 // `start` and `end` delimit the contents of the buffer: many lists are adjacent
    let end = 0
    for (const [i, [from, to]] of lists.entries()) {
      if (i % itemsPerPause === itemsPerPause - 1) {
        yield
        end = 0 // other searches have used the buffer
      }
      if (to > end) {
        if (to - from > this.#list.length) this.#list = Buffer.allocUnsafeSlow((to - from) * 2)
        start = from
        end = lists.length === 1 ? to : Math.min(Math.max(to, from + nearBytes), this.#postings.size)
        this.#postings.read(this.#list, start, end - start)
      }
      n += decodePostings(this.#list, from - start, to - start, all, n)
    }
    return lists.length > 1 ? sortUnique(all, this.documents) : all
  }

  #end(doc: number) {
    return (this.#starts[doc + 1] ?? 0) - 1
  }

  /** Ensures that the window contains a document's text, and returns its start. Reads `minBytes`, if the file has them. */
  #load(doc: number, minBytes: number) {
    const start = this.#starts[doc] ?? 0
    const end = this.#end(doc)
    if (start >= this.#windowStart && end < this.#windowEnd) return start
    const length = Math.min(Math.max(minBytes, end + 1 - start), this.#texts.size - start)
    if (length > this.#window.length) this.#window = Buffer.allocUnsafeSlow(length)
    this.#windowEnd = 0 // empty if the read fails
    this.#texts.read(this.#window, start, length)
    this.#windowStart = start
    this.#windowEnd = start + length
    return start
  }

  /** The last document from `doc` on whose text is entirely in the window. */
  #lastInWindow(doc: number) {
    return findFirst(doc + 1, this.documents, (next) => this.#end(next) >= this.#windowEnd) - 1
  }

  #docAt(place: number, from: number, to: number) {
    return findFirst(from + 1, to + 1, (doc) => (this.#starts[doc] ?? 0) > place) - 1
  }
}

function* range(from: number, to: number) {
  for (let i = from; i < to; i++) yield i
}
