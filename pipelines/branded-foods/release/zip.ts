/**
 * A release's zip, opened without trusting it: members are listed by base name, and their bytes come as a stream whose length
 * and CRC are checked at the end. Nothing is unpacked by the names in the zip, so no name can lead anywhere; names that try
 * are refused all the same. Members lie at the root or in a folder, by release; what macOS adds is left out.
 */
import { createReadStream } from "node:fs"
import { open } from "node:fs/promises"
import { pipeline } from "node:stream"
import { crc32, createInflateRaw } from "node:zlib"
import { Effect, Schema } from "effect"
import { type Entry, getFileNameLowLevel, openPromise, validateFileName, type ZipFile } from "yauzl"
import { FileUnwritable, writeAll } from "./write-all.ts"

/** A zip, or a member of it, that cannot be read. */
export class ZipUnusable extends Schema.TaggedError<ZipUnusable>()("ZipUnusable", {
  zip: Schema.String,
  /** Null where the zip as a whole is meant. */
  member: Schema.NullOr(Schema.String),
  problem: Schema.String
}) {
  override get message() {
    const what = this.member === null ? this.zip : `${this.member} in ${this.zip}`
    return `${what} cannot be read: ${this.problem}. Download the release again, or give another one with --file.`
  }
}

/** The zip can be read and lacks what a release has. */
export class MemberMissing extends Schema.TaggedError<MemberMissing>()("MemberMissing", {
  zip: Schema.String,
  wanted: Schema.String,
  members: Schema.Array(Schema.String)
}) {
  override get message() {
    const held = this.members.length === 0 ? "It is empty" : `It holds ${this.members.join(", ")}`
    return `${this.zip} has no ${this.wanted}. ${held}. Give a branded-foods release, JSON or CSV, with --file.`
  }
}

export interface ZipLimits {
  /** Of one member, unpacked. The largest of all releases, food_nutrient.csv, has 1.7 GB. */
  readonly memberBytes: number
  /** Unpacked to packed, from `ratioFrom` bytes on. Real ones are at 7 (CSV) to 16 (JSON). */
  readonly ratio: number
  readonly ratioFrom: number
  /** A release has about a dozen. */
  readonly members: number
}

export const zipLimits: ZipLimits = { memberBytes: 20e9, ratio: 200, ratioFrom: 100e6, members: 10_000 }

export interface Member {
  /** Base name, in the case of the zip. */
  readonly name: string
  /** Name with its folder. */
  readonly path: string
  /** Unpacked, as declared. More is not read. */
  readonly bytes: number
  readonly entry: Entry
}

export interface Zip {
  readonly members: ReadonlyArray<Member>
  /** By base name, in any case. */
  member(name: string): Effect.Effect<Member, MemberMissing>
  /** The first `*.json`: its name differs between releases. */
  readonly json: Effect.Effect<Member, MemberMissing>
  /** Throws `ZipUnusable` where the member is not what the zip says, at the latest after its last byte. Read it once. */
  bytes(member: Member): AsyncGenerator<Buffer, void, undefined>
  /** Unpacks into a file, in constant memory. What a failure leaves of it is removed with the folder that it lies in. */
  extract(member: Member, file: string): Effect.Effect<void, ZipUnusable | FileUnwritable>
}

/** Pieces of one megabyte: with the usual 16 kB the calls between threads cost more than the inflating. */
const pieceBytes = 1 << 20

const stored = 0
const deflated = 8
const methods: Readonly<Record<number, string>> = { 9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "XZ" }

const isJunk = (path: string) =>
  path.endsWith("/") || path.startsWith("__MACOSX/") || path.includes("/__MACOSX/") || /(^|\/)\._[^/]*$/.test(path)

const baseOf = (path: string) => path.slice(path.lastIndexOf("/") + 1)

/** Only these are read, so only these must be unmistakable. */
const matters = (name: string) => /\.(csv|json)$/i.test(name)

const reasonOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

/** Why there is no list of members: a zip begins with its first member and ends with the list. */
const whyNoZip = async (file: string, cause: unknown) => {
  const opened = await open(file)
  try {
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(64), 0, 64, 0)
    const start = buffer.subarray(0, bytesRead)
    if (bytesRead === 0) return "the file is empty"
    if (start.readUInt16LE(0) === 0x4b50) return `it was cut off: its list of members is missing (${reasonOf(cause)})`
    return `it is not a zip: it begins with ${JSON.stringify(start.toString("latin1", 0, 20))}`
  } finally {
    await opened.close()
  }
}

