/**
 * The raw archive. It holds every payload as fetched, without content encoding and named by its SHA-256, and for each
 * run a list of what it fetched and when, and what it was refused. A payload is a loose file until its run has ended.
 * Then it is a member of the run's pack, unless it is large and already compressed (`pack-loose.ts`). It appears
 * complete or not at all, the list names it only afterwards, and none is lost, so a generation can be built again
 * without the network. Payloads are streamed, never held in memory. A `status` of 206 means that the last response
 * resumed a broken download; hash and length are those of the whole payload. A `status` of 304 means that the payload
 * is that of an earlier run.
 */
import { ifMissing, syncFile, syncFolder } from "@larder/warehouse"
import { Clock, Context, Duration, Effect, FileSystem, Layer, Path, type PlatformError, Semaphore } from "effect"
import type { FileUnwritable } from "../files/write-all.ts"
import { type GivenUp, Origin, type OriginError, type SourceRequest } from "../origins/origin.ts"
import { encodeRefusal } from "../origins/recorded-refusals.ts"
import { limitBody } from "../origins/transport.ts"
import { ArchiveUnwritable, type Fetch, type FetchListLine, type RawFile, type RawFileDamaged } from "./fetch-list.ts"
import { clearAbandoned, runFolder } from "./incoming.ts"
import { earlierFetch, interruptedFetches, takenFor } from "./interrupted-runs.ts"
import { packLoose } from "./pack-loose.ts"
import { openPackedPayloads } from "./packs/packed-payloads.ts"
import { clearStale, placeFor } from "./resumable.ts"
import { looseName, receive, runPayloads } from "./run-payloads.ts"
import { makeHeld } from "./validators.ts"

interface Fetches {
  /**
   * Fetches from the origin, with its retry policy, and keeps the payload. If the pipeline resumes interrupted runs,
   * takes the payload that such a run fetched, if there is one.
   */
  fetch(ask: SourceRequest): Effect.Effect<RawFile, OriginError | ArchiveUnwritable | RawFileDamaged, Origin>
  /**
   * Makes requests for what these runs fetched conditional: if the source reports no change, the archived payload
   * counts. The runs have published, so their payloads are durable on disk.
   */
  revalidate(runs: Iterable<string>): Effect.Effect<void, ArchiveUnwritable>
  /** The first payload that an earlier run fetched from this address; undefined if the archive no longer has it. */
  earlier(run: string, url: string): Effect.Effect<RawFile | undefined>
  /** Waits until everything that was fetched is durable on disk, so that what is published can be built again. */
  readonly settled: Effect.Effect<void, ArchiveUnwritable>
  /** Records that the run has published this generation. */
  published(generation: string, shrinkageAccepted?: boolean): Effect.Effect<void, ArchiveUnwritable>
  /** Records that the run ended without publishing, so that no later run resumes it. */
  ended(how: string, shrinkageAccepted?: boolean): Effect.Effect<void, ArchiveUnwritable>
  /**
   * Packs what the run fetched, once it has ended and no later run resumes it. A failure is only logged: loose payloads
   * serve as well, and a later run packs them.
   */
  readonly pack: Effect.Effect<void>
}

interface Run {
  /** `$LARDER_HOME/raw`; created if missing. */
  readonly folder: string
  /** Where a dry run keeps what it fetches. It reads earlier runs from `folder`, and writes nothing there. */
  readonly into?: string
  readonly run_id: string
  readonly pipeline: string
  readonly days: Fetch["days"]
  /** Whether it resumes an interrupted run of its pipeline, see `interrupted-runs.ts`. */
  readonly resumesRuns?: boolean
  /** Called with the length of each piece of a payload that arrives. */
  readonly onBytes?: (bytes: number) => Effect.Effect<void>
}

/** Limits fetching to the time that the request allows. */
const patiently = <A, E, R>(
  { patience }: SourceRequest,
  fetching: Effect.Effect<A, E, R>
): Effect.Effect<A, E | GivenUp, R> => {
  if (patience === undefined) return fetching
  const { left, over } = patience
  if (Duration.toMillis(left) <= 0) return Effect.fail(over)
  return Effect.timeoutOrElse(fetching, { duration: left, orElse: () => Effect.fail(over) })
}

type WriteError = PlatformError.PlatformError | FileUnwritable

