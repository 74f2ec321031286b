/**
 * A pack is an ordinary zip. Its members are payloads named by their SHA-256. A member is deflated if that makes it
 * smaller, and stored otherwise. A reader compares the bytes with the name, so the zip's own checksums are not needed.
 */
import { createReadStream, createWriteStream } from "node:fs"
import { open } from "node:fs/promises"
import { pipeline as pipe } from "node:stream"
import { pipeline } from "node:stream/promises"
import { promisify } from "node:util"
import { createInflateRaw, deflateRaw } from "node:zlib"
import { makeDigest } from "@larder/warehouse"
import { type Entry, type ZipFile as OpenZip, openPromise } from "yauzl"
import { ZipFile } from "yazl"
import { pieceBytes } from "../../files/chunk-size.ts"
import { FileUnwritable, writeAll } from "../../files/write-all.ts"

const memberName = /^[0-9a-f]{64}$/

/** The beginning of a payload shows whether it is already compressed. */
const headBytes = 65_536
/** Deflating only costs time if it saves less than this share: zips, pictures and `.gz` files save nothing. */
const minSavings = 0.05
/** Less than half the time of level 6, for a tenth more bytes. At 6, packing 3 GB of CSV took as long as reading it. */
const compressionLevel = 4

const deflate = promisify(deflateRaw)

export const isCompressible = async (file: string) => {
  const opened = await open(file)
  try {
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    const packed = await deflate(buffer.subarray(0, bytesRead))
    return packed.length < bytesRead * (1 - minSavings)
  } finally {
    await opened.close()
  }
}

export interface LoosePayload {
  readonly sha256: string
  readonly file: string
  readonly written_at: Date
}

/** Writes a new zip, in constant memory. After a failure, the caller removes it. */
export const writePack = async (target: string, payloads: ReadonlyArray<LoosePayload>) => {
  const zip = new ZipFile()
  const written = pipeline(zip.outputStream, createWriteStream(target, { flags: "wx" }))
  const fail = (error: Error) => {
    if ("destroy" in zip.outputStream && typeof zip.outputStream.destroy === "function") zip.outputStream.destroy(error)
  }
  zip.on("error", fail)
  for (const { file, sha256, written_at } of payloads) {
    const level = (await isCompressible(file)) ? compressionLevel : 0
    const about = { mtime: written_at, mode: 0o100644, compressionLevel: level }
    zip.addReadStreamLazy(sha256, about, (begin) => {
      begin(null, createReadStream(file, { highWaterMark: pieceBytes }).on("error", fail))
    })
  }
  zip.end()
  await written
}

export interface Pack {
  /** By hash, with the size in the pack. */
  readonly members: ReadonlyMap<string, { readonly bytes: number; readonly written_at: Date }>
  /** Throws if the member is not the payload of that name, at the latest after its last byte. */
  bytes(sha256: string): AsyncGenerator<Buffer, void, undefined>
  close(): void
}

/** yauzl would inflate in chunks of 16 kB, and take three times as long. */
const openMember = async (zip: OpenZip, entry: Entry): Promise<AsyncIterable<Buffer>> => {
  if (!entry.isCompressed()) return zip.openReadStreamPromise(entry)
  const packed = await zip.openReadStreamPromise(entry, { decompress: false })
  const inflating = createInflateRaw({ chunkSize: pieceBytes })
  return pipe(packed, inflating, () => {}) // the reader gets the error
}

export const openPack = async (file: string): Promise<Pack> => {
  const zip = await openPromise(file, { autoClose: false })
  const entries = new Map<string, Entry>()
  try {
    for await (const entry of zip.eachEntry()) if (memberName.test(entry.fileName)) entries.set(entry.fileName, entry)
  } catch (cause) {
    zip.close()
    throw cause
  }
  async function* bytes(sha256: string) {
    const entry = entries.get(sha256)
    if (entry === undefined) throw new Error("it has no such member")
    const digest = makeDigest()
    for await (const piece of await openMember(zip, entry)) {
      if (digest.add(piece) > entry.uncompressedSize) throw new Error("it has more bytes than its header states")
      yield piece
    }
    if (digest.end().sha256 !== sha256) throw new Error("its bytes are not those that were fetched")
  }
  const members = new Map(
    [...entries].map(([sha256, entry]) => [sha256, { bytes: entry.compressedSize, written_at: entry.getLastModDate() }])
  )
  return { members, bytes, close: () => zip.close() }
}

/** Opens a pack while it is used. */
export const withPack = async <A>(file: string, use: (pack: Pack) => A | Promise<A>) => {
  const pack = await openPack(file)
  try {
    return await use(pack)
  } finally {
    pack.close()
  }
}

/** Reads a member to its end, into a new file if `target` is given. A failed write is a `FileUnwritable`. */
export const readMember = async (pack: Pack, sha256: string, target?: string) => {
  if (target === undefined) {
    for await (const _ of pack.bytes(sha256));
    return
  }
  const unwritable = (cause: unknown): never => {
    throw new FileUnwritable({ file: target, cause })
  }
  const opened = await open(target, "wx").catch(unwritable)
  try {
    for await (const piece of pack.bytes(sha256)) await writeAll(opened, piece).catch(unwritable)
  } finally {
    await opened.close()
  }
}

export const verifyPack = (file: string, payloads: ReadonlyArray<Pick<LoosePayload, "sha256">>) =>
  withPack(file, async (pack) => {
    for (const { sha256 } of payloads) await readMember(pack, sha256)
  })
