/**
 * Decodes the text of a payload, piece by piece. The encoding comes from a byte order mark, or else from the `charset`
 * of the response, or else from an XML declaration; the default is UTF-8.
 *
 * Bytes that are not text become `notText`, so that the row with them can be identified and the rows beside it are
 * kept. A U+FFFD in the payload itself is kept: that text was lost before the payload was made.
 */
import { isUtf8 } from "node:buffer"
import { TextDecoder } from "node:util"
import { FeedUnreadable } from "./feed.ts"

/** A code point that no text may contain: it marks bytes that could not be decoded. */
export const notText = "\uFDD0"
const replacement = "\uFFFD"
const replacementBytes = Buffer.from(replacement)

/** Small pieces are combined, large ones split to about this size: a slow host sends a body in thousands of pieces. */
const pieceBytes = 65_536

/** Enough for a byte order mark and an XML declaration. */
const headBytes = 256

async function* evenPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
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

/** The encoding of this name; undefined for an unknown name. */
const known = (name: string): string | undefined => {
  try {
    return new TextDecoder(name).encoding
  } catch {
    return undefined
  }
}

/** The encoding that a response states. Unknown names do not count, nor does ASCII: servers state it for anything. */
const saidBy = (contentType: string | null): string | undefined => {
  const name = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType ?? "")?.[1]
  return name === undefined || /^(?:us-)?ascii$/i.test(name) ? undefined : known(name)
}

const declaredIn = (head: Buffer): string | undefined => {
  const declared = /^(?:\xef\xbb\xbf)?\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']+)["']/.exec(
    head.subarray(0, headBytes).toString("latin1")
  )?.[1]
  if (declared === undefined) return undefined
  // A declaration that is readable byte by byte is not in UTF-16, whatever it says: tools write that in UTF-8 files.
  if (/^(?:utf|ucs|iso-10646)/i.test(declared)) return "utf-8"
  const encoding = known(declared)
  if (encoding !== undefined) return encoding
  throw new FeedUnreadable(`It says that it is written in "${declared.slice(0, 60)}", which nothing here can read.`)
}

const encodingOf = (head: Buffer, contentType: string | null): string => {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le"
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be"
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return "utf-8"
  if (head[0] === 0x3c && head[1] === 0) return "utf-16le"
  if (head[0] === 0 && head[1] === 0x3c) return "utf-16be"
  const said = saidBy(contentType)
  const isWide = head[0] === 0 || head[1] === 0 // UTF-16 text begins with an ASCII letter: the name of a column
  const isSaid = said?.startsWith("utf-16") === true ? isWide : said !== undefined
  if (isSaid && said !== "utf-8") return said ?? "utf-8"
  // Servers state UTF-8 for anything they serve: if it is not true, the declaration counts.
  if (isSaid && isUtf8(head.subarray(0, head.length - openSequence(head)))) return "utf-8"
  return declaredIn(head) ?? "utf-8"
}

/** Number of bytes at the end that begin an incomplete UTF-8 sequence. */
const openSequence = (bytes: Buffer): number => {
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

/** A replacement character in the bytes is kept; one that the decoder inserts becomes `notText`. */
const utf8Text = (bytes: Buffer): string => {
  if (isUtf8(bytes)) return bytes.toString("utf8")
  const runs: Array<string> = []
  for (let from = 0; from <= bytes.length; ) {
    const found = bytes.indexOf(replacementBytes, from)
    const end = found === -1 ? bytes.length : found
    runs.push(bytes.toString("utf8", from, end).replaceAll(replacement, notText))
    from = end + replacementBytes.length
  }
  return runs.join(replacement)
}

/** Decodes the whole text of a page, as `payloadText` does for a file. */
export const pageText = (bytes: Buffer, contentType: string | null = null): string => {
  const said = saidBy(contentType) ?? "utf-8"
  const isPlain = said === "utf-8" || said.startsWith("utf-16") // a page in UTF-16 begins with its byte order mark
  const wide = new Map([
    ["\xff\xfe", "utf-16le"],
    ["\xfe\xff", "utf-16be"]
  ]).get(bytes.toString("latin1", 0, 2))
  const encoding = wide ?? (isPlain ? "utf-8" : said)
  if (encoding !== "utf-8") return new TextDecoder(encoding).decode(bytes).replaceAll(replacement, notText)
  return utf8Text(bytes)
}

/**
 * Yields pieces of about 64 KiB, without the byte order mark, never cut inside a character of the encoding.
 * `contentType` is the header of the response.
 */
export async function* payloadText(
  bytes: AsyncIterable<Uint8Array>,
  contentType: string | null = null
): AsyncGenerator<string> {
  let other: TextDecoder | undefined
  let kept = Buffer.alloc(0)
  let isFirst = true
  for await (const piece of evenPieces(bytes)) {
    const encoding = isFirst ? encodingOf(piece, contentType) : "utf-8"
    if (encoding !== "utf-8") other = new TextDecoder(encoding)
    let text: string
    if (other === undefined) {
      const whole = kept.length === 0 ? piece : Buffer.concat([kept, piece])
      const end = whole.length - openSequence(whole)
      kept = Buffer.from(whole.subarray(end))
      text = utf8Text(whole.subarray(0, end))
      if (isFirst && text.startsWith("\uFEFF")) text = text.slice(1)
    } else text = other.decode(piece, { stream: true }).replaceAll(replacement, notText)
    isFirst = false
    if (text !== "") yield text
  }
  const last = other === undefined ? utf8Text(kept) : other.decode().replaceAll(replacement, notText)
  if (last !== "") yield last
}
