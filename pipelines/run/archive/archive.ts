/**
 * The raw archive: every payload as fetched, without content encoding, in one file named by its SHA-256
 * (`stored-payloads.ts`), and for each run a list of its fetches and refusals. A payload is complete and on the disk before
 * a list names it, and no payload is lost: a generation can be built again without the network. A `status` of 206 means
 * that the last response resumed a broken download; 304, that an earlier run fetched the payload.
 */
import path from "node:path"
import { syncFile, syncFolder } from "@larder/warehouse"
import { Clock, Context, Duration, Effect, FileSystem, Layer, type PlatformError, Semaphore } from "effect"
import { encodeRefusal, type GivenUp, Origin, type OriginError, type SourceRequest } from "../origins/origin.ts"
import { limitBody } from "../origins/transport.ts"
import { compressLarge } from "./compress-large.ts"
import {
  type ArchiveUnreadable,
  ArchiveUnwritable,
  type Fetch,
  type FetchedPayload,
  type FetchListLine,
  type RawFileDamaged,
  type WriteError,
  writeCauseOf
} from "./fetch-list.ts"
import { clearAbandoned, newWorkName, reserveFolder } from "./incoming.ts"
import { findEarlierFetch, findReusableFetches, maxReuseAge } from "./interrupted-runs.ts"
import { openDownload } from "./resumable.ts"
import { openRunPayloads, receivePart } from "./run-payloads.ts"
import { makeRevalidation } from "./validators.ts"

type RunEnd = { readonly published: string } | { readonly ended: string }

interface ArchiveService {
  /**
   * Fetches from the origin, with its retry policy, and stores the payload. If the pipeline resumes interrupted runs,
   * reuses their payloads.
   */
  fetch(request: SourceRequest): Effect.Effect<FetchedPayload, OriginError | ArchiveUnwritable | RawFileDamaged, Origin>
  /**
   * Makes requests for the payloads of these runs conditional: if the source reports no change, the archived payload
   * is used.
   */
  revalidate(runs: Iterable<string>): Effect.Effect<void, ArchiveUnreadable | ArchiveUnwritable>
  /** Finds the first payload that this earlier run fetched from the address; undefined if it was removed. */
  findEarlier(run: string, url: string): Effect.Effect<FetchedPayload | undefined>
  /** Waits until the list of fetches is on the disk, so that a published generation can be built again. */
  readonly flush: Effect.Effect<void, ArchiveUnwritable>
  /** Records which generation the run published, or with which outcome it ended: no later run resumes it. */
  recordEnd(end: RunEnd, shrinkageAccepted?: boolean): Effect.Effect<void, ArchiveUnwritable>
  /** Compresses large payloads after a run. A failure is only logged, and a later run tries again, as after an interruption. */
  readonly compressLarge: Effect.Effect<void>
}

interface ArchiveOptions {
  /** `$LARDER_HOME/raw`; created if missing. */
  readonly folder: string
  /** Where a dry run stores its payloads. It reads earlier runs from `folder`, and writes nothing there. */
  readonly dryRunFolder?: string
  readonly run_id: string
  readonly pipeline: string
  readonly days: Fetch["days"]
  readonly resumesRuns?: boolean
  readonly onBytes?: (bytes: number) => Effect.Effect<void>
}

/** Limits fetching to the time that the request allows. */
const limitTime = <A, E, R>(
  { timeLimit }: SourceRequest,
  fetching: Effect.Effect<A, E, R>
): Effect.Effect<A, E | GivenUp, R> => {
  if (timeLimit === undefined) return fetching
  const { error, remaining } = timeLimit
  if (Duration.toMillis(remaining) <= 0) return Effect.fail(error)
  return Effect.timeoutOrElse(fetching, { duration: remaining, orElse: () => Effect.fail(error) })
}

type Download = Effect.Success<ReturnType<typeof openDownload>>

