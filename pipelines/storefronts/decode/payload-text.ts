/**
 * Decodes the text of a payload, piece by piece. The first of these decides the encoding: a byte order mark; bytes that
 * are UTF-8 with characters of several bytes, since texts in other encodings hardly ever are; the `encoding` of the
 * store list; the `charset` of the response; an XML declaration; else UTF-8.
 *
 * Bytes that are not text become `undecodable`, so that the row with them can be identified and the other rows are
 * kept. A U+FFFD in the payload itself stays: that text was lost before the payload was made.
 */
import { isAscii, isUtf8 } from "node:buffer"
import { TextDecoder } from "node:util"
import { nameBinaryFormat } from "./binary-formats.ts"
import type { OpenFile } from "./feed.ts"
import { FeedUnreadable } from "./feed-errors.ts"

/** What says the encoding, besides the payload itself. */
export interface StatedEncoding {
  /** The header of the response; its charset is used. */
  readonly content_type?: string | null
  /** A label of the Encoding Standard, from the store list. */
  readonly encoding?: string | null
}

/** A code point that does not occur in text: it marks bytes that could not be decoded. */
export const undecodable = "\uFDD0"
const replacement = "\uFFFD"
const replacementBytes = Buffer.from(replacement)

/** Small pieces are combined and large ones split to about this size: a slow host sends thousands of pieces. */
const pieceBytes = 65_536

const headBytes = 256

/** Number of bytes at the end that begin an incomplete UTF-8 sequence. */
const countIncompleteBytes = (bytes: Buffer): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte < 0xc0) continue
    let needed = 2
    if (byte >= 0xf0) needed = 4
    else if (byte >= 0xe0) needed = 3
    return back < needed ? back : 0
  }
  return 0
}

/** Pieces of about 64 KiB. Only the last one can end inside a character of UTF-8. */
async function* splitEvenly(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let gathered: Array<Uint8Array> = []
  let length = 0
  for await (const chunk of bytes) {
    for (let from = 0; from < chunk.length; from += pieceBytes) {
      const part = chunk.subarray(from, from + pieceBytes)
      gathered.push(part)
      length += part.length
      if (length < pieceBytes) continue
      const piece = Buffer.concat(gathered)
      const end = piece.length - countIncompleteBytes(piece)
      yield piece.subarray(0, end)
      gathered = [piece.subarray(end)]
      length = piece.length - end
    }
  }
  if (length > 0) yield Buffer.concat(gathered)
}

/** The name of the encoding with this label, such as `windows-1252` for `latin1`; undefined for unknown labels. */
export const findEncoding = (label: string): string | undefined => {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

const isUtf16 = (encoding: string | undefined) => encoding?.startsWith("utf-16") === true

/** The encoding in a Content-Type. Ignores unknown names, and ASCII, which servers state for anything. */
const parseCharset = (contentType: string | null): string | undefined => {
  const name = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType ?? "")?.[1]
  return name === undefined || /^(?:us-)?ascii$/i.test(name) ? undefined : findEncoding(name)
}

const parseXmlDeclaration = (head: Buffer): string | undefined => {
  const declared = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']+)["']/.exec(
    head.subarray(0, headBytes).toString("latin1")
  )?.[1]
  // A declaration that can be read byte by byte is not UTF-16, even if it states UTF-16: some tools do so in UTF-8 files.
  if (declared !== undefined && /^(?:utf|ucs|iso-10646)/i.test(declared)) return "utf-8"
  return declared
}

const readByteOrderMark = (head: Buffer): string | undefined => {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le"
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be"
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? "utf-8" : undefined
}

/** Feeds begin with this many characters of Latin-1. A NUL among them does not make a text UTF-16. */
const latinCharacters = 4

/** UTF-16 without a byte order mark: every second byte is 0. */
const detectUtf16 = (head: Buffer): string | undefined => {
  const beginning = head.subarray(0, 2 * latinCharacters)
  const hasZeros = (parity: number) => beginning.every((byte, index) => (index % 2 === parity ? byte === 0 : byte > 0))
  if (beginning.length < 2) return undefined
  if (hasZeros(1)) return "utf-16le"
  return hasZeros(0) ? "utf-16be" : undefined
}

/** The label of a text without the zeros of UTF-16. The one of an XML declaration may be unknown. */
const pickLabel = (head: Buffer, listed: string | undefined, charset: string | undefined): string => {
  if (listed !== undefined && !isUtf16(listed)) return listed
  if (charset !== undefined && charset !== "utf-8" && !isUtf16(charset)) return charset
  // Servers state UTF-8 for anything they serve: if that is wrong, the declaration is used.
  const isRight = charset === "utf-8" && isUtf8(head.subarray(0, head.length - countIncompleteBytes(head)))
  return isRight ? "utf-8" : (parseXmlDeclaration(head) ?? "utf-8")
}