type Place = Effect.Success<ReturnType<typeof placeFor>>

const make = Effect.fnUntraced(function* (run: Run) {
  const { days, folder, resumesRuns = false, into, onBytes = () => Effect.void, pipeline, run_id } = run
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const provided = Effect.provideContext(Context.make(FileSystem.FileSystem, fs).pipe(Context.add(Path.Path, path)))
  /** What earlier runs fetched, and their lists. */
  const known = path.resolve(folder)
  const knownFetches = path.join(known, "fetches")
  const root = into ?? known
  const incoming = path.join(root, "incoming")
  const fetches = path.join(root, "fetches")
  const list = path.join(fetches, `${run_id}.ndjson`)
  const oneLine = yield* Semaphore.make(1)
  /** Hashes of payloads that may not have reached the disk yet. */
  const unsettled = new Set<string>()
  const isKept = into === undefined

  const unwritable = (error: WriteError) =>
    Effect.fail(
      new ArchiveUnwritable({
        folder,
        cause: error._tag === "PlatformError" ? (error.reason.cause ?? error) : error.cause
      })
    )

  const prepare = Effect.gen(function* () {
    yield* fs.makeDirectory(incoming, { recursive: true })
    yield* fs.makeDirectory(fetches, { recursive: true })
    yield* clearAbandoned(incoming)
    yield* clearStale(incoming)
    const packed = yield* openPackedPayloads(path.join(known, "packs"), isKept ? "write" : "read")
    return { packed, payloads: yield* runPayloads({ root: known, own: yield* runFolder(incoming), packed }) }
  })
  const { packed, payloads } = yield* Effect.catchTag(prepare, "PlatformError", unwritable)
  const isWhole = (sha256: string) => Effect.map(payloads.provide(sha256), (found) => "path" in found)

  /** A payload that already existed is flushed, too: a killed run may have left it before it reached the disk. */
  const keep = Effect.fnUntraced(function* (part: string, sha256: string) {
    yield* payloads.receive(sha256, part)
    if (isKept && (yield* payloads.keep(sha256)) !== undefined) unsettled.add(sha256)
    return looseName(sha256)
  })

  const record = Effect.fnUntraced(function* (line: FetchListLine) {
    const opened = yield* fs.open(list, { flag: "a" })
    yield* opened.writeAll(new TextEncoder().encode(`${JSON.stringify(line)}\n`))
  }, Effect.scoped)
  const add = (line: FetchListLine) => Effect.uninterruptible(oneLine.withPermit(record(line)))

  const noteRefusal = Effect.fnUntraced(function* (url: string, error: unknown) {
    const refusal = encodeRefusal(url, error)
    if (refusal === undefined) return
    const refused_at = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* add({ run_id, pipeline, url, refused_at, refusal })
  })

  /** Flushes a loose payload. Another run may have packed it meanwhile, if this run has taken hours. */
  const settle = Effect.fnUntraced(function* (sha256: string) {
    const file = payloads.looseFile(sha256)
    const isFlushed = yield* Effect.as(syncFile(file), true).pipe(ifMissing(false))
    if (isFlushed) return path.dirname(file)
    yield* packed.refresh
    const kept = yield* payloads.keep(sha256)
    if (kept === undefined) return undefined
    yield* syncFile(kept)
    return path.dirname(kept)
  })

  /**
   * Flushes at the end, not after each payload: for 3 GB, waiting for the disk during the writes took longer than the
   * writes themselves, which take 5 s. Flushing at the end takes 1 s.
   */
  const settled = Effect.gen(function* () {
    const folders = new Set(yield* Effect.forEach(unsettled, settle))
    for (const folder of folders) if (folder !== undefined) yield* syncFolder(folder).pipe(ifMissing(undefined))
    unsettled.clear()
    if (folders.size > 0) yield* syncFolder(root)
    if (!(yield* fs.exists(list))) return // nothing was fetched
    yield* syncFile(list)
    yield* syncFolder(fetches)
  }).pipe(provided)

  const held = makeHeld(({ sha256 }) => provided(isWhole(sha256)))

  const attempt = Effect.fnUntraced(function* (ask: SourceRequest, place: Place | undefined) {
    const origin = yield* Origin
    const kept = place && (yield* place.kept)
    const before = kept === undefined && origin.kind === "live" ? yield* held.of(ask) : undefined
    const opened = yield* origin.open(before === undefined ? ask : { ...ask, held: before.held }, kept)
    const fetched_at = new Date(yield* Clock.currentTimeMillis).toISOString()
    if (before !== undefined && opened.status === 304) return held.confirmed(before.line, { run_id, days, fetched_at })
    const answer = limitBody(ask, opened)
    const receiving = place ? place.receive(answer, onBytes) : receive(incoming, ask.url, answer, onBytes)
    const { part, sha256, bytes } = yield* receiving
    const file = yield* keep(part, sha256)
    const { body: _body, file: _file, from: _from, total: _total, ...about } = answer
    return { run_id, pipeline, days, origin: origin.kind, url: ask.url, ...about, fetched_at, sha256, bytes, file }
  }, Effect.scoped)

  const asked = Effect.fnUntraced(function* (ask: SourceRequest) {
    const origin = yield* Origin
    const isResumable = ask.resumable === true && origin.kind === "live"
    const fetching = Effect.gen(function* () {
      const place = isResumable ? yield* placeFor(incoming, ask.url) : undefined
      return yield* origin.retrying(attempt(ask, place))
    })
    return yield* patiently(ask, Effect.scoped(fetching)).pipe(Effect.tapError((error) => noteRefusal(ask.url, error)))
  })

  /** The next payload that an interrupted run fetched from this address, if it is recent and undamaged. */
  const taken = Effect.fnUntraced(function* ({ url }: SourceRequest) {
    const { kind } = yield* Origin
    const line = kind === "live" ? interrupted.get(url)?.shift() : undefined
    if (line === undefined) return undefined
    const isYoung = Date.parse(line.fetched_at) > (yield* Clock.currentTimeMillis) - takenFor
    if (!isYoung || !(yield* isWhole(line.sha256))) {
      interrupted.delete(url) // later payloads are no answer to an earlier request
      return undefined
    }
    if (isKept) unsettled.add(line.sha256)
    return { ...line, run_id, days, taken_from: line.taken_from ?? line.run_id }
  })

  const fetch = Effect.fn("Archive.fetch")(
    function* (ask: SourceRequest) {
      const fetched: Fetch = (yield* taken(ask)) ?? (yield* asked(ask))
      held.renew(fetched)
      yield* add(fetched)
      return { ...fetched, path: payloads.fileOf(fetched.sha256) }
    },
    Effect.catchTag(["PlatformError", "FileUnwritable"], unwritable),
    provided
  )

  const revalidate = (runs: Iterable<string>) =>
    held.learn(knownFetches, runs).pipe(Effect.catchTag("PlatformError", unwritable), provided)

  const earlier = (run: string, url: string) => provided(earlierFetch(knownFetches, run, url, payloads.provide))

  const reading = resumesRuns
    ? interruptedFetches(knownFetches, pipeline)
    : Effect.succeed(new Map<string, Array<Fetch>>())
  const interrupted = yield* Effect.catchTag(reading, "PlatformError", unwritable)
  const noting = (effect: Effect.Effect<void, PlatformError.PlatformError>) =>
    oneLine.withPermit(effect).pipe(Effect.catchTag("PlatformError", unwritable))
  const published = (generation: string, shrinkage_accepted = false) => {
    const line = { run_id, published: generation, ...(shrinkage_accepted ? { shrinkage_accepted } : {}) }
    return noting(Effect.andThen(record(line), settled))
  }
  const ended = (how: string, shrinkage_accepted = false) => {
    const line = { run_id, ended: how, ...(shrinkage_accepted ? { shrinkage_accepted } : {}) }
    return noting(Effect.flatMap(fs.exists(list), (isThere) => (isThere ? record(line) : Effect.void)))
  }
  const pack = packLoose({ root: known, run_id, payloads, packed }).pipe(
    Effect.catch((error) => Effect.logWarning(error.message)),
    provided
  )
  return Archive.of({
    fetch,
    revalidate,
    earlier,
    settled: Effect.catchTag(settled, "PlatformError", unwritable),
    published,
    ended,
    pack: isKept ? pack : Effect.void
  })
})

export class Archive extends Context.Service<Archive, Fetches>()("larder/pipelines/Archive") {
  static readonly layer = (run: Run) => Layer.effect(Archive, make(run))
}
