/**
 * Earlier runs that read their source, for repeating them from the raw archive without the network: their payloads and
 * refusals, in the order of the runs. A warehouse that is built from them has the same rows, ids and reads. Failed runs,
 * dry runs and runs that were killed before they published are left out.
 */

import { randomUUID } from "node:crypto"
import path from "node:path"
import { ifMissing, type Layout, makeOwnFolder } from "@larder/warehouse"
import { Context, Effect, FileSystem, Layer } from "effect"
import { NotRecorded, Origin, type RefusedRequest } from "../origins/origin.ts"
import { Archive } from "./archive.ts"
import {
  ArchiveUnreadable,
  ArchiveUnwritable,
  decodeLine,
  type Fetch,
  hasPayload,
  hasRead,
  parseLine,
  RawFileDamaged,
  statList,
  writeCauseOf
} from "./fetch-list.ts"
import { findEarlierFetch } from "./interrupted-runs.ts"
import { openRunPayloads } from "./run-payloads.ts"

export interface ArchivedRun {
  readonly run_id: string
  /** When the first payload and the last response arrived: the list has no other times. */
  readonly started_at: string
  readonly finished_at: string
  readonly origin: Fetch["origin"]
  readonly days: Fetch["days"]
  readonly shrinkage_accepted: boolean
  readonly has_published: boolean
  /** Number of the generation that the run published according to its list; null if the list names none. */
  readonly generation: number | null
  /** The response for each address, in the order of arrival. */
  readonly fetches: ReadonlyArray<Fetch | RefusedRequest>
}

const unreadable = (file: string) =>
  Effect.mapError((cause: unknown) =>
    cause instanceof ArchiveUnreadable ? cause : new ArchiveUnreadable({ file, cause })
  )
const readLines = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* unreadable(file)(fs.exists(file)))) return [] // nothing was fetched
  const text = yield* Effect.andThen(statList(file), fs.readFileString(file)).pipe(unreadable(file))
  const complete = text.slice(0, text.lastIndexOf("\n") + 1)
  const lines = yield* Effect.forEach(complete.split("\n").filter(Boolean), (line) => decodeLine(line)).pipe(
    unreadable(file)
  )
  const rest = text.slice(complete.length)
  if (rest === "") return lines
  const last = yield* parseLine(rest)
  if (last !== undefined) return [...lines, last]
  yield* Effect.logWarning(
    `the last line of ${file} is ignored: it is incomplete, as a crash or a power failure may leave it`
  )
  return lines
})
const isFetchOrRefusal = (line: Effect.Success<ReturnType<typeof decodeLine>>) => "url" in line

export const readFetches = (folder: string, run_id: string) =>
  Effect.map(readLines(path.join(folder, "fetches", `${run_id}.ndjson`)), (lines) => lines.filter(isFetchOrRefusal))

/** Lists the runs of a pipeline that read its source, ordered by id. An id begins with the clock time of the start. */
export const listArchivedRuns = Effect.fnUntraced(function* (
  folder: string,
  pipeline: string,
  /** Ids of runs that have published, even if their lists do not record it. */
  published: ReadonlySet<string> = new Set()
) {
  const fs = yield* FileSystem.FileSystem
  const lists = path.join(folder, "fetches")
  const names = yield* fs.readDirectory(lists).pipe(ifMissing<ReadonlyArray<string>>([]), unreadable(lists))
  const runs = yield* Effect.forEach(names.filter((name) => name.endsWith(".ndjson")).sort(), (name) =>
    readLines(path.join(lists, name))
  )
  return runs.flatMap((lines): ReadonlyArray<ArchivedRun> => {
    const fetches = lines.filter(isFetchOrRefusal)
    const first = fetches.find(hasPayload)
    const last = fetches.at(-1)
    const end = lines.find(hasRead)
    if (first?.pipeline !== pipeline || last === undefined) return []
    const { days, fetched_at: started_at, origin, run_id } = first
    if (end === undefined && !published.has(run_id)) return []
    const generation = end !== undefined && "published" in end ? Number(end.published.replace("larder-", "")) : null
    const finished_at = "refused_at" in last ? last.refused_at : last.fetched_at
    const shrinkage_accepted = end?.shrinkage_accepted ?? false
    const has_published = published.has(run_id) || generation !== null
    return [{ run_id, started_at, finished_at, origin, days, fetches, shrinkage_accepted, has_published, generation }]
  })
})

/** A repeated run requests another date window. */
const removeWindow = (url: string) => {
  const address = new URL(url)
  address.searchParams.delete("q")
  return address.href
}

/** Several responses for one address are returned in order, and the last one repeats. */
const makeResponder = (fetches: ReadonlyArray<Fetch | RefusedRequest>) => {
  const exact = Map.groupBy(fetches, ({ url }) => url)
  const anyWindow = Map.groupBy(fetches, ({ url }) => removeWindow(url))
  return (url: string) => {
    const queue = exact.get(url) ?? anyWindow.get(removeWindow(url)) ?? []
    return queue.length > 1 ? queue.shift() : queue[0]
  }
}

/** For copies of payloads, on the disk of the warehouse: temporary folders may be in memory. */
export const makeScratchFolder = (layout: Layout) => makeOwnFolder(layout, `payloads-${randomUUID()}`)

interface ArchiveFolders {
  readonly folder: string
  /** An existing folder for copies of payloads: nothing is written to the archive. */
  readonly scratch: string
}

/** Replaces the archive and the network: each request gets the response of the original run. */
export const repeatRun = (
  { folder, scratch }: ArchiveFolders,
  { fetches, run_id }: Pick<ArchivedRun, "fetches" | "run_id">
): Layer.Layer<Archive | Origin, never, FileSystem.FileSystem> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const findResponse = makeResponder(fetches)
      const payloads = yield* openRunPayloads({ root: folder, runFolder: path.join(scratch, run_id) })
      const provide = Effect.fnUntraced(function* (fetched: Fetch) {
        const payload = yield* Effect.mapError(
          payloads.provide(fetched.sha256),
          (error) => new ArchiveUnwritable({ folder: scratch, cause: writeCauseOf(error) })
        )
        return "path" in payload ? { ...fetched, path: payload.path } : yield* new RawFileDamaged(payload)
      })
      const archive = Archive.of({
        fetch: ({ url }) => {
          const line = findResponse(url)
          if (line === undefined) {
            const looked_for = [`fetches/${run_id}.ndjson`]
            return Effect.fail(new NotRecorded({ url, kind: "replay", folder, looked_for }))
          }
          if ("refusal" in line) return Effect.fail(line.refusal)
          return Effect.provideService(provide(line), FileSystem.FileSystem, fs)
        },
        revalidate: () => Effect.void,
        findEarlier: (run, url) =>
          findEarlierFetch(path.join(folder, "fetches"), run, url, payloads.provide).pipe(
            Effect.provideService(FileSystem.FileSystem, fs)
          ),
        flush: Effect.void,
        recordEnd: () => Effect.void,
        compressLarge: Effect.void
      })
      const origin = Origin.of({
        kind: "replay",
        open: ({ url }) => Effect.die(new Error(`${url} was requested from the network in a run that is repeated`)),
        list: (prefix) =>
          Effect.succeed(
            [...new Set(fetches.filter(hasPayload).map(({ url }) => url))]
              .filter((url) => url.startsWith(prefix))
              .sort()
          ),
        retry: (attempt) => attempt
      })
      return Context.make(Archive, archive).pipe(Context.add(Origin, origin))
    })
  )
