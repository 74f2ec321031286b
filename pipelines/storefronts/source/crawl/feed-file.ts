/** Reads a store whose feed is one file, at an address or on this machine: fetches all of it, then reads pieces. */
import { createReadStream } from "node:fs"
import { open } from "node:fs/promises"
import { pipeline } from "node:stream"
import { createGunzip } from "node:zlib"
import { Effect, Stream } from "effect"
import { type RawFile, RawFileDamaged } from "../../../run/archive/fetch-list.ts"
import { codeOf } from "../../../run/files/causes.ts"
import { FeedUnreadable, type ReadFile } from "../../decode/feed.ts"
import { Judged } from "../../decode/stated.ts"
import { addressOfFile, isOfNetwork } from "../operator-files.ts"
import type { ListedStore } from "../store-list.ts"
import { isUnread, type Outcome, type Unread, unread, unreadOfPage } from "./outcome.ts"
import type { StorePolicy } from "./policy.ts"
import { makeAsking } from "./requests.ts"
import { storeRead, type TableEnd, type Take } from "./store-read.ts"

interface FileKind {
  readonly decode: ReadFile
  /** Fields that some row must state. */
  readonly needed: ReadonlyArray<string>
}

const addressOf = (location: string) => {
  const given = location.toWellFormed()
  return isOfNetwork(given) ? given : addressOfFile(given)
}

const damaged = ({ file }: RawFile, cause: unknown) =>
  new RawFileDamaged({ file, problem: `cannot be read (${cause instanceof Error ? cause.message : String(cause)})` })

/** Enough to distinguish a page from a feed, and compressed data from uncompressed data. */
const headBytes = 65_536

/** At most `length` bytes of the payload, starting at offset `from`. */
const pieceOf = (raw: RawFile, from: number, length: number) =>
  Effect.tryPromise({
    try: async () => {
      const opened = await open(raw.path)
      try {
        const { buffer, bytesRead } = await opened.read(Buffer.alloc(length), 0, length, from)
        return buffer.subarray(0, bytesRead)
      } finally {
        await opened.close()
      }
    },
    catch: (cause) => damaged(raw, cause)
  })
const headOf = (raw: RawFile) => pieceOf(raw, 0, headBytes)

const isPacked = (head: Buffer) => head[0] === 0x1f && head[1] === 0x8b
const isPage = (text: string) => /^\s*(<!doctype html|<html)/i.test(text.replace(/^\uFEFF/, ""))

/** In any encoding, with or without a byte order mark. */
const isXml = (head: Buffer) => /^[^\w<"]*</.test(head.toString("latin1").replaceAll("\0", ""))
const isLineEnd = (tail: Buffer) => /[\r\n]\0?$/.test(tail.toString("latin1"))

/** Null if the file is not a table. XML needs no such check: it ends with a tag that closes the first one. */
export const tableEndOf = Effect.fnUntraced(function* (raw: RawFile) {
  const head = yield* headOf(raw)
  if (isPacked(head)) return "with a line" satisfies TableEnd
  if (isXml(head)) return null
  const tail = yield* pieceOf(raw, Math.max(raw.bytes - 2, 0), 2)
  return isLineEnd(tail) ? "with a line" : ("within a line" satisfies TableEnd)
})

class TooLong extends Error {}

/** The bytes of a feed, unpacked if it is a `.gz`. Fails beyond `longest` bytes. */
async function* bytesOf({ path }: RawFile, packed: boolean, longest: number): AsyncGenerator<Uint8Array> {
  const file = createReadStream(path, { highWaterMark: 1 << 18 })
  const unpacked = packed ? pipeline(file, createGunzip(), () => undefined) : file // a failure here fails the loop too
  let bytes = 0
  for await (const piece of unpacked) {
    bytes += piece.length
    if (bytes > longest) throw new TooLong(`it is longer than ${longest.toLocaleString("en-US")} bytes`)
    yield piece
  }
}

/** A failure of the feed's reader, as opposed to one of the consumer of its rows. */
class Broke {
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}
const isBroke = (error: unknown): error is Broke => error instanceof Broke

/** Why the file could not be read to its end. Any other cause is a bug of ours. */
const failWith = (raw: RawFile, cause: unknown): Effect.Effect<never, Unread | RawFileDamaged> => {
  if (cause instanceof FeedUnreadable) return Effect.fail(unread("unreadable", cause.problem))
  if (cause instanceof TooLong) return Effect.fail(unread("too_large", cause.message))
  if (codeOf(cause).startsWith("Z_")) return Effect.fail(unread("unreadable", "the compressed file is damaged"))
  return cause instanceof Error && "syscall" in cause ? Effect.fail(damaged(raw, cause)) : Effect.die(cause)
}

/** Rows that were read before a limit count. Rows of a file that cannot be read as its kind do not. */
const endingOf = (outcome: Outcome, hasRows: boolean): Outcome => {
  if (outcome === "budget") return hasRows ? "budget" : "unreachable"
  return outcome === "too_large" && hasRows ? "broken_off" : outcome
}

export const readFeedFile = Effect.fn("Crawl.readFeedFile")(function* <E, R>(
  store: ListedStore,
  { decode, needed }: FileKind,
  take: Take<E, R>,
  policy: StorePolicy
) {
  const currency = store.currency ?? null
  const judged = new Judged()
  const read = { pages_read: 0, products_read: 0, currency, fields_seen: judged.seen }
  /** Currencies of all prices. A single one is the currency of the store, whatever the list says. */
  const currencies = new Set<string | null>()

  const reading = Effect.gen(function* () {
    const asking = yield* makeAsking(policy)
    const url = addressOf(store.location)
    if (!URL.canParse(url)) return yield* unread("not_found", `${store.location} is not an address`)
    const resuming = isOfNetwork(url) ? { resumable: true as const } : {}
    const raw = yield* asking.get({
      url,
      accept: "*/*",
      maxBytes: policy.longestFile,
      bodyTimeout: policy.budget,
      ...resuming
    })
    read.pages_read = 1
    const head = yield* headOf(raw)
    if (isPage(head.toString("utf8"))) return yield* unreadOfPage(head.toString("utf8"), raw.final_url)
    const pieces = bytesOf(raw, isPacked(head), policy.longestFile)
    const batches = Stream.fromAsyncIterable(
      decode(pieces, { currency, content_type: raw.content_type, judged }),
      (cause) => new Broke(cause)
    )
    const taken = Stream.runForEach(batches, (batch): Effect.Effect<void, E | Unread, R> => {
      read.products_read += batch.products.length
      if (judged.rejected > policy.mostRejects) {
        return Effect.fail(unread("unreadable", `${judged.rejected} rows cannot be used`))
      }
      for (const variant of batch.variants) if (variant.price !== null) currencies.add(variant.currency)
      read.currency = currencies.size === 1 ? ([...currencies][0] ?? currency) : currency
      return take(batch, raw)
    })
    yield* Effect.catchIf(taken, isBroke, ({ cause }) => failWith(raw, cause)).pipe(
      Effect.timeoutOrElse({
        duration: policy.budget,
        orElse: () => Effect.fail(unread("budget", "its rows took too long to read"))
      })
    )
    const fault = judged.fault(needed)
    if (fault !== null) return yield* unread("unreadable", fault)
    const table_end = yield* tableEndOf(raw)
    return storeRead(read.products_read > 0 ? "complete" : "empty", null, { ...read, table_end })
  })

  return yield* Effect.catchIf(Effect.scoped(reading), isUnread, ({ detail, outcome }) => {
    return Effect.succeed(storeRead(endingOf(outcome, read.products_read > 0), detail, read))
  })
})
