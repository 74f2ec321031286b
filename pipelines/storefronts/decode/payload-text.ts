/**
 * Decodes the text of a payload, piece by piece. The encoding comes from a byte order mark, or else from the `charset`
 * of the response, or else from an XML declaration; the default is UTF-8.
 *
 * Bytes that are not text become `undecodable`, so that the row with them can be identified and the other rows are
 * kept. A U+FFFD in the payload itself stays: that text was lost before the payload was made.
 */
import { isUtf8 } from "node:buffer"
import { TextDecoder } from "node:util"
import { FeedUnreadable, type OpenFile } from "./feed.ts"

/** A code point that does not occur in text: it marks bytes that could not be decoded. */
export const undecodable = "\uFDD0"
const replacement = "\uFFFD"
const replacementBytes = Buffer.from(replacement)

/** Small pieces are combined and large ones split to about this size: a slow host sends thousands of pieces. */
const pieceBytes = 65_536

const headBytes = 256

async function* splitEvenly(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let gathered: Array<Uint8Array> = []
  let length = 0
  for await (const chunk of bytes) {
    for (let from = 0; from < chunk.length; from += pieceBytes) {
      const part = chunk.subarray(from, from + pieceBytes)
      gathered.push(part)
      length += part.length
      if (length < pieceBytes) continue
      yield Buffer.concat(gathered)
      gathered = []
      length = 0
    }
  }
  if (length > 0) yield Buffer.concat(gathered)
}

const findEncoding = (name: string): string | undefined => {
  try {
    return new TextDecoder(name).encoding
  } catch {
    return undefined
  }
}

/** The encoding in a Content-Type. Ignores unknown names, and ASCII, which servers state for anything. */
const parseCharset = (contentType: string | null): string | undefined => {
  const name = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType ?? "")?.[1]
  return name === undefined || /^(?:us-)?ascii$/i.test(name) ? undefined : findEncoding(name)
}

const parseXmlDeclaration = (head: Buffer): string | undefined => {
  const declared = /^(?:\xef\xbb\xbf)?\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']+)["']/.exec(
    head.subarray(0, headBytes).toString("latin1")
  )?.[1]
  if (declared === undefined) return undefined
  // A declaration that can be read byte by byte is not UTF-16, even if it states UTF-16: some tools do so in UTF-8 files.
  if (/^(?:utf|ucs|iso-10646)/i.test(declared)) return "utf-8"
  const encoding = findEncoding(declared)
  if (encoding !== undefined) return encoding
  throw new FeedUnreadable(`Its XML declaration names the encoding "${declared.slice(0, 60)}", which is not supported.`)
}

const detectEncoding = (head: Buffer, contentType: string | null): string => {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le"
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be"
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return "utf-8"
  if (head[0] === 0x3c && head[1] === 0) return "utf-16le"
  if (head[0] === 0 && head[1] === 0x3c) return "utf-16be"
  const charset = parseCharset(contentType)
  const isUtf16 = head[0] === 0 || head[1] === 0 // UTF-16 text begins with an ASCII letter: the name of a column
  const isUsable = charset?.startsWith("utf-16") === true ? isUtf16 : charset !== undefined
  if (isUsable && charset !== "utf-8") return charset ?? "utf-8"
  // Servers state UTF-8 for anything they serve: if that is wrong, the declaration is used.
  if (isUsable && isUtf8(head.subarray(0, head.length - countIncompleteBytes(head)))) return "utf-8"
  return parseXmlDeclaration(head) ?? "utf-8"
}

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

/** Decodes the whole text of a page, as `decodePieces` does for a file. */
export const decodePage = (bytes: Buffer, contentType: string | null = null): string => {
  const charset = parseCharset(contentType) ?? "utf-8"
  const isPlain = charset === "utf-8" || charset.startsWith("utf-16") // a page in UTF-16 begins with its byte order mark
  const utf16Encoding = new Map([
    ["\xff\xfe", "utf-16le"],
    ["\xfe\xff", "utf-16be"]
  ]).get(bytes.toString("latin1", 0, 2))
  const encoding = utf16Encoding ?? (isPlain ? "utf-8" : charset)
  if (encoding !== "utf-8") return new TextDecoder(encoding).decode(bytes).replaceAll(replacement, undecodable)
  return decodeUtf8(bytes)
}

/**
 * Yields pieces of about 64 KiB, without the byte order mark, never split inside a character of the encoding.
 * `contentType` is the header of the response.
 */
export async function* decodePieces(open: OpenFile, contentType: string | null = null): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  let incompleteBytes = Buffer.alloc(0)
  let isFirst = true
  for await (const piece of splitEvenly(open())) {
    const encoding = isFirst ? detectEncoding(piece, contentType) : "utf-8"
    if (encoding !== "utf-8") decoder = new TextDecoder(encoding)
    let text: string
    if (decoder === undefined) {
      const whole = incompleteBytes.length === 0 ? piece : Buffer.concat([incompleteBytes, piece])
      const end = whole.length - countIncompleteBytes(whole)
      incompleteBytes = Buffer.from(whole.subarray(end))
      text = decodeUtf8(whole.subarray(0, end))
      if (isFirst && text.startsWith("\uFEFF")) text = text.slice(1)
    } else text = decoder.decode(piece, { stream: true }).replaceAll(replacement, undecodable)
    isFirst = false
    if (text !== "") yield text
  }
  const last =
    decoder === undefined ? decodeUtf8(incompleteBytes) : decoder.decode().replaceAll(replacement, undecodable)
  if (last !== "") yield last
}
