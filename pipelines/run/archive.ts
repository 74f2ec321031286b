/**
 * The raw archive: every payload as fetched, without content encoding, named by its SHA-256, and a list of what was fetched
 * when, and what was refused, for each run. A file appears complete or not at all, the list names a file only after it is there, and nothing
 * is ever removed, so a generation can be built again without the network. Payloads pass through; none is held in memory. A
 * `status` of 206 says that the last answer went on with a download that had broken off; hash and length are of the whole
 * payload, one of 304 that the payload is that of an earlier run.
 */
import { createHash } from "node:crypto"
import {
  Clock,
  Context,
  Duration,
  Effect,
  FileSystem,
  Layer,
  Path,
  type PlatformError,
  Schema,
  Semaphore,
  Stream
} from "effect"
import type { Fetch, Line } from "./fetch-list.ts"
import { makeHeld } from "./held.ts"
import { clearAbandoned, receive } from "./incoming.ts"
import { earlierFetch, interruptedFetches, takenFor } from "./interrupted-runs.ts"
import { type Ask, type GivenUp, Origin, type OriginError } from "./origin.ts"
import { Progress } from "./progress.ts"
import { refusalTold } from "./refused.ts"
import { clearStale, placeFor, whole } from "./resumable.ts"
import { atMost } from "./transport.ts"

/** A fetch, and where its payload lies on this machine. */
export interface RawFile extends Fetch {
  readonly path: string
}

export class ArchiveUnwritable extends Schema.TaggedError<ArchiveUnwritable>()("ArchiveUnwritable", {
  folder: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The raw archive ${this.folder} cannot be written: ${reason}. Check free space and permissions, then run again.`
  }
}

/** A payload in the archive is not what was fetched. */
export class RawFileDamaged extends Schema.TaggedError<RawFileDamaged>()("RawFileDamaged", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The archived payload ${this.file} ${this.problem}. Restore it from a backup; an ingest that fetches it again mends it, too.`
  }
}

interface Fetches {
  /**
   * Asks the origin, by its own policy of trying again, and keeps the payload; or takes the one that an interrupted run got, where
   * the pipeline goes on with those.
   */
  fetch(ask: Ask): Effect.Effect<RawFile, OriginError | ArchiveUnwritable | RawFileDamaged, Origin>
  /**
   * Makes asks for what these runs fetched conditional: where the source says that nothing changed, the archived payload counts. The
   * runs have published, so that their payloads are on the disk for good.
   */
  revalidate(runs: Iterable<string>): Effect.Effect<void, ArchiveUnwritable>
  /** What an earlier run fetched from this address first; undefined where the archive no longer knows. */
  earlier(run: string, url: string): Effect.Effect<RawFile | undefined>
  /** Waits until everything that was fetched is on the disk for good: what is published can be built again. */
  readonly settled: Effect.Effect<void, ArchiveUnwritable>
  /** Notes that the run has published this generation. */
  published(generation: string, shrinkageAccepted?: boolean): Effect.Effect<void, ArchiveUnwritable>
  /** Notes that the run came to an end without publishing: no later one goes on with what it fetched. */
  ended(how: string): Effect.Effect<void, ArchiveUnwritable>
}

/** SHA-256 of a file, in constant memory. */
export const sha256Of = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const hash = createHash("sha256")
  yield* Stream.runForEach(fs.stream(file), (piece) => Effect.sync(() => hash.update(piece)))
  return hash.digest("hex")
})

interface Run {
  /** `$LARDER_HOME/raw`; made where it is missing. */
  readonly folder: string
  /** Where a dry run keeps what it fetches, in place of that folder: what earlier runs fetched is read there, and nothing is written. */
  readonly into?: string
  readonly run_id: string
  readonly pipeline: string
  readonly days: Fetch["days"]
  /** Whether it goes on where a run of its pipeline was interrupted, see `interrupted-runs.ts`. */
  readonly goesOn?: boolean
}

/** For as long as whoever asks wants to wait. */
const patiently = <A, E, R>({ patience }: Ask, fetching: Effect.Effect<A, E, R>): Effect.Effect<A, E | GivenUp, R> => {
  if (patience === undefined) return fetching
  const { left, over } = patience
  if (Duration.toMillis(left) <= 0) return Effect.fail(over)
  return Effect.timeoutOrElse(fetching, { duration: left, orElse: () => Effect.fail(over) })
}

