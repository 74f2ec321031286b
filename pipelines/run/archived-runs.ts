/**
 * Earlier runs that read their source, read again from the raw archive: what each fetched and what it was refused, in the order
 * in which they ran. A warehouse that is built from them holds the same rows with the same ids and the same reads, without
 * the network. Runs that failed stay out, and dry ones and killed ones.
 */
import { randomUUID } from "node:crypto"
import { ifMissing, type Layout } from "@larder/warehouse/generation/layout.ts"
import { ownFolder } from "@larder/warehouse/staging.ts"
import { Context, Effect, FileSystem, Layer, Path, Schema } from "effect"
import { Archive } from "./archive.ts"
import { decodeLine, type Fetch, hasPayload, hasRead } from "./fetch-list.ts"
import { earlierFetch } from "./interrupted-runs.ts"
import { NotRecorded, Origin } from "./origin.ts"
import { openPackedPayloads, type PackedPayloads } from "./packs/packed-payloads.ts"
import { ArchiveUnwritable, RawFileDamaged } from "./raw-file.ts"
import type { Refused } from "./refused.ts"
import { runPayloads } from "./run-payloads.ts"

export interface ArchivedRun {
  readonly run_id: string
  /** When its first payload came, and its last answer: the list does not know more. */
  readonly started_at: string
  readonly finished_at: string
  readonly origin: Fetch["origin"]
  readonly days: Fetch["days"]
  readonly shrinkage_accepted: boolean
  /** False for a run that brought no new row. */
  readonly has_published: boolean
  /** The number of the generation that it published, as its list names it; null where it does not. */
  readonly generation: number | null
  /** How each address was answered, in the order in which the answers came. */
  readonly fetches: ReadonlyArray<Fetch | Refused>
}

export class ArchiveUnreadable extends Schema.TaggedError<ArchiveUnreadable>()("ArchiveUnreadable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The raw archive cannot be read: ${this.file}: ${reason}`
  }
}

const unreadable = (file: string) => Effect.mapError((cause: unknown) => new ArchiveUnreadable({ file, cause }))
const linesOf = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(file).pipe(ifMissing(""), unreadable(file)) // of a run that fetched nothing
  return yield* Effect.forEach(text.split("\n").filter(Boolean), (line) => decodeLine(line)).pipe(unreadable(file))
})
const isFetch = (line: Effect.Success<ReturnType<typeof decodeLine>>) => "url" in line

/** How each address was answered that a run asked, in the order in which the answers came. */
export const fetchesOf = Effect.fnUntraced(function* (folder: string, run_id: string) {
  const path = yield* Path.Path
  return (yield* linesOf(path.join(folder, "fetches", `${run_id}.ndjson`))).filter(isFetch)
})

/** The runs of a pipeline that read its source, in the order of their ids, which say what the clock was when each started. */
export const archivedRuns = Effect.fnUntraced(function* (
  folder: string,
  pipeline: string,
  /** Ids of runs that published whatever their lists say. */
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

const answeredAt = (line: Fetch | Refused) => ("refused_at" in line ? line.refused_at : line.fetched_at)

/** An address without the window of days that was asked for: a run that is repeated asks for another one. */
const withoutWindow = (url: string) => {
  const address = new URL(url)
  address.searchParams.delete("q")
  return address.href
}

/** What came for each address. One that was asked more than once gets its answers in their order, and the last one for ever. */
const replies = (fetches: ReadonlyArray<Fetch | Refused>) => {
  const exact = Map.groupBy(fetches, ({ url }) => url)
  const anyWindow = Map.groupBy(fetches, ({ url }) => withoutWindow(url))
  return (url: string) => {
    const queue = exact.get(url) ?? anyWindow.get(withoutWindow(url)) ?? []
    return queue.length > 1 ? queue.shift() : queue[0]
  }
}

export interface ArchiveToRepeat {
  readonly folder: string
  readonly packed: PackedPayloads
  /** A folder for what is unpacked, until a run has been repeated. Nothing is written to the archive. */
  readonly scratch: string
}

/** A folder for what is unpacked, on the disk of the warehouse: folders for temporary files may lie in memory. */
export const unpackingFolder = (layout: Layout) => ownFolder(layout, `unpacked-${randomUUID()}`)

/** The archive of earlier runs. `scratch` is a folder that is there. */
export const archiveToRepeat = Effect.fnUntraced(function* (folder: string, scratch: string) {
  const path = yield* Path.Path
  const packed = yield* openPackedPayloads(path.join(folder, "packs"), "scan").pipe(
    Effect.mapError((cause) => new ArchiveUnreadable({ file: folder, cause }))
  )
  return { folder, packed, scratch } satisfies ArchiveToRepeat as ArchiveToRepeat
})

/** In place of the archive and the network: every ask is answered by what that run got for it. */
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
      /** A payload is read only where it is still what was fetched. */
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
