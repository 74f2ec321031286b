/** Reads a store whose feed is one file, on the web or on this machine: fetches all of it, then reads it in pieces. */
import { createReadStream } from "node:fs"
import { open } from "node:fs/promises"
import { pipeline } from "node:stream"
import { createGunzip } from "node:zlib"
import { Effect, Stream } from "effect"
import { type FetchedPayload, RawFileDamaged } from "../../../run/archive/fetch-list.ts"
import { codeOf, reasonOf } from "../../../run/files/causes.ts"
import type { ReadFile } from "../../decode/feed.ts"
import { FeedUnreadable } from "../../decode/feed-errors.ts"
import { FeedStats } from "../../decode/feed-stats.ts"
import { fileAddress, isWebAddress } from "../operator-files.ts"
import type { ListedStore } from "../store-list.ts"
import { isTimeLimit, isUnread, makeUnread, type StoreOutcome, type Unread, unreadFromPage } from "./outcome.ts"
import type { StorePolicy } from "./policy.ts"
import { makeStoreRequests } from "./requests.ts"
import { findCurrencyConflict, makeStoreRead, type StoreRead, type TableEnd, type TakeRows } from "./store-read.ts"

interface FileKind {
  readonly decode: ReadFile
  readonly required: ReadonlyArray<string>
}

const toAddress = (location: string) => {
  const address = location.toWellFormed()
  return isWebAddress(address) ? address : fileAddress(address)
}

const makeDamaged = ({ path: file }: FetchedPayload, cause: unknown) =>
  new RawFileDamaged({ file, problem: `cannot be read (${reasonOf(cause)})` })

/** Enough to distinguish a page from a feed, and compressed data from uncompressed data. */
const headBytes = 65_536

const readPiece = (raw: FetchedPayload, from: number, length: number) =>
  Effect.tryPromise({
    try: async () => {
      const file = await open(raw.path)
      try {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from)
        return buffer.subarray(0, bytesRead)
      } finally {
        await file.close()
      }
    },
    catch: (cause) => makeDamaged(raw, cause)
  })
const readHead = (raw: FetchedPayload) => readPiece(raw, 0, headBytes)

const isGzip = (head: Buffer) => head[0] === 0x1f && head[1] === 0x8b
const isPage = (text: string) => /^\s*(<!doctype html|<html)/i.test(text.replace(/^\uFEFF/, ""))

