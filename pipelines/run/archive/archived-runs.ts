/**
 * Earlier runs that read their source, for repeating them from the raw archive: what each run fetched and what it was
 * refused, in the order of the runs. A warehouse that is built from them holds the same rows with the same ids and the
 * same reads, without the network. Failed runs, dry runs and runs that were killed before they published are left out.
 */
import { randomUUID } from "node:crypto"
import { ifMissing, type Layout, ownFolder } from "@larder/warehouse"
import { Context, Effect, FileSystem, Layer, Path, Schema } from "effect"
import { reasonOf } from "../files/causes.ts"
import { NotRecorded, Origin } from "../origins/origin.ts"
import type { RefusedRequest } from "../origins/recorded-refusals.ts"
import { Archive } from "./archive.ts"
import { ArchiveUnwritable, decodeLine, type Fetch, hasPayload, hasRead, RawFileDamaged } from "./fetch-list.ts"
import { earlierFetch } from "./interrupted-runs.ts"
import { openPackedPayloads, type PackedPayloads } from "./packs/packed-payloads.ts"
import { runPayloads } from "./run-payloads.ts"

export interface ArchivedRun {
  readonly run_id: string
  /** When the first payload and the last response arrived: the list has no other times. */
  readonly started_at: string
  readonly finished_at: string
  readonly origin: Fetch["origin"]
  readonly days: Fetch["days"]
  readonly shrinkage_accepted: boolean
  /** False for a run without new rows. */
  readonly has_published: boolean
  /** Number of the generation that the run published according to its list; null if the list names none. */
  readonly generation: number | null
  /** The response for each address, in the order of arrival. */
  readonly fetches: ReadonlyArray<Fetch | RefusedRequest>
}

class ArchiveUnreadable extends Schema.TaggedError<ArchiveUnreadable>()("ArchiveUnreadable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The raw archive cannot be read: ${this.file}: ${reasonOf(this.cause)}`
  }
}

const unreadable = (file: string) => Effect.mapError((cause: unknown) => new ArchiveUnreadable({ file, cause }))
const linesOf = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(file).pipe(ifMissing(""), unreadable(file)) // absent if nothing was fetched
  return yield* Effect.forEach(text.split("\n").filter(Boolean), (line) => decodeLine(line)).pipe(unreadable(file))
})
const isFetch = (line: Effect.Success<ReturnType<typeof decodeLine>>) => "url" in line

/** The response for each address that a run requested, in the order of arrival. */
export const readFetches = Effect.fnUntraced(function* (folder: string, run_id: string) {
  const path = yield* Path.Path
  return (yield* linesOf(path.join(folder, "fetches", `${run_id}.ndjson`))).filter(isFetch)
})

/** The runs of a pipeline that read its source, ordered by id. An id begins with the clock time of the start. */
export const archivedRuns = Effect.fnUntraced(function* (
  folder: string,
  pipeline: string,
  /** Ids of runs that have published, whatever their lists say. */
  published: ReadonlySet<string> = new Set()
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const lists = path.join(folder, "fetches")
  const names = yield* fs.readDirectory(lists).pipe(unreadable(lists))
  const runs = yield* Effect.forEach(names.filter((name) => name.endsWith(".ndjson")).sort(), (name) =>
    linesOf(path.join(lists, name))
  )
  return runs.flatMap((lines): ReadonlyArray<ArchivedRun> => {
    const fetches = lines.filter(isFetch)
    const first = fetches.find(hasPayload)
    const end = lines.find(hasRead)
    if (first === undefined || first.pipeline !== pipeline) return []
    const { days, fetched_at: started_at, origin, run_id } = first
    if (end === undefined && !published.has(run_id)) return []
    return [
      {
        run_id,
        started_at,
        finished_at: answeredAt(fetches.at(-1) ?? first),
        origin,
        days,
        fetches,
        shrinkage_accepted: end?.shrinkage_accepted ?? false,
        has_published: published.has(run_id) || (end !== undefined && "published" in end),
        generation: end !== undefined && "published" in end ? Number(end.published.replace("larder-", "")) : null
      }
    ]
  })
})

