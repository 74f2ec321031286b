/** One text column of the search. Its index finds documents that may contain a text; these are then checked. */
import type { Bundle, PieceFile } from "./files.ts"
import { maxListedDocuments } from "./indexed-columns.ts"
import { findFirst, intersect, sortUnique } from "./lists.ts"
import { decodePostings } from "./postings.ts"
import {
  edgeLength,
  endOfWord,
  hashJunction,
  hashWord,
  nearestByte,
  startOfWord,
  type Token,
  tokenize
} from "./tokenizer.ts"
import { makeVocabulary } from "./vocabulary.ts"

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

export type TextColumn = ReturnType<typeof makeTextColumn>

export const makeTextColumn = (index: Bundle, texts: PieceFile, postings: PieceFile) => {
  const starts = index.places("textStarts")
  const documents = starts.length - 1
  const common = maxListedDocuments(documents)
  const vocabulary = makeVocabulary(index.bytes("vocabulary"), index.naturals("tokenStarts"))
  const tokenDocs = index.naturals("tokenDocs")
  const tokenPlaces = index.places("tokenPlaces")
  const junctionDocs = index.naturals("junctionDocs")
  const junctionPlaces = index.places("junctionPlaces")
  // The texts that were read last: bytes `windowStart` to `windowEnd` of the file.
  let window = Buffer.allocUnsafeSlow(blockBytes)
  let windowStart = 0
  let windowEnd = 0
  let listBuffer = Buffer.allocUnsafeSlow(nearBytes)

  const contains = (doc: number, text: Buffer) => {
    const at = load(doc, nearBytes) - windowStart
    const end = textEnd(doc) - windowStart
    return window.subarray(at, end).includes(text)
  }

  /** The first document from `doc` on that contains the text, if it is in the next block of texts. */
  const find = (doc: number, text: Buffer): { readonly found: number } | { readonly next: number } => {
    const at = load(doc, blockBytes) - windowStart
    const last = findLastInWindow(doc)
    const hit = window.subarray(0, textEnd(last) - windowStart).indexOf(text, at)
    if (hit < 0) return { next: last + 1 }
    return { found: findDocument(windowStart + hit, doc, last) }
  }

  /** A superset of the documents with the text, ascending; undefined if they are too many. A yield is a pause. */
  function* findCandidates(text: Buffer): Generator<void, Uint32Array | undefined> {
    let smallest: Uint32Array | undefined
    const readOffsets = new Set<number>()
    for (const term of findTerms(text)) {
      yield
      if (term === undefined) continue
      if (term.docs === 0) return new Uint32Array()
      const listOffset = term.lists[0]?.[0] ?? 0
      if (term.lists.length === 1 && readOffsets.has(listOffset)) continue // the same word again
      if (smallest === undefined || term.docs < smallest.length * 8) {
        const docs = yield* readLists(term)
        smallest = smallest === undefined ? docs : intersect(smallest, docs)
        readOffsets.add(listOffset)
      }
      if (smallest.length < 64) return smallest // checking their texts is cheaper than reading more terms
      if (readOffsets.size === maxLists) return smallest
    }
    return smallest
  }

  /** The terms of every text that contains this one, the cheapest first. Undefined is a pause, or a common term. */
  function* findTerms(text: Buffer): Generator<Term | undefined> {
    const tokens = tokenize(text)
    const [first] = tokens
    if (first === undefined) return
    if (tokens.length === 1) return yield yield* findUnlessCommon(text, "anywhere")
    const last = tokens.length - 1
    for (const [i, token] of tokens.entries()) {
      const right = tokens[i + 2]
      if (token.isWord && right !== undefined) {
        yield findJunction(text, token, right, { isFirst: i === 0, isLast: i + 2 === last })
      }
      if (i > 0 && i < last) yield findExactTerm(text.subarray(token.from, token.to))
    }
    const end = tokens[last] ?? first
    const { from, to } = vocabulary.findWithPrefix(text.subarray(end.from, end.to))
    yield yield* collectTokens(range(from, to))
    yield yield* findUnlessCommon(text.subarray(first.from, first.to), "end")
  }

  /** A word at the edge of the filter may continue. If fewer than three of its bytes are known, only the nearest is used. */
  const findJunction = (text: Buffer, left: Token, right: Token, edge: { isFirst: boolean; isLast: boolean }) => {
    const isLeftPartial = edge.isFirst && left.to - left.from < edgeLength
    const isRightPartial = edge.isLast && right.to - right.from < edgeLength
    const reduceEdge = isLeftPartial || isRightPartial ? nearestByte : (wordEdge: number) => wordEdge
    const hash = hashJunction(
      reduceEdge(endOfWord(text, left.from, left.to)),
      hashWord(text, left.to, right.from),
      reduceEdge(startOfWord(text, right.from, right.to))
    )
    const bucket = hash & (junctionDocs.length - 1)
    const docs = junctionDocs[bucket] ?? 0
    if (docs > common) return undefined
    return { docs, lists: [[junctionPlaces[bucket] ?? 0, junctionPlaces[bucket + 1] ?? 0] as const] }
  }

  const findExactTerm = (text: Buffer): Term | undefined => {
    const token = vocabulary.findExact(text)
    if (token === undefined) return { docs: 0, lists: [] }
    const docs = tokenDocs[token] ?? 0
    return docs > common ? undefined : { docs, lists: [findList(token)] }
  }

  /** If the text itself is a common token, the vocabulary does not have to be scanned. */
  function* findUnlessCommon(text: Buffer, side: "anywhere" | "end") {
    return findExactTerm(text) === undefined ? undefined : yield* collectTokens(vocabulary.findContaining(text, side))
  }

  /** A term of several tokens; undefined among them is a pause. */
  function* collectTokens(tokens: Iterable<number | undefined>): Generator<undefined, Term | undefined> {
    let docs = 0
    const lists: Array<readonly [number, number]> = []
    for (const token of tokens) {
      if (token === undefined || lists.length % itemsPerPause === itemsPerPause - 1) yield
      if (token === undefined) continue
      docs += tokenDocs[token] ?? 0
      if (docs > common || lists.length === maxTokens) return undefined
      lists.push(findList(token))
    }
    return { docs, lists }
  }

  const findList = (token: number) => [tokenPlaces[token] ?? 0, tokenPlaces[token + 1] ?? 0] as const

  function* readLists({ docs, lists }: Term): Generator<void, Uint32Array> {
    const decoded = new Uint32Array(docs)
    let n = 0
    let start = 0 // `start` and `end` delimit the contents of the buffer: many lists are adjacent
    let end = 0
    for (const [i, [from, to]] of lists.entries()) {
      if (i % itemsPerPause === itemsPerPause - 1) {
        yield
        end = 0 // other searches have used the buffer
      }
      if (to > end) {
        if (to - from > listBuffer.length) listBuffer = Buffer.allocUnsafeSlow((to - from) * 2)
        start = from
        end = lists.length === 1 ? to : Math.min(Math.max(to, from + nearBytes), postings.size)
        postings.read(listBuffer, start, end - start)
      }
      n += decodePostings(listBuffer, from - start, to - start, decoded, n)
    }
    return lists.length > 1 ? sortUnique(decoded, documents) : decoded
  }

  const textEnd = (doc: number) => (starts[doc + 1] ?? 0) - 1

  /** Ensures that the window contains a document's text, and returns its start. Reads `minBytes`, if the file has them. */
  const load = (doc: number, minBytes: number) => {
    const start = starts[doc] ?? 0
    const end = textEnd(doc)
    if (start >= windowStart && end < windowEnd) return start
    const length = Math.min(Math.max(minBytes, end + 1 - start), texts.size - start)
    if (length > window.length) window = Buffer.allocUnsafeSlow(length)
    windowEnd = 0 // empty if the read fails
    texts.read(window, start, length)
    windowStart = start
    windowEnd = start + length
    return start
  }

  /** The last document from `doc` on whose text is entirely in the window. */
  const findLastInWindow = (doc: number) => findFirst(doc + 1, documents, (next) => textEnd(next) >= windowEnd) - 1

  const findDocument = (offset: number, from: number, to: number) =>
    findFirst(from + 1, to + 1, (doc) => (starts[doc] ?? 0) > offset) - 1

  return { documents, contains, find, findCandidates }
}

function* range(from: number, to: number) {
  for (let i = from; i < to; i++) yield i
}