const make = Effect.fnUntraced(function* (run: ArchiveOptions) {
  const { days, dryRunFolder, folder, onBytes = () => Effect.void, pipeline, resumesRuns = false, run_id } = run
  const fs = yield* FileSystem.FileSystem
  const provideFiles = Effect.provideService(FileSystem.FileSystem, fs)
  const archiveFolder = path.resolve(folder)
  const archivedLists = path.join(archiveFolder, "fetches")
  const root = dryRunFolder ?? archiveFolder
  const incoming = path.join(root, "incoming")
  const fetches = path.join(root, "fetches")
  const list = path.join(fetches, `${run_id}.ndjson`)
  const listLock = yield* Semaphore.make(1)
  const isDryRun = dryRunFolder !== undefined

  const failUnwritable = (error: WriteError) =>
    Effect.fail(new ArchiveUnwritable({ folder: root, cause: writeCauseOf(error) }))
  const catchUnwritable = <A, R>(effect: Effect.Effect<A, PlatformError.PlatformError, R>) =>
    Effect.catchTag(effect, "PlatformError", failUnwritable)

  const prepare = Effect.gen(function* () {
    yield* fs.makeDirectory(incoming, { recursive: true })
    yield* fs.makeDirectory(fetches, { recursive: true })
    yield* clearAbandoned(incoming)
    const runFolder = yield* reserveFolder(incoming, newWorkName("run"))
    return yield* openRunPayloads({ root: archiveFolder, runFolder })
  })
  const payloads = yield* Effect.catchTag(prepare, "PlatformError", failUnwritable)
  const isIntact = (sha256: string) => Effect.map(payloads.provide(sha256), (payload) => "path" in payload)

  const writeLine = Effect.fnUntraced(function* (line: FetchListLine) {
    const opened = yield* fs.open(list, { flag: "a" })
    const { size } = yield* opened.stat
    const write = opened.writeAll(new TextEncoder().encode(`${JSON.stringify(line)}\n`))
    yield* Effect.tapError(write, () => Effect.ignore(opened.truncate(Number(size)))) // a full disk may take half a line
  }, Effect.scoped)
  const addLine = (line: FetchListLine) => Effect.uninterruptible(listLock.withPermit(writeLine(line)))

  const recordRefusal = Effect.fnUntraced(function* (url: string, error: unknown) {
    const refusal = encodeRefusal(url, error)
    if (refusal === undefined) return
    const refused_at = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* addLine({ run_id, pipeline, url, refused_at, refusal })
  })

  const flush = Effect.gen(function* () {
    if (!(yield* fs.exists(list))) return // nothing was fetched
    yield* syncFile(list)
    for (const changed of [fetches, root, path.dirname(root)]) yield* syncFolder(changed)
  }).pipe(provideFiles)

  const revalidation = makeRevalidation(({ sha256 }) => provideFiles(isIntact(sha256)))

  const attempt = Effect.fnUntraced(function* (request: SourceRequest, download: Download | undefined) {
    const origin = yield* Origin
    const resume = download && (yield* download.resumePoint)
    const earlier = resume === undefined && origin.kind === "live" ? yield* revalidation.find(request) : undefined
    const sent = earlier === undefined ? request : { ...request, validators: earlier.validators }
    const opened = yield* origin.open(sent, resume)
    const fetched_at = new Date(yield* Clock.currentTimeMillis).toISOString()
    if (earlier !== undefined && opened.status === 304) {
      return revalidation.confirm(earlier.line, { run_id, days, fetched_at })
    }
    const response = limitBody(request, opened)
    const { url } = request
    const receiving = download ? download.receive(response, onBytes) : receivePart(incoming, url, response, onBytes)
    const { part, sha256, bytes } = yield* receiving
    yield* payloads.receive(sha256, part)
    if (!isDryRun) yield* payloads.store(sha256)
    const { body: _body, file: _file, from: _from, total: _total, ...about } = response
    return { run_id, pipeline, days, origin: origin.kind, url, ...about, fetched_at, sha256, bytes }
  }, Effect.scoped)

  const fetchFromOrigin = Effect.fnUntraced(function* (request: SourceRequest) {
    const origin = yield* Origin
    const isResumable = request.resumable === true && origin.kind === "live"
    const fetching = Effect.gen(function* () {
      const download = isResumable ? yield* openDownload(incoming, request.url) : undefined
      return yield* origin.retry(attempt(request, download))
    })
    return yield* limitTime(request, Effect.scoped(fetching)).pipe(
      Effect.tapError((error) => recordRefusal(request.url, error))
    )
  })

  const reading = resumesRuns
    ? findReusableFetches(archivedLists, pipeline)
    : Effect.succeed(new Map<string, Array<Fetch>>())
  const reusable = yield* Effect.catchTag(reading, "PlatformError", failUnwritable)

  /** Takes the next payload that an interrupted run fetched from this address, if it is recent and undamaged. */
  const takeReusable = Effect.fnUntraced(function* ({ url }: SourceRequest) {
    const { kind } = yield* Origin
    const line = kind === "live" ? reusable.get(url)?.shift() : undefined
    if (line === undefined) return undefined
    const isRecent = Date.parse(line.fetched_at) > (yield* Clock.currentTimeMillis) - maxReuseAge
    if (!isRecent || !(yield* isIntact(line.sha256))) {
      reusable.delete(url) // later payloads do not belong to an earlier request
      return undefined
    }
    return { ...line, run_id, days, taken_from: line.taken_from ?? line.run_id }
  })

  const endList = Effect.fnUntraced(function* (end: RunEnd, isShrinkageAccepted: boolean) {
    if ("ended" in end && !(yield* fs.exists(list))) return // nothing was fetched
    yield* writeLine({ run_id, ...end, ...(isShrinkageAccepted ? { shrinkage_accepted: true } : {}) })
    if ("published" in end) yield* flush
  })
  return Archive.of({
    fetch: Effect.fn("Archive.fetch")(
      function* (request) {
        const fetched: Fetch = (yield* takeReusable(request)) ?? (yield* fetchFromOrigin(request))
        revalidation.update(fetched)
        yield* addLine(fetched)
        return { ...fetched, path: payloads.fileOf(fetched.sha256) }
      },
      Effect.catchTag(["PlatformError", "FileUnwritable"], failUnwritable),
      provideFiles
    ),
    revalidate: (runs) =>
      revalidation.addRuns(archivedLists, runs).pipe(Effect.catchTag("PlatformError", failUnwritable), provideFiles),
    findEarlier: (earlierRun, url) => provideFiles(findEarlierFetch(archivedLists, earlierRun, url, payloads.provide)),
    flush: catchUnwritable(flush),
    recordEnd: (end, isShrinkageAccepted = false) =>
      catchUnwritable(listLock.withPermit(endList(end, isShrinkageAccepted))),
    compressLarge: isDryRun ? Effect.void : provideFiles(compressLarge(archiveFolder, payloads))
  })
})

export class Archive extends Context.Service<Archive, ArchiveService>()("larder/pipelines/Archive") {
  static readonly layer = (options: ArchiveOptions) => Layer.effect(Archive, make(options))
}