const answeredAt = (line: Fetch | RefusedRequest) => ("refused_at" in line ? line.refused_at : line.fetched_at)

/** An address without its date window: a repeated run asks for another window. */
const withoutWindow = (url: string) => {
  const address = new URL(url)
  address.searchParams.delete("q")
  return address.href
}

/** Recorded responses by address. Several for one address are returned in order, and the last one repeats. */
const replies = (fetches: ReadonlyArray<Fetch | RefusedRequest>) => {
  const exact = Map.groupBy(fetches, ({ url }) => url)
  const anyWindow = Map.groupBy(fetches, ({ url }) => withoutWindow(url))
  return (url: string) => {
    const queue = exact.get(url) ?? anyWindow.get(withoutWindow(url)) ?? []
    return queue.length > 1 ? queue.shift() : queue[0]
  }
}

interface ArchiveToRepeat {
  readonly folder: string
  readonly packed: PackedPayloads
  /** Folder for unpacked payloads while runs are repeated. Nothing is written to the archive. */
  readonly scratch: string
}

/** Folder for unpacked payloads, on the disk of the warehouse: temporary folders may be in memory. */
export const unpackingFolder = (layout: Layout) => ownFolder(layout, `unpacked-${randomUUID()}`)

/** The archive of earlier runs. `scratch` is an existing folder. */
export const archiveToRepeat = Effect.fnUntraced(function* (folder: string, scratch: string) {
  const path = yield* Path.Path
  const packed = yield* openPackedPayloads(path.join(folder, "packs"), "scan").pipe(
    Effect.mapError((cause) => new ArchiveUnreadable({ file: folder, cause }))
  )
  return { folder, packed, scratch } satisfies ArchiveToRepeat as ArchiveToRepeat
})

/** Replaces the archive and the network: each request gets the response that the run received for it. */
export const repeated = (
  { folder, packed, scratch }: ArchiveToRepeat,
  { fetches, run_id }: Pick<ArchivedRun, "fetches" | "run_id">
): Layer.Layer<Archive | Origin, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const path = yield* Path.Path
      const fs = yield* FileSystem.FileSystem
      const replyTo = replies(fetches)
      const payloads = yield* runPayloads({ root: folder, own: path.join(scratch, run_id), packed })
      /** Provides a payload only if it is still what was fetched. */
      const fileFor = Effect.fnUntraced(function* ({ sha256 }: Fetch) {
        const found = yield* Effect.mapError(
          payloads.provide(sha256),
          (cause) => new ArchiveUnwritable({ folder: scratch, cause })
        )
        return "path" in found ? found.path : yield* new RawFileDamaged(found)
      })
      const archive = Archive.of({
        fetch: ({ url }) => {
          const reply = replyTo(url)
          if (reply === undefined) {
            const looked_for = [`fetches/${run_id}.ndjson`]
            return Effect.fail(new NotRecorded({ url, kind: "replay", folder, looked_for }))
          }
          if ("refusal" in reply) return Effect.fail(reply.refusal)
          return Effect.map(fileFor(reply), (file) => ({ ...reply, path: file })).pipe(
            Effect.provideService(FileSystem.FileSystem, fs)
          )
        },
        revalidate: () => Effect.void,
        earlier: (run, url) =>
          earlierFetch(path.join(folder, "fetches"), run, url, payloads.provide).pipe(
            Effect.provideService(FileSystem.FileSystem, fs),
            Effect.provideService(Path.Path, path)
          ),
        settled: Effect.void,
        published: () => Effect.void,
        ended: () => Effect.void,
        pack: Effect.void
      })
      const origin = Origin.of({
        kind: "replay",
        open: ({ url }) => Effect.die(new Error(`${url} was asked of the network in a run that is repeated`)),
        listing: (prefix) =>
          Effect.succeed(
            [...new Set(fetches.filter(hasPayload).map(({ url }) => url))]
              .filter((url) => url.startsWith(prefix))
              .sort()
          ),
        retrying: (attempt) => attempt
      })
      return Context.make(Archive, archive).pipe(Context.add(Origin, origin))
    })
  )
