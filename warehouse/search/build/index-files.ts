/** Indexes branded foods from the lines that DuckDB has written, in this thread or in a worker. */
import { forEachLine, toPlaces, writeArrays, writeFile } from "../files.ts"
import { maxListedDocuments, textFiles } from "../indexed-columns.ts"
import { indexLabels } from "../labels.ts"
import { PostingsBuilder } from "../postings.ts"
import { indexRecords } from "../records.ts"
import { endOfWord, hashJunction, hashStart, mixHash, nearestByte, startOfWord, wordBytes } from "../tokenizer.ts"
import { VocabularyBuilder } from "../vocabulary.ts"

/**
 * Number of hash buckets of the junctions. More would cause cache misses while building. Fewer would make a search check
 * more texts: several hundred at 2 M ingredient texts.
 */
const countBuckets = (documents: number) => 2 ** Math.min(18, Math.max(8, Math.floor(Math.log2(documents + 1)) - 1))

class TokenIndex {
  readonly vocabulary = new VocabularyBuilder()
  readonly #mask: number
  readonly #tokens: PostingsBuilder
  readonly #junctions: PostingsBuilder

  constructor(documents: number) {
    this.#mask = countBuckets(documents) - 1
    this.#tokens = new PostingsBuilder(maxListedDocuments(documents), documents, 0)
    this.#junctions = new PostingsBuilder(maxListedDocuments(documents), documents, this.#mask + 1)
  }

  addText(bytes: Uint8Array, from: number, to: number, doc: number) {
    let left = 0 // the end of the last word
    let separator = 0
    for (let i = from; i < to; ) {
      const start = i
      const kind = wordBytes[bytes[i] ?? 0]
      let hash = hashStart
      do {
        hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193)
        i++
      } while (i < to && wordBytes[bytes[i] ?? 0] === kind)
      hash = mixHash(hash)
      this.#tokens.add(this.vocabulary.assignNumber(bytes, start, i, hash), doc)
      if (kind !== 1) {
        separator = hash
        continue
      }
      if (left !== 0) {
        const right = startOfWord(bytes, start, i)
        this.#junctions.add(hashJunction(left, separator, right) & this.#mask, doc)
        this.#junctions.add(hashJunction(nearestByte(left), separator, nearestByte(right)) & this.#mask, doc)
      }
      left = endOfWord(bytes, start, i)
    }
  }

  write(postings: string) {
    const order = this.vocabulary.sortTokens()
    const { junctions, tokens } = writeFile(postings, (writer) => ({
      tokens: this.#tokens.write(writer, order),
      junctions: this.#junctions.write(
        writer,
        Uint32Array.from({ length: this.#mask + 1 }, (_, i) => i)
      )
    }))
    const { bytes, starts } = this.vocabulary.serialize(order)
    return {
      vocabulary: bytes,
      tokenStarts: starts,
      tokenDocs: tokens.docs,
      tokenPlaces: tokens.places,
      junctionDocs: junctions.docs,
      junctionPlaces: junctions.places
    }
  }
}

/** Lower-casing makes a text at most three times as long. An ASCII byte stays one byte. */
const lowerCase = (bytes: Buffer, from: number, to: number, target: Buffer) => {
  for (let i = from; i < to; i++) {
    const byte = bytes[i] ?? 0
    if (byte > 127) return target.write(bytes.toString("utf8", from, to).toLowerCase())
    target[i - from] = byte > 64 && byte < 91 ? byte + 32 : byte
  }
  return to - from
}

/** Writes the search files of one text column. The source has one text per line, in document order. */
const indexText = (source: string, folder: string, column: string, documents: number) => {
  const files = textFiles(column)
  const tokens = new TokenIndex(documents)
  const starts = new Float64Array(documents + 1)
  let text = Buffer.allocUnsafeSlow(2 ** 16)
  let doc = 0
  writeFile(`${folder}/${files.texts}`, (writer) => {
    forEachLine(source, (bytes, from, to) => {
      if ((to - from) * 3 + 1 > text.length) text = Buffer.allocUnsafeSlow((to - from) * 6)
      const length = lowerCase(bytes, from, to, text)
      tokens.addText(text, 0, length, doc)
      text[length] = 10
      writer.write(text, 0, length + 1)
      starts[++doc] = writer.size
    })
    if (doc !== documents) throw new Error(`${column}: ${doc} texts for ${documents} foods`)
  })
  writeArrays(`${folder}/${files.index}`, {
    textStarts: toPlaces(starts),
    ...tokens.write(`${folder}/${files.postings}`)
  })
}

/** Some of the files to write. */
export interface Indexing {
  readonly folder: string
  /** Current labels: each column has one text per label. */
  readonly documents: number
  /** The columns, each with the file of its texts. */
  readonly columns: ReadonlyArray<{ readonly column: string; readonly source: string }>
  /** For the labels and the records: the file of the labels, and the number of records. */
  readonly others?: { readonly labels: string; readonly foods: number } | undefined
}

/** Writes these files. `awaitRecords` returns once the lines of the records are written. */
export const indexFiles = ({ columns, documents, folder, others }: Indexing, awaitRecords: () => void): void => {
  if (others !== undefined) indexLabels(others.labels, folder, documents)
  for (const { column, source } of columns) indexText(source, folder, column, documents)
  if (others === undefined) return
  awaitRecords()
  indexRecords(folder, others.foods)
}
