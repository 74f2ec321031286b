/**
 * What killed or interrupted runs of a pipeline fetched: the next run takes these payloads instead of requesting them
 * again. It takes them in the order of arrival, each once, so that an address that is requested twice to detect a
 * change is requested again. A payload counts only if it came over the network within the last hours and after the last
 * run that ended: a run never reports data as new that is older than the known data.
 */
import { ifMissing } from "@larder/warehouse"
import { Clock, Effect, FileSystem, Option, Path, Stream } from "effect"
import { type Fetch, hasPayload, lastLineOf, parsedLine } from "./fetch-list.ts"
import type { RunPayloads } from "./run-payloads.ts"

/** Shops mostly change prices and stock once a day. */
export const takenFor = 6 * 3_600_000

const isOfNetwork = ({ origin, url }: Fetch) => origin === "live" && /^https?:/i.test(url)

/** Bytes at the end of a list that contain its last line: the line that records how a run ended is short. */
const tailBytes = 4096

/** When a list was last written and, if that was recently, whether its run ended. */
const look = Effect.fnUntraced(function* (file: string, earliest: number) {
  const fs = yield* FileSystem.FileSystem
  const { mtime, size } = yield* fs.stat(file)
  const written = Option.match(mtime, { onNone: () => 0, onSome: (at) => at.getTime() })
  if (written <= earliest) return { file, written, hasEnded: false }
  const tail = fs.stream(file, { offset: Math.max(0, Number(size) - tailBytes) })
  const line = yield* lastLineOf(yield* Stream.mkString(Stream.decodeText(tail)))
  const hasEnded = line !== undefined && ("published" in line || "ended" in line)
  return { file, written, hasEnded }
})

/** The payloads of a list, in order. `isWanted` checks the text of a line before it is parsed. */
const payloadsIn = (file: string, isWanted: (line: string) => boolean) =>
  Stream.unwrap(Effect.map(FileSystem.FileSystem, (fs) => fs.stream(file))).pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filter(isWanted),
    Stream.mapEffect(parsedLine),
    Stream.filter((line) => line !== undefined),
    Stream.filter(hasPayload)
  )

/** The payloads of a list that came over the network. */
export const fetchedBy = (file: string, isWanted: (line: string) => boolean = () => true) =>
  Stream.runCollect(Stream.filter(payloadsIn(file, isWanted), isOfNetwork))

/**
 * The first payload that a run of this archive fetched from this address; undefined if the archive has no record of it,
 * or lacks the payload.
 */
export const earlierFetch = Effect.fnUntraced(
  function* (lists: string, run: string, url: string, provide: RunPayloads["provide"]) {
    const path = yield* Path.Path
    const lines = payloadsIn(path.join(lists, `${run}.ndjson`), (line) => line.includes(JSON.stringify(url)))
    const line = Option.getOrUndefined(yield* Stream.runHead(lines)) // the rest of the list is not read
    const found = line && (yield* provide(line.sha256))
    return line && found && "path" in found ? { ...line, path: found.path } : undefined
  },
  Effect.orElseSucceed(() => undefined)
)

/** Payloads that may be taken over, by address, oldest first. */
export const interruptedFetches = Effect.fn("InterruptedRuns.fetches")(function* (lists: string, pipeline: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const listed = yield* fs.readDirectory(lists).pipe(ifMissing<ReadonlyArray<string>>([]))
  const names = listed.filter((name) => name.includes(`-${pipeline}-`)).sort()
  const now = yield* Clock.currentTimeMillis
  const earliest = now - takenFor
  const seen = yield* Effect.forEach(names, (name) => look(path.join(lists, name), earliest))
  const since = seen.reduce((last, { hasEnded, written }) => (hasEnded ? Math.max(last, written) : last), earliest)
  const young = seen.filter(({ hasEnded, written }) => !hasEnded && written > since)
  const all = (yield* Effect.forEach(young, ({ file }) => fetchedBy(file))).flat()
  const isYoung = (at: number) => at > since && at <= now // rejects times from a clock that was ahead
  const fetched = all.filter(({ fetched_at }) => isYoung(Date.parse(fetched_at)))
  // an interrupted run that itself took payloads over lists some of them again
  const each = new Map(fetched.map((line) => [`${line.url} ${line.fetched_at} ${line.sha256}`, line]))
  const inTurn = [...each.values()].sort((a, b) => Date.parse(a.fetched_at) - Date.parse(b.fetched_at))
  if (inTurn.length > 0) {
    yield* Effect.logInfo("resuming where an earlier run was interrupted", {
      payloads: inTurn.length,
      since: inTurn[0]?.fetched_at
    })
  }
  return Map.groupBy(inTurn, ({ url }) => url)
})