type Place = Effect.Success<ReturnType<typeof placeFor>>

const make = Effect.fnUntraced(function* ({ folder, into, run_id, pipeline, days, goesOn = false }: Run) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  /** What earlier runs fetched, and the lists of it. */
  const known = path.resolve(folder)
  const knownFetches = path.join(known, "fetches")
  const root = into ?? known
  const incoming = path.join(root, "incoming")
  const fetches = path.join(root, "fetches")
  const list = path.join(fetches, `${run_id}.ndjson`)
  const oneLine = yield* Semaphore.make(1)
  /** Payloads that may not have reached the disk yet. */
  const unsettled = new Set<string>()

  const unwritable = (error: PlatformError.PlatformError) =>
    Effect.fail(new ArchiveUnwritable({ folder, cause: error.reason.cause ?? error }))

  /** Makes a new name in a folder survive a power cut. Windows has no such call. */
  const syncFolder = (at: string) =>
    process.platform === "win32"
      ? Effect.void
      : Effect.scoped(Effect.flatMap(fs.open(at, { flag: "r" }), (opened) => opened.sync))

  /** Windows wants the right to write for it, which whoever guards an archive may have taken away. */
  const syncFlag = process.platform === "win32" ? "r+" : "r"
  const syncFile = (at: string) =>
    Effect.scoped(Effect.flatMap(fs.open(at, { flag: syncFlag }), (opened) => opened.sync))

  /** The same name is the same content, unless a failing disk changed it. */
  const isThere = (file: string, sha256: string) =>
    sha256Of(file).pipe(
      Effect.map((found) => found === sha256),
      Effect.catchIf(
        ({ reason }) => reason._tag === "NotFound",
        () => Effect.succeed(false)
      )
    )

  const keep = Effect.fnUntraced(function* (part: string, sha256: string) {
    const file = `${sha256.slice(0, 2)}/${sha256}`
    const target = path.join(root, file)
    if (!(yield* isThere(target, sha256))) {
      yield* fs.makeDirectory(path.dirname(target), { recursive: true })
      yield* fs.rename(part, target)
    }
    unsettled.add(target) // one that was there, too: a run that was killed may have left it before it reached the disk
    return file
  })

  const record = Effect.fnUntraced(function* (line: Line) {
    const opened = yield* fs.open(list, { flag: "a" })
    yield* opened.writeAll(new TextEncoder().encode(`${JSON.stringify(line)}\n`))
  }, Effect.scoped)
  const add = (line: Line) => Effect.uninterruptible(oneLine.withPermit(record(line)))

  const noteRefusal = Effect.fnUntraced(function* (url: string, error: unknown) {
    const refusal = refusalTold(url, error)
    if (refusal === undefined) return
    const refused_at = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* add({ run_id, pipeline, url, refused_at, refusal })
  })

  /** Not as they come: waiting for the disk while it is written to took longer for 3 GB than writing them, 5 s, and this takes 1. */
  const settled = Effect.gen(function* () {
    const folders = new Set([...unsettled].map((file) => path.dirname(file)))
    for (const file of unsettled) yield* syncFile(file)
    for (const folder of folders) yield* syncFolder(folder)
    unsettled.clear()
    if (folders.size > 0) yield* syncFolder(root)
    if (!(yield* fs.exists(list))) return // nothing was fetched
    yield* syncFile(list)
    yield* syncFolder(fetches)
  })

  const held = makeHeld(({ file, sha256 }) =>
    isThere(path.join(known, file), sha256).pipe(Effect.provideService(FileSystem.FileSystem, fs))
  )

  const attempt = Effect.fnUntraced(function* (ask: Ask, place: Place | undefined) {
    const origin = yield* Origin
    const progress = yield* Progress
    const onBytes = (more: number) => progress.advance({ bytes: more })
    const kept = place && (yield* place.kept)
    const before = kept === undefined && origin.kind === "live" ? yield* held.of(ask) : undefined
    const opened = yield* origin.open(before === undefined ? ask : { ...ask, held: before.held }, kept)
    const fetched_at = new Date(yield* Clock.currentTimeMillis).toISOString()
    if (before !== undefined && opened.status === 304) return held.confirmed(before.line, { run_id, days, fetched_at })
    const answer = atMost(ask, opened)
    const receiving = place ? place.receive(answer, onBytes) : receive(incoming, answer, onBytes)
    const { part, sha256, bytes } = yield* whole(ask.url, answer, yield* receiving)
    const file = yield* keep(part, sha256)
    const { body: _body, file: _file, from: _from, total: _total, ...about } = answer
    return { run_id, pipeline, days, origin: origin.kind, url: ask.url, ...about, fetched_at, sha256, bytes, file }
  }, Effect.scoped)

  const asked = Effect.fnUntraced(function* (ask: Ask) {
    const origin = yield* Origin
    const isResumable = ask.resumable === true && origin.kind === "live"
    const fetching = Effect.gen(function* () {
      const place = isResumable ? yield* placeFor(incoming, ask.url) : undefined
      return yield* origin.retrying(attempt(ask, place))
    })
    return yield* patiently(ask, Effect.scoped(fetching)).pipe(Effect.tapError((error) => noteRefusal(ask.url, error)))
  })

  /** What an interrupted run got for this address, in its turn, where it is young and whole. */
  const taken = Effect.fnUntraced(function* ({ url }: Ask) {
    const { kind } = yield* Origin
    const line = kind === "live" ? interrupted.get(url)?.shift() : undefined
    if (line === undefined) return undefined
    const target = path.join(known, line.file)
    const isYoung = Date.parse(line.fetched_at) > (yield* Clock.currentTimeMillis) - takenFor
    if (!isYoung || !(yield* isThere(target, line.sha256))) {
      interrupted.delete(url) // what came later is no answer to an earlier ask
      return undefined
    }
    unsettled.add(target)
    return { ...line, run_id, days, taken_from: line.taken_from ?? line.run_id }
  })

  const fetch = Effect.fn("Archive.fetch")(
    function* (ask: Ask) {
      const fetched: Fetch = (yield* taken(ask)) ?? (yield* asked(ask))
      held.renew(fetched)
      yield* add(fetched)
      const own = path.join(root, fetched.file)
      const isOwn = into === undefined || (yield* fs.exists(own))
      return { ...fetched, path: isOwn ? own : path.join(known, fetched.file) }
    },
    Effect.catchTag("PlatformError", unwritable),
    Effect.provideService(FileSystem.FileSystem, fs),
    Effect.provideService(Path.Path, path)
  )

  const revalidate = (runs: Iterable<string>) =>
    held
      .learn(knownFetches, runs)
      .pipe(
        Effect.catchTag("PlatformError", unwritable),
        Effect.provideService(FileSystem.FileSystem, fs),
        Effect.provideService(Path.Path, path)
      )

  const earlier = (run: string, url: string) =>
    earlierFetch(known, run, url).pipe(
      Effect.provideService(FileSystem.FileSystem, fs),
      Effect.provideService(Path.Path, path)
    )

  const prepare = Effect.gen(function* () {
    yield* fs.makeDirectory(incoming, { recursive: true })
    yield* fs.makeDirectory(fetches, { recursive: true })
    yield* clearAbandoned(incoming)
    yield* clearStale(incoming)
  })
  yield* Effect.catchTag(prepare, "PlatformError", unwritable)
  const reading = goesOn ? interruptedFetches(knownFetches, pipeline) : Effect.succeed(new Map<string, Array<Fetch>>())
  const interrupted = yield* Effect.catchTag(reading, "PlatformError", unwritable)
  const noting = (effect: Effect.Effect<void, PlatformError.PlatformError>) =>
    oneLine.withPermit(effect).pipe(Effect.catchTag("PlatformError", unwritable))
  const published = (generation: string, shrinkage_accepted = false) => {
    const line = { run_id, published: generation, ...(shrinkage_accepted ? { shrinkage_accepted } : {}) }
    return noting(Effect.andThen(record(line), settled))
  }
  const ended = (how: string) =>
    noting(Effect.flatMap(fs.exists(list), (isThere) => (isThere ? record({ run_id, ended: how }) : Effect.void)))
  return Archive.of({
    fetch,
    revalidate,
    earlier,
    settled: Effect.catchTag(settled, "PlatformError", unwritable),
    published,
    ended
  })
})

export class Archive extends Context.Service<Archive, Fetches>()("larder/pipelines/Archive") {
  static readonly layer = (run: Run) => Layer.effect(Archive, make(run))
}
