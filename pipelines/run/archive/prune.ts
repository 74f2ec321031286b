/**
 * Prunes the raw archive: removes runs that a rebuild does not repeat, and the payloads that only they fetched. These
 * are runs that failed or were killed, and runs that were rolled back if no remaining data is derived from them. Also
 * removes old payloads that no list and no recorded run names: their run was killed before it listed them. Payloads are
 * removed first and the lists that name them last: a kill loses nothing that is needed, and the next prune completes this
 * one.
 */
import { rmdir } from "node:fs/promises"
import path from "node:path"
import {
  ifMissing,
  type Layout,
  listPastRuns,
  listRecordedPayloads,
  type PastRun,
  whileNoRunIsActive
} from "@larder/warehouse"
import { Clock, Effect, FileSystem, Option } from "effect"
import { ArchiveUnwritable, hasRead, parseLastLine, statList, writeCauseOf } from "./fetch-list.ts"
import { maxReuseAge } from "./interrupted-runs.ts"
import { listPayloadFiles } from "./payload-files.ts"
import { rawFolderIn } from "./raw-folder.ts"
import { possibleFiles } from "./stored-payloads.ts"

/** The runs of the last days, or the newest runs of each data set. */
export type Keep = { readonly days: number } | { readonly runs: number }

interface PruneOptions {
  readonly keep: Keep
  readonly dryRun: boolean
}

export interface Pruned {
  readonly dry_run: boolean
  /** The payloads of these runs are removed, unless a remaining run lists them, too. */
  readonly runs: ReadonlyArray<Pick<PastRun, "run_id" | "pipeline" | "outcome"> & { readonly rolled_back: boolean }>
  readonly payloads: number
  /** Their size on disk, with the lists of the runs. */
  readonly bytes: number
  /** Payloads that no list names, and their size on disk. */
  readonly unlisted_payloads: number
  readonly unlisted_bytes: number
  readonly kept: number
}

const selectRecent = (runs: ReadonlyArray<PastRun>, keep: Keep, now: number) => {
  if ("days" in keep) return runs.filter(({ started_at }) => Date.parse(started_at) > now - keep.days * 86_400_000)
  return [...Map.groupBy(runs, ({ pipeline }) => pipeline).values()].flatMap((group) => group.slice(0, keep.runs))
}

/** When the oldest of the runs began that are kept in any case. A later run may reuse what a killed run has fetched. */
const startOfKept = (recent: ReadonlySet<PastRun>, keep: Keep, now: number) =>
  Math.min(
    now - maxReuseAge,
    "days" in keep ? now - keep.days * 86_400_000 : now,
    ...[...recent].map(({ started_at }) => Date.parse(started_at))
  )

/**
 * Whether a rebuild repeats a run. The record of a run may show a failure although its list shows a success: a run that
 * fails when a rebuild repeats it is recorded as failed.
 */
const isRepeated = Effect.fnUntraced(function* ({ is_undone, outcome }: PastRun, list: string) {
  if (is_undone) return false
  if (["published", "unchanged", "partial"].includes(outcome)) return true
  const last = yield* parseLastLine(list)
  return last !== undefined && hasRead(last)
})

/** Finds the runs to remove, and the payloads that no remaining run names. A run that is not in `ingest.run` stays. */
const findUnneeded = Effect.fnUntraced(function* (
  lists: string,
  past: ReadonlyArray<PastRun>,
  recent: ReadonlySet<PastRun>,
  now: number
) {
  const fs = yield* FileSystem.FileSystem
  const old = new Map(past.filter((run) => !recent.has(run)).map((run) => [`${run.run_id}.ndjson`, run]))
  const runs: Array<PastRun & { readonly list: string; readonly bytes: number }> = []
  const candidates = new Set<string>()
  const needed = new Set<string>()
  let kept = 0
  for (const name of (yield* fs.readDirectory(lists)).filter((file) => file.endsWith(".ndjson")).sort()) {
    const list = path.join(lists, name)
    const { mtime, size } = yield* statList(list)
    const isReusable = Option.exists(mtime, (at) => at.getTime() > now - maxReuseAge)
    const text = yield* fs.readFileString(list)
    const run = old.get(name)
    const isUnneeded = run !== undefined && !isReusable && !(yield* isRepeated(run, text))
    if (isUnneeded) runs.push({ ...run, list, bytes: Number(size) })
    else kept++
    const hashes = isUnneeded ? candidates : needed
    for (const [, sha256 = ""] of text.matchAll(/"sha256":"([0-9a-f]{64})"/g)) hashes.add(sha256)
  }
  const payloads = new Set([...candidates].filter((sha256) => !needed.has(sha256)))
  return { runs, kept, payloads, listed: new Set([...candidates, ...needed]) }
})