const declaredTooLarge = ({ uncompressedSize: bytes, compressedSize: packed }: Entry, limits: ZipLimits) => {
  if (bytes > limits.memberBytes) return `it unpacks to ${bytes} bytes, more than the ${limits.memberBytes} allowed`
  return bytes > limits.ratioFrom && bytes > packed * limits.ratio
    ? `it unpacks to ${bytes} bytes from ${packed}: more than ${limits.ratio} times`
    : undefined
}

const unreadable = (entry: Entry, limits: ZipLimits) => {
  if (entry.isEncrypted()) return "it is encrypted"
  const { compressionMethod: method } = entry
  if (method !== stored && method !== deflated) {
    return `it is compressed with ${methods[method] ?? `method ${method}`}, and only Deflate can be read`
  }
  return declaredTooLarge(entry, limits)
}

/** A release that came unpacked, in the same pieces. Throws `ZipUnusable`, too. */
export async function* plainBytes(file: string, label: string): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const piece of createReadStream(file, { highWaterMark: pieceBytes })) yield piece
  } catch (cause) {
    throw new ZipUnusable({ zip: label, member: null, problem: reasonOf(cause) })
  }
}

/** The members, or the first thing wrong with one that matters. */
const membersOf = async (zip: string, opened: ZipFile, limits: ZipLimits) => {
  const members = new Map<string, Member>()
  let entries = 0
  for await (const entry of opened.eachEntry()) {
    entries += 1
    if (entries > limits.members) {
      throw new ZipUnusable({ zip, member: null, problem: `it has more than ${limits.members} members` })
    }
    const { extraFields, fileNameRaw, generalPurposeBitFlag } = entry
    const path = getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true)
    const refuse = (problem: string) => new ZipUnusable({ zip, member: path, problem })
    const climbs = validateFileName(path) !== null || /^[a-z]:|\0/i.test(path)
    if (climbs) throw refuse("its path leads out of the folder that it would be unpacked into")
    if (isJunk(path)) continue
    const name = baseOf(path)
    const other = members.get(name.toLowerCase())
    if (matters(name)) {
      const problem = unreadable(entry, limits)
      if (problem !== undefined) throw refuse(problem)
      if (other !== undefined) throw refuse(`${other.path} has the same name, and one of them would be lost`)
    }
    if (other === undefined) members.set(name.toLowerCase(), { name, path, bytes: entry.uncompressedSize, entry })
  }
  return [...members.values()]
}

/** The packed bytes of a member, as they lie in the file. */
const packed = async (file: string, opened: ZipFile, entry: Entry) => {
  const { fileDataStart: start } = await opened.readLocalFileHeaderPromise(entry, { minimal: true })
  if (entry.compressedSize === 0) return undefined // a range of nothing cannot be asked for
  return createReadStream(file, { start, end: start + entry.compressedSize - 1, highWaterMark: pieceBytes })
}

/** Inflating runs on a thread of its own, up to four pieces ahead of whoever reads. */
const ahead = { chunkSize: pieceBytes, readableHighWaterMark: 4 * pieceBytes }

const unpacked = (bytes: ReturnType<typeof createReadStream>) => {
  const inflate = createInflateRaw(ahead)
  pipeline(bytes, inflate, () => undefined) // a failure destroys `inflate`, and so reaches whoever reads
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

  const find = (wanted: string, isIt: (member: Member) => boolean) => {
    const found = members.find(isIt)
    const names = members.map(({ name }) => name).slice(0, 20)
    return found ? Effect.succeed(found) : Effect.fail(new MemberMissing({ zip: label, wanted, members: names }))
  }
  return {
    members,
    member: (name) => find(name, (member) => member.name.toLowerCase() === name.toLowerCase()),
    json: find("*.json", ({ name }) => /\.json$/i.test(name)),
    bytes,
    extract
  }
}

/** Opens the zip at `file` until the scope closes. Errors call it `label`: an archived payload's own name tells nobody. */
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
