/**
 * A release's zip, which is not trusted: the bytes of a member come as a stream whose length and CRC are checked at the
 * end. Nothing is unpacked under a name from the zip, so no name can lead out of the folder.
 */
import { createReadStream } from "node:fs"
import { open } from "node:fs/promises"
import { pipeline } from "node:stream"
import { crc32, createInflateRaw } from "node:zlib"
import { Effect } from "effect"
import { type Entry, openPromise, type ZipFile } from "yauzl"
import { reasonOf } from "../../run/files/causes.ts"
import { pieceBytes } from "../../run/files/chunk-size.ts"
import { FileUnwritable, writeAll } from "../../run/files/write-all.ts"
import {
  baseOf,
  deflated,
  foodsAmong,
  type Member,
  MemberMissing,
  membersOf,
  quoted,
  type ZipLimits,
  ZipUnusable,
  zipLimits
} from "./zip-members.ts"

export interface Zip {
  readonly members: ReadonlyArray<Member>
  /** Finds a member by base name, in any case. */
  member(name: string): Effect.Effect<Member, MemberMissing>
  /** The `*.json` that holds the foods. */
  readonly json: Effect.Effect<Member, MemberMissing>
  /** Throws `ZipUnusable`, at the latest after the last byte, if the member is not as declared. Can be read once. */
  bytes(member: Member): AsyncGenerator<Buffer, void, undefined>
  /** Unpacks into a file, in constant memory. After a failure the partial file stays; it is removed with its folder. */
  extract(member: Member, file: string): Effect.Effect<void, ZipUnusable | FileUnwritable>
}

/** The first bytes of a file; all of them if it is shorter. */
export const startOf = async (path: string, bytes: number) => {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(bytes), position: 0 })
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Why the list of members cannot be read: a zip begins with its first member and ends with the list. */
const whyNoZip = async (file: string, cause: unknown) => {
  const start = await startOf(file, 64)
  if (start.length === 0) return "the file is empty"
  if (start.readUInt16LE(0) === 0x4b50) return `it was cut off: its list of members is missing (${reasonOf(cause)})`
  return `it is not a zip: it begins with ${quoted(start.toString("latin1", 0, 20))}`
}

/** The bytes of an unpacked release, in pieces of the same size. Throws `ZipUnusable`, too. */
export async function* plainBytes(file: string, label: string): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const piece of createReadStream(file, { highWaterMark: pieceBytes })) yield piece
  } catch (cause) {
    throw new ZipUnusable({ zip: label, member: null, problem: reasonOf(cause) })
  }
}

/** The packed bytes of a member, as stored in the file. */
const packed = async (file: string, opened: ZipFile, entry: Entry) => {
  const { fileDataStart: start } = await opened.readLocalFileHeaderPromise(entry, { minimal: true })
  if (entry.compressedSize === 0) return undefined // a stream cannot read an empty range
  return createReadStream(file, { start, end: start + entry.compressedSize - 1, highWaterMark: pieceBytes })
}

/** Inflating runs on its own thread, up to four pieces ahead of the reader. */
const ahead = { chunkSize: pieceBytes, readableHighWaterMark: 4 * pieceBytes }

const unpacked = (bytes: ReturnType<typeof createReadStream>) => {
  const inflate = createInflateRaw(ahead)
  pipeline(bytes, inflate, () => undefined) // a failure destroys `inflate`, and so reaches the reader
  return inflate
}

const inWords = (cause: unknown) => {
  const code = cause instanceof Error ? Reflect.get(cause, "code") : undefined
  if (code === "Z_BUF_ERROR") return "it ends too early: the zip was cut off or damaged"
  if (code === "Z_DATA_ERROR") return `its compressed bytes are damaged (${reasonOf(cause)})`
  return reasonOf(cause)
}

const makeZip = (label: string, file: string, opened: ZipFile, members: ReadonlyArray<Member>): Zip => {
  async function* bytes({ path, entry }: Member) {
    const refuse = (problem: string) => new ZipUnusable({ zip: label, member: path, problem })
    let length = 0
    let crc = 0
    try {
      const source = await packed(file, opened, entry)
      const pieces = source && entry.compressionMethod === deflated ? unpacked(source) : source
      for await (const piece of pieces ?? []) {
        length += piece.length
        if (length > entry.uncompressedSize) {
          throw refuse(`it unpacks to more than the ${entry.uncompressedSize} bytes that it declares`)
        }
        crc = crc32(piece, crc)
        yield piece as Buffer // neither stream has an encoding, so its pieces are buffers
      }
    } catch (cause) {
      throw cause instanceof ZipUnusable ? cause : refuse(inWords(cause))
    }
    if (length < entry.uncompressedSize) {
      throw refuse(`it ends after ${length} of the ${entry.uncompressedSize} bytes that it declares`)
    }
    if (crc !== entry.crc32) throw refuse("its checksum (CRC-32) is wrong: the zip is damaged")
  }

  const extract = (member: Member, target: string) =>
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
      catch: (cause) => (cause instanceof ZipUnusable ? cause : new FileUnwritable({ file: baseOf(target), cause }))
    })

  const need = (wanted: string, found: Member | undefined) => {
    const names = members.map(({ name }) => name).slice(0, 20)
    return found ? Effect.succeed(found) : Effect.fail(new MemberMissing({ zip: label, wanted, members: names }))
  }
  return {
    members,
    member: (name) => {
      const wanted = name.toLowerCase()
      return need(
        name,
        members.find((member) => member.name.toLowerCase() === wanted)
      )
    },
    json: need("*.json", foodsAmong(members)),
    bytes,
    extract
  }
}

/**
 * Opens the zip at `file` until the scope closes. Errors name it `label`, because the name of an archived payload is
 * meaningless to readers.
 */
export const openZip = Effect.fn("Zip.open")(function* (file: string, label: string, limits: ZipLimits = zipLimits) {
  const failed = (problem: string) => new ZipUnusable({ zip: label, member: null, problem })
  const opened = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () => openPromise(file, { autoClose: false, decodeStrings: false }),
      catch: (cause) => cause
    }).pipe(
      Effect.catch((cause) =>
        Effect.tryPromise({ try: () => whyNoZip(file, cause), catch: (second) => failed(reasonOf(second)) }).pipe(
          Effect.flatMap((problem) => Effect.fail(failed(problem)))
        )
      )
    ),
    (zip) => Effect.sync(() => zip.close())
  )
  const members = yield* Effect.tryPromise({
    try: () => membersOf(label, opened, limits),
    catch: (cause) =>
      cause instanceof ZipUnusable ? cause : failed(`its list of members is damaged (${reasonOf(cause)})`)
  })
  return makeZip(label, file, opened, members)
})