interface StoredFile {
  readonly sha256: string
  readonly file: string
  readonly bytes: number
}

/** Finds files of payloads that are older than all runs that are kept in any case, and that nothing names. */
const findUnlisted = Effect.fnUntraced(function* (root: string, named: ReadonlySet<string>, before: number) {
  const fs = yield* FileSystem.FileSystem
  const found: Array<StoredFile> = []
  for (const { file, sha256 } of yield* listPayloadFiles(root)) {
    if (named.has(sha256)) continue
    const info = yield* fs.stat(file).pipe(ifMissing(undefined))
    const isOld = info !== undefined && Option.exists(info.mtime, (at) => at.getTime() < before)
    if (isOld && info.type === "File") found.push({ sha256, file, bytes: Number(info.size) })
  }
  return found
})

/** The files of these payloads; a payload has two if its run was killed while it compressed it. */
const findFiles = Effect.fnUntraced(function* (root: string, payloads: ReadonlySet<string>) {
  const fs = yield* FileSystem.FileSystem
  const found: Array<StoredFile> = []
  for (const sha256 of payloads) {
    for (const file of possibleFiles(root, sha256)) {
      const info = yield* fs.stat(file).pipe(ifMissing(undefined))
      if (info !== undefined) found.push({ sha256, file, bytes: Number(info.size) })
    }
  }
  return found
})

const countPayloads = (files: ReadonlyArray<StoredFile>) => new Set(files.map(({ sha256 }) => sha256)).size

const sumBytes = (items: ReadonlyArray<{ readonly bytes: number }>) => items.reduce((sum, { bytes }) => sum + bytes, 0)

const removeIfEmpty = (folder: string) => Effect.ignore(Effect.tryPromise(() => rmdir(folder)))

const prune = Effect.fnUntraced(function* (layout: Layout, root: string, { dryRun, keep }: PruneOptions) {
  const fs = yield* FileSystem.FileSystem
  const now = yield* Clock.currentTimeMillis
  const past = yield* listPastRuns(layout)
  const recent = new Set(selectRecent(past, keep, now))
  const { kept, listed, payloads, runs } = yield* findUnneeded(path.join(root, "fetches"), past, recent, now)
  const files = yield* findFiles(root, payloads)
  const named = new Set([...listed, ...(yield* listRecordedPayloads(layout))]) // a list may have been moved out of the archive
  const unlisted = yield* findUnlisted(root, named, startOfKept(recent, keep, now))
  if (!dryRun) {
    for (const { file } of [...files, ...unlisted])
      yield* Effect.andThen(fs.remove(file), removeIfEmpty(path.dirname(file)))
    for (const { list } of runs) yield* fs.remove(list)
  }
  const pruned: Pruned = {
    dry_run: dryRun,
    runs: runs.map(({ is_undone: rolled_back, outcome, pipeline, run_id }) => ({
      run_id,
      pipeline,
      outcome,
      rolled_back
    })),
    payloads: countPayloads(files),
    bytes: sumBytes([...files, ...runs]),
    unlisted_payloads: countPayloads(unlisted),
    unlisted_bytes: sumBytes(unlisted),
    kept
  }
  return pruned
})

/** Prunes the archive of a home. Fails while a run is active, except for a dry run. */
export const pruneArchive = Effect.fn("Archive.prune")(function* (layout: Layout, options: PruneOptions) {
  const fs = yield* FileSystem.FileSystem
  const root = rawFolderIn(layout.home)
  const none = { payloads: 0, bytes: 0, unlisted_payloads: 0, unlisted_bytes: 0 }
  const nothing: Pruned = { dry_run: options.dryRun, runs: [], ...none, kept: 0 }
  const pruning = Effect.gen(function* () {
    if (!(yield* fs.exists(path.join(root, "fetches")))) return nothing
    const pruned = prune(layout, root, options)
    return yield* options.dryRun ? pruned : whileNoRunIsActive(layout, pruned)
  })
  return yield* Effect.catchTag(pruning, "PlatformError", (error) =>
    Effect.fail(new ArchiveUnwritable({ folder: root, cause: writeCauseOf(error) }))
  )
})
