/**
 * Payloads of killed or interrupted runs. The next run of the pipeline reuses them in the order of arrival, each only
 * once: an address that is requested twice to detect a change is fetched again the second time. A payload is reused
 * only if it was fetched from the network within the last six hours and after the last run that ended, so that a run
 * never reports data that is older than the published data as new.
 */
import path from "node:path"
import { ifMissing } from "@larder/warehouse"
import { Clock, Effect, FileSystem, Option, Stream } from "effect"
import { type Fetch, hasPayload, parseLastLine, parseLine, statList } from "./fetch-list.ts"
import type { RunPayloads } from "./run-payloads.ts"

/** Shops mostly change prices and stock once a day. */
export const maxReuseAge = 6 * 3_600_000

const isFromNetwork = ({ origin, url }: Fetch) => origin === "live" && /^https?:/i.test(url)

/** Bytes at the end of a list that contain its last line: the line that records how a run ended is short. */
const tailBytes = 4096

/** Returns when a list was last written and, if that was recently, whether its run ended. */
const inspectList = Effect.fnUntraced(function* (file: string, earliest: number) {
  const fs = yield* FileSystem.FileSystem
  const { mtime, size } = yield* statList(file)
  const writtenAt = Option.match(mtime, { onNone: () => 0, onSome: (at) => at.getTime() })
  if (writtenAt <= earliest) return { file, writtenAt, hasEnded: false }
  const tail = fs.stream(file, { offset: Math.max(0, Number(size) - tailBytes) })
  const line = yield* parseLastLine(yield* Stream.mkString(Stream.decodeText(tail)))
  const hasEnded = line !== undefined && ("published" in line || "ended" in line)
  return { file, writtenAt, hasEnded }
})

const openList = Effect.fnUntraced(function* (file: string) {
  yield* statList(file)
  const fs = yield* FileSystem.FileSystem
  return fs.stream(file)
})

/** Streams the fetches with a payload of a list, in order. `matches` checks a line before it is parsed. */
const streamFetches = (file: string, matches: (line: string) => boolean) =>
  Stream.unwrap(openList(file)).pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filter(matches),
    Stream.mapEffect(parseLine),
    Stream.filter((line) => line !== undefined),
    Stream.filter(hasPayload)
  )

export const readNetworkFetches = (file: string, matches: (line: string) => boolean = () => true) =>
  Stream.runCollect(Stream.filter(streamFetches(file, matches), isFromNetwork))

/** The first fetch whose line contains this address; undefined if the archive does not have it or cannot be read. */
export const findEarlierFetch = Effect.fnUntraced(
  function* (lists: string, run: string, url: string, provide: RunPayloads["provide"]) {
    const lines = streamFetches(path.join(lists, `${run}.ndjson`), (line) => line.includes(JSON.stringify(url)))
    const line = Option.getOrUndefined(yield* Stream.runHead(lines)) // the rest of the list is not read
    const payload = line && (yield* provide(line.sha256))
    return line && payload && "path" in payload ? { ...line, path: payload.path } : undefined
  },
  Effect.orElseSucceed(() => undefined)
)

export const findReusableFetches = Effect.fn("InterruptedRuns.fetches")(function* (lists: string, pipeline: string) {
  const fs = yield* FileSystem.FileSystem
  const listed = yield* fs.readDirectory(lists).pipe(ifMissing<ReadonlyArray<string>>([]))
  const names = listed.filter((name) => name.includes(`-${pipeline}-`)).sort()
  const now = yield* Clock.currentTimeMillis
  const earliest = now - maxReuseAge
  const inspected = yield* Effect.forEach(names, (name) => inspectList(path.join(lists, name), earliest))
  const endTimes = inspected.flatMap(({ hasEnded, writtenAt }) => (hasEnded ? [writtenAt] : []))
  const since = Math.max(earliest, ...endTimes)
  const recent = inspected.filter(({ hasEnded, writtenAt }) => !hasEnded && writtenAt > since)
  const fetches = (yield* Effect.forEach(recent, ({ file }) => readNetworkFetches(file))).flat()
  const isRecent = (at: number) => at > since && at <= now // rejects times from a clock that was ahead
  const fetched = fetches.filter(({ fetched_at }) => isRecent(Date.parse(fetched_at)))
  // an interrupted run that itself reused payloads lists some of them again
  const distinct = new Map(fetched.map((line) => [`${line.url} ${line.fetched_at} ${line.sha256}`, line]))
  const sorted = [...distinct.values()].sort((a, b) => Date.parse(a.fetched_at) - Date.parse(b.fetched_at))
  const [first] = sorted
  if (first !== undefined) {
    const facts = { payloads: sorted.length, since: first.fetched_at }
    yield* Effect.logInfo("reusing payloads of interrupted runs", facts)
  }
  return Map.groupBy(sorted, ({ url }) => url)
})
