/**
 * Reads the list of members of a zip at a source from its last bytes, and the beginning of each member, without
 * fetching all of it: requests the rest from an offset, and closes the connection after a few hundred kilobytes.
 */
import { constants, inflateRawSync } from "node:zlib"
import { Data, Effect, Stream } from "effect"
import { fromRandomAccessReaderPromise, RandomAccessReader } from "yauzl"
import {
  deflated,
  readZipMembers,
  type ZipMember,
  ZipUnusable,
  zipLimits
} from "../branded-foods/source/zip-members.ts"
import { reasonOf } from "../run/files/causes.ts"
import { Origin, type Resume, type SourceRequest } from "../run/origins/origin.ts"
import { takeBytes } from "../run/origins/transport.ts"

/** Enough for the list of a dozen members, and a comment. */
const tailBytes = 128 << 10
/** Compressed bytes. Decompressed, they contain a few hundred records. */
const headBytes = 64 << 10

export interface MemberHead extends Pick<ZipMember, "name" | "path" | "bytes"> {
  /** Its first bytes, decompressed. */
  readonly head: Buffer
}

export interface ZipHeads {
  readonly bytes: number
  readonly listed: ReadonlyArray<Pick<ZipMember, "path" | "bytes">>
  readonly members: ReadonlyArray<MemberHead>
}

/** The server sends only the whole file, or reports no length or no validator. */
class NoRanges extends Data.TaggedError("NoRanges") {}

const readRange = Effect.fnUntraced(function* (request: SourceRequest, maxBytes: number, resume?: Resume) {
  const origin = yield* Origin
  const attempt = Effect.gen(function* () {
    const response = yield* origin.open(request, resume)
    if (response.from !== (resume?.from ?? 0)) return { response, bytes: Buffer.alloc(0) }
    const parts = yield* Stream.runCollect(takeBytes(response.body, maxBytes))
    return { response, bytes: Buffer.concat(parts) }
  })
  return yield* origin.retry(Effect.scoped(attempt))
})

/** For yauzl, which reads the list of members in small steps. The whole list is in the tail. */
class TailReader extends RandomAccessReader {
  readonly #tail: Buffer
  readonly #from: number
  constructor(tail: Buffer, from: number) {
    super()
    this.#tail = tail
    this.#from = from
  }
  override read(buffer: Buffer, offset: number, length: number, position: number, done: (error: Error | null) => void) {
    const start = position - this.#from
    if (start < 0) return done(new Error("its list of members is longer than that of any release"))
    this.#tail.copy(buffer, offset, start, start + length)
    done(null)
  }
}

/** 30 bytes, the name and the extra fields precede the bytes of a member (APPNOTE.TXT, 4.3.7). */
const skipLocalHeader = (start: Buffer) => start.subarray(30 + start.readUInt16LE(26) + start.readUInt16LE(28))

const inflate = (bytes: Buffer, method: number) =>
  method === deflated ? inflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }) : bytes

export const readZipHeads = Effect.fn("probe.zipHeads")(function* (
  request: SourceRequest,
  select: (members: ReadonlyArray<ZipMember>) => ReadonlyArray<ZipMember>
) {
  const label = request.url.slice(request.url.lastIndexOf("/") + 1)
  const unusable = (problem: string) => new ZipUnusable({ zip: label, member: null, problem })
  const start = yield* readRange(request, 64)
  const { etag, last_modified, total } = start.response
  if (start.bytes.toString("latin1", 0, 2) !== "PK") return yield* unusable("it is not a zip")
  const { kind } = yield* Origin
  const validator = etag ?? last_modified ?? (kind === "live" ? null : "recorded") // a recording does not change
  if (total === null || validator === null) return yield* new NoRanges()
  const from = Math.max(0, total - tailBytes)
  const readFrom = (offset: number, maxBytes: number) =>
    readRange(request, maxBytes, offset === 0 ? undefined : { from: offset, validator })
  const tail = yield* readFrom(from, tailBytes)
  if (tail.bytes.length < total - from) return yield* new NoRanges()
  const members = yield* Effect.tryPromise({
    try: async () => {
      const opened = await fromRandomAccessReaderPromise(new TailReader(tail.bytes, from), total, {
        autoClose: false,
        decodeStrings: false
      })
      return readZipMembers(label, opened, zipLimits)
    },
    catch: (cause) =>
      cause instanceof ZipUnusable ? cause : unusable(`its list of members is damaged (${reasonOf(cause)})`)
  })
  const heads = yield* Effect.forEach(
    select(members),
    Effect.fnUntraced(function* ({ bytes, entry, name, path }) {
      const { bytes: packed } = yield* readFrom(entry.relativeOffsetOfLocalHeader, headBytes)
      const head = yield* Effect.try({
        try: () => inflate(skipLocalHeader(packed).subarray(0, entry.compressedSize), entry.compressionMethod),
        catch: (cause) => new ZipUnusable({ zip: label, member: path, problem: reasonOf(cause) })
      })
      return { name, path, bytes, head } satisfies MemberHead
    })
  )
  const listed = members.map(({ bytes, path }) => ({ path, bytes }))
  return { bytes: total, listed, members: heads } satisfies ZipHeads
})