/** In any encoding, with or without a byte order mark. */
const isXml = (head: Buffer) => /^[^\w<"]*</.test(head.toString("latin1").replaceAll("\0", ""))
const isLineEnd = (tail: Buffer) => /[\r\n]\0?$/.test(tail.toString("latin1"))

/** Null if the file is not a table. XML needs no such check: it ends with a tag that closes the first one. */
export const findTableEnd = Effect.fnUntraced(function* (raw: FetchedPayload) {
  const head = yield* readHead(raw)
  if (isGzip(head)) return "newline" satisfies TableEnd
  if (isXml(head)) return null
  const tail = yield* readPiece(raw, Math.max(raw.bytes - 2, 0), 2)
  return isLineEnd(tail) ? "newline" : ("mid_line" satisfies TableEnd)
})

class TooLong extends Error {}

/** The bytes of a feed, unpacked if it is a `.gz`. Fails beyond `maxBytes`. */
async function* readBytes({ path }: FetchedPayload, isPacked: boolean, maxBytes: number): AsyncGenerator<Uint8Array> {
  const file = createReadStream(path, { highWaterMark: 1 << 18 })
  const unpacked = isPacked ? pipeline(file, createGunzip(), () => undefined) : file // a failure here fails the loop too
  let bytes = 0
  for await (const piece of unpacked) {
    bytes += piece.length
    if (bytes > maxBytes) throw new TooLong(`it is longer than ${maxBytes.toLocaleString("en-US")} bytes`)
    yield piece
  }
}

/** A failure of the decoder, as opposed to a failure of the consumer of its rows. */
class DecodeFailure {
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}
const isDecodeFailure = (error: unknown): error is DecodeFailure => error instanceof DecodeFailure

/** Why the file could not be read to its end. Any other cause is a defect. */
const failWith = (raw: FetchedPayload, cause: unknown): Effect.Effect<never, Unread | RawFileDamaged> => {
  if (cause instanceof FeedUnreadable) return Effect.fail(makeUnread("unreadable", cause.problem))
  if (cause instanceof TooLong) return Effect.fail(makeUnread("too_large", cause.message))
  if (codeOf(cause).startsWith("Z_")) return Effect.fail(makeUnread("unreadable", "the compressed file is damaged"))
  return cause instanceof Error && "syscall" in cause ? Effect.fail(makeDamaged(raw, cause)) : Effect.die(cause)
}

/** Rows that were read before a limit are used; rows of a file that turns out to be another format are not. */
const adjustOutcome = (outcome: StoreOutcome, hasRows: boolean): StoreOutcome => {
  if (isTimeLimit(outcome) && hasRows) return "budget"
  if (outcome === "budget") return "unreachable"
  return outcome === "too_large" && hasRows ? "broken_off" : outcome
}

export const readFeedFile = Effect.fn("Crawl.readFeedFile")(function* <E, R>(
  store: ListedStore,
  { decode, required }: FileKind,
  take: TakeRows<E, R>,
  policy: StorePolicy
) {
  const currency = store.currency ?? null
  const stats = new FeedStats()
  const read = { pages_read: 0, products_read: 0, currency }
  /** Currencies of all prices, null for those that name none. A single one is the currency of the store. */
  const currencies = new Set<string | null>()
  const describeRead = (): Partial<StoreRead> => ({
    ...read,
    currency_conflict: findCurrencyConflict(store, currencies) ?? stats.currencyConflict,
    sale_changes_at: stats.saleChange,
    fields_seen: stats.fieldsSeen
  })

  const reading = Effect.gen(function* () {
    const requests = yield* makeStoreRequests(policy)
    const url = toAddress(store.location)
    if (!URL.canParse(url)) return yield* makeUnread("not_found", `${store.location} is not an address`)
    const raw = yield* requests.get({
      url,
      accept: "*/*",
      maxBytes: policy.maxFileBytes,
      ...(isWebAddress(url) && { resumable: true })
    })
    read.pages_read = 1
    const head = yield* readHead(raw)
    if (isPage(head.toString("utf8"))) return yield* unreadFromPage(head.toString("utf8"), raw.final_url)
    const openFile = () => readBytes(raw, isGzip(head), policy.maxFileBytes)
    const batches = Stream.fromAsyncIterable(
      decode(openFile, {
        currency,
        content_type: raw.content_type,
        encoding: store.encoding ?? null,
        read_at: Date.parse(raw.fetched_at),
        stats
      }),
      (cause) => new DecodeFailure(cause)
    )
    const takeAll = Stream.runForEach(batches, (batch): Effect.Effect<void, E | Unread, R> => {
      read.products_read += batch.products.length
      if (stats.rejectCount > policy.maxRejects) {
        return Effect.fail(makeUnread("unreadable", `${stats.rejectCount} rows cannot be used`))
      }
      for (const variant of batch.variants) if (variant.price !== null) currencies.add(variant.currency)
      read.currency = currencies.size === 1 ? ([...currencies][0] ?? currency) : currency
      return take(batch, raw)
    })
    yield* Effect.catchIf(takeAll, isDecodeFailure, ({ cause }) => failWith(raw, cause)).pipe(
      Effect.timeoutOrElse({
        duration: policy.budget,
        orElse: () => Effect.fail(makeUnread("budget", "its rows took too long to read"))
      })
    )
    const fault = stats.findFault(required)
    if (fault !== null) return yield* makeUnread("unreadable", fault)
    const table_end = yield* findTableEnd(raw)
    return makeStoreRead(read.products_read > 0 ? "complete" : "empty", null, { ...describeRead(), table_end })
  })

  return yield* Effect.catchIf(Effect.scoped(reading), isUnread, ({ detail, outcome }) =>
    Effect.succeed(makeStoreRead(adjustOutcome(outcome, read.products_read > 0), detail, describeRead()))
  )
})
