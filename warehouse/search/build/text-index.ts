/**
 * Writes the search files of one text column: the lower-cased texts, an index of their tokens and junctions, and the
 * posting lists. The source has one text per line, in document order.
 */
import { eachLine, placesFor, writeBundle, writeFile } from "../files.ts"
import { commonFrom, textFiles } from "../indexed-columns.ts"
import { PostingsBuilder } from "../postings.ts"
import { endOfWord, finished, hashStart, junction, nearest, startOfWord, wordBytes } from "../tokenizer.ts"
import { VocabularyBuilder } from "../vocabulary.ts"

/**
 * Number of hash buckets that the junctions share. A collision only costs text look-ups: several hundred at 2 M
 * ingredient texts. More buckets would slow the build down, because its speed depends on the processor's cache.
 */
const bucketsFor = (documents: number) => 2 ** Math.min(18, Math.max(8, Math.floor(Math.log2(documents + 1)) - 1))

class Tokens {
  readonly vocabulary = new VocabularyBuilder()
  readonly #mask: number
  readonly #tokens: PostingsBuilder
  readonly #junctions: PostingsBuilder

  constructor(documents: number) {
    this.#mask = bucketsFor(documents) - 1
    this.#tokens = new PostingsBuilder(commonFrom(documents), documents, 0)
    this.#junctions = new PostingsBuilder(commonFrom(documents), documents, this.#mask + 1)
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
      hash = finished(hash)
      this.#tokens.add(this.vocabulary.number(bytes, start, i, hash), doc)
      if (kind !== 1) {
        separator = hash
        continue
      }
      if (left !== 0) {
        const right = startOfWord(bytes, start, i)
        this.#junctions.add(junction(left, separator, right) & this.#mask, doc)
        this.#junctions.add(junction(nearest(left), separator, nearest(right)) & this.#mask, doc)
      }
      left = endOfWord(bytes, start, i)
    }
  }

  write(postings: string) {
    const order = this.vocabulary.sorted()
    const { junctions, tokens } = writeFile(postings, (writer) => ({
      tokens: this.#tokens.write(writer, order),
      junctions: this.#junctions.write(
        writer,
        Uint32Array.from({ length: this.#mask + 1 }, (_, i) => i)
      )
    }))
    const { bytes, starts } = this.vocabulary.inOrder(order)
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
const lowerCased = (bytes: Buffer, from: number, to: number, into: Buffer) => {
  for (let i = from; i < to; i++) {
    const byte = bytes[i] ?? 0
    if (byte > 127) return into.write(bytes.toString("utf8", from, to).toLowerCase())
    into[i - from] = byte > 64 && byte < 91 ? byte + 32 : byte
  }
  return to - from
}

export const buildText = (source: string, folder: string, column: string, documents: number) => {
  const files = textFiles(column)
  const tokens = new Tokens(documents)
  const starts = new Float64Array(documents + 1)
  let text = Buffer.allocUnsafeSlow(2 ** 16)
  let doc = 0
  const size = writeFile(`${folder}/${files.texts}`, (writer) => {
    eachLine(source, (bytes, from, to) => {
      if ((to - from) * 3 + 1 > text.length) text = Buffer.allocUnsafeSlow((to - from) * 6)
      const length = lowerCased(bytes, from, to, text)
      tokens.addText(text, 0, length, doc)
      text[length] = 10
      writer.write(text, 0, length + 1)
      starts[++doc] = writer.size
    })
    if (doc !== documents) throw new Error(`${column}: ${doc} texts for ${documents} foods`)
    return writer.size
  })
  const textStarts = placesFor(size, starts.length)
  textStarts.set(starts)
  writeBundle(`${folder}/${files.index}`, { textStarts, ...tokens.write(`${folder}/${files.postings}`) })
}
