/**
 * Reads a release's zip, which is not trusted: the bytes of a member are a stream whose length and CRC are checked. No
 * file gets a name from the zip, so no name can lead out of the folder.
 */
import { createReadStream } from "node:fs"
import { open } from "node:fs/promises"
import { pipeline } from "node:stream"
import { crc32, createInflateRaw } from "node:zlib"
import { readPieces } from "@larder/warehouse"
import { Effect } from "effect"
import { type Entry, openPromise, type ZipFile } from "yauzl"
import { codeOf, reasonOf } from "../../run/files/causes.ts"
import { pieceBytes } from "../../run/files/chunk-size.ts"
import { FileUnwritable, writeAll } from "../../run/files/write-all.ts"
import {
  baseName,
  deflated,
  FileMissing,
  findFoodsMember,
  quoteText,
  readZipMembers,
  type ZipLimits,
  type ZipMember,
  ZipUnusable,
  zipLimits
} from "./zip-members.ts"

/** The first bytes of a file; all of them if it is shorter. */
export const readStart = async (path: string, bytes: number) => {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(bytes), position: 0 })
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Why the list of members cannot be read: a zip begins with its first member and ends with the list. */
const describeProblem = async (file: string, cause: unknown) => {
  const start = await readStart(file, 64)
  if (start.length === 0) return "the file is empty"
  if (start.readUInt16LE(0) === 0x4b50) return `it was cut off: its list of members is missing (${reasonOf(cause)})`
  return `it is not a zip: it begins with ${quoteText(start.toString("latin1", 0, 20))}`
}

/** The bytes of a release that is not zipped, in pieces like those of a zip. Throws `ZipUnusable` if they cannot be read. */
export async function* readUnzipped(file: string, label: string): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* readPieces(file)
  } catch (cause) {
    throw new ZipUnusable({ zip: label, member: null, problem: reasonOf(cause) })
  }
}

const openCompressed = async (file: string, opened: ZipFile, entry: Entry) => {
  const { fileDataStart: start } = await opened.readLocalFileHeaderPromise(entry, { minimal: true })
  if (entry.compressedSize === 0) return undefined // a stream cannot read an empty range
  return createReadStream(file, { start, end: start + entry.compressedSize - 1, highWaterMark: pieceBytes })
}

/** Inflating runs on another thread, up to four pieces ahead of the reader. */
const inflateOptions = { chunkSize: pieceBytes, readableHighWaterMark: 4 * pieceBytes }

const decompress = (bytes: ReturnType<typeof createReadStream>) => {
  const inflate = createInflateRaw(inflateOptions)
  pipeline(bytes, inflate, () => undefined) // a failure destroys `inflate`, which passes it to the reader
  return inflate
}

const describeCause = (cause: unknown) => {
  const code = codeOf(cause)
  if (code === "Z_BUF_ERROR") return "it ends too early: the zip was cut off or damaged"
  if (code === "Z_DATA_ERROR") return `its compressed bytes are damaged (${reasonOf(cause)})`
  return reasonOf(cause)
}

const makeZip = (label: string, file: string, opened: ZipFile, members: ReadonlyArray<ZipMember>) => {
  /**
   * Throws `ZipUnusable`, at the latest after the last byte, if the member is not as declared. Can be read once. A piece is
   * valid until the next one is requested.
   */
  async function* bytes({ path, entry }: ZipMember) {
    const unusable = (problem: string) => new ZipUnusable({ zip: label, member: path, problem })
    let length = 0
    let crc = 0
    try {
      const source = await openCompressed(file, opened, entry)
      const pieces = source && entry.compressionMethod === deflated ? decompress(source) : source
      for await (const piece of pieces ?? []) {
        length += piece.length
        if (length > entry.uncompressedSize) {
          throw unusable(`it unpacks to more than the ${entry.uncompressedSize} bytes that it declares`)
        }
        crc = crc32(piece, crc)
        yield piece as Buffer // neither stream has an encoding, so its pieces are buffers
        // freed at once: V8 collects the garbage of the whole program for every 32 MiB that wait for it
        if (piece.byteOffset + piece.length === piece.buffer.byteLength) piece.buffer.transfer(0)
      }
    } catch (cause) {
      throw cause instanceof ZipUnusable ? cause : unusable(describeCause(cause))
    }
    if (length < entry.uncompressedSize) {
      throw unusable(`it ends after ${length} of the ${entry.uncompressedSize} bytes that it declares`)
    }
    if (crc !== entry.crc32) throw unusable("its checksum (CRC-32) is wrong: the zip is damaged")
  }

  /** Unpacks in constant memory. A partial file remains after a failure, and is removed with its folder. */
  const extract = (member: ZipMember, target: string) =>
    Effect.tryPromise({
      try: async (signal) => {
        const written = await open(target, "wx")
        try {
          for await (const piece of bytes(member)) {
            signal.throwIfAborted()
            await writeAll(written, piece)
          }
        } finally {
          await written.close()
        }
      },
      catch: (cause) => (cause instanceof ZipUnusable ? cause : new FileUnwritable({ file: baseName(target), cause }))
    })

  const requireMember = (missing: string, member: ZipMember | undefined): Effect.Effect<ZipMember, FileMissing> => {
    const names = members.map(({ name }) => name).slice(0, 20)
    return member
      ? Effect.succeed(member)
      : Effect.fail(new FileMissing({ container: label, missing, contents: names }))
  }
  return {
    members,
    /** Finds a member by base name, in any case. */
    member: (name: string) => {
      const lowerCase = name.toLowerCase()
      const member = members.find((member) => member.name.toLowerCase() === lowerCase)
      return requireMember(name, member)
    },
    json: requireMember("*.json", findFoodsMember(members)),
    bytes,
    extract
  }
}

export type Zip = ReturnType<typeof makeZip>

/** Opens the zip at `file` until the scope closes. Errors name it `label`: the names of archived payloads are hashes. */
export const openZip = Effect.fn("Zip.open")(function* (file: string, label: string, limits: ZipLimits = zipLimits) {
  const makeUnusable = (problem: string) => new ZipUnusable({ zip: label, member: null, problem })
  const opened = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () =>
        openPromise(file, { autoClose: false, decodeStrings: false }).catch(async (cause) => {
          throw makeUnusable(await describeProblem(file, cause))
        }),
      catch: (cause) => (cause instanceof ZipUnusable ? cause : makeUnusable(reasonOf(cause)))
    }),
    (zip) => Effect.sync(() => zip.close())
  )
  const members = yield* Effect.tryPromise({
    try: () => readZipMembers(label, opened, limits),
    catch: (cause) =>
      cause instanceof ZipUnusable ? cause : makeUnusable(`its list of members is damaged (${reasonOf(cause)})`)
  })
  return makeZip(label, file, opened, members)
})