interface Detected {
  readonly label: string
  /** The bytes themselves show it. */
  readonly isSure: boolean
}

/** Fails for UTF-16 that nothing states, except in XML, whose first character is always the same. */
const detectEncoding = (head: Buffer, stated: StatedEncoding, subject: string): Detected => {
  const marked = readByteOrderMark(head)
  if (marked !== undefined) return { label: marked, isSure: true }
  const utf16 = detectUtf16(head)
  const [listed, charset] = [findEncoding(stated.encoding ?? ""), parseCharset(stated.content_type ?? null)]
  if (utf16 === undefined) return { label: pickLabel(head, listed, charset), isSure: false }
  const isStated = isUtf16(listed) || isUtf16(charset)
  const isXml = /^[\s\0]*</.test(head.subarray(0, 2 * latinCharacters).toString("latin1"))
  if (isStated || isXml) return { label: utf16, isSure: true }
  throw new FeedUnreadable(
    `${subject} is UTF-16 without a byte order mark: state "encoding": "${utf16}" for this store in the store list.`
  )
}

/** A replacement character in the bytes is kept; one that the decoder inserts becomes `undecodable`. */
const decodeUtf8 = (bytes: Buffer): string => {
  if (isUtf8(bytes)) return bytes.toString("utf8")
  const runs: Array<string> = []
  for (let from = 0; from <= bytes.length; ) {
    const index = bytes.indexOf(replacementBytes, from)
    const end = index === -1 ? bytes.length : index
    runs.push(bytes.toString("utf8", from, end).replaceAll(replacement, undecodable))
    from = end + replacementBytes.length
  }
  return runs.join(replacement)
}

const decodeWith = (decoder: TextDecoder, bytes?: Buffer) =>
  decoder.decode(bytes, { stream: bytes !== undefined }).replaceAll(replacement, undecodable)

/** Decodes the whole text of a page, as `decodePieces` does for a file. Fails with `FeedUnreadable`. */
export const decodePage = (bytes: Buffer, stated: StatedEncoding = {}): string => {
  const format = nameBinaryFormat(bytes)
  if (format !== undefined) throw new FeedUnreadable(`the response is ${format.name}, and its header does not say so`)
  const { isSure, label } = detectEncoding(bytes.subarray(0, pieceBytes), stated, "the response")
  if (label === "utf-8" || (!isSure && isUtf8(bytes) && !isAscii(bytes))) return decodeUtf8(bytes)
  return new TextDecoder(findEncoding(label) ?? "utf-8").decode(bytes).replaceAll(replacement, undecodable)
}

/** Whether the whole file is UTF-8, and has characters of several bytes. Reads on to the first byte that is not. */
const isMultiByteUtf8 = async (open: OpenFile): Promise<boolean> => {
  let hasSeveralBytes = false
  for await (const piece of splitEvenly(open())) {
    if (!isUtf8(piece)) return false
    hasSeveralBytes ||= !isAscii(piece)
  }
  return hasSeveralBytes
}

/** Undefined for UTF-8. Only a file that states another encoding is read to its end first. */
const makeDecoder = async (open: OpenFile, head: Buffer, stated: StatedEncoding): Promise<TextDecoder | undefined> => {
  const format = nameBinaryFormat(head)
  if (format !== undefined) throw new FeedUnreadable(`It is ${format.name}. ${format.remedy}`)
  const { isSure, label } = detectEncoding(head, stated, "It")
  if (label === "utf-8" || (!isSure && (await isMultiByteUtf8(open)))) return undefined
  const encoding = findEncoding(label)
  if (encoding !== undefined) return new TextDecoder(encoding)
  throw new FeedUnreadable(`Its XML declaration names the encoding "${label.slice(0, 60)}", which is not supported.`)
}

/** Yields pieces of about 64 KiB, without the byte order mark, never split inside a character of the encoding. */
export async function* decodePieces(open: OpenFile, stated: StatedEncoding = {}): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  let isFirst = true
  for await (const piece of splitEvenly(open())) {
    if (isFirst) decoder = await makeDecoder(open, piece, stated)
    const text = decoder === undefined ? decodeUtf8(piece) : decodeWith(decoder, piece)
    const content = isFirst && text.startsWith("\uFEFF") ? text.slice(1) : text
    isFirst = false
    if (content !== "") yield content
  }
  const last = decoder === undefined ? "" : decodeWith(decoder)
  if (last !== "") yield last
}
