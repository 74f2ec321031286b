/**
 * The ledger in a SQLite file. Each group is written in one transaction on the main thread, with one flush. One thread
 * updates the tables in `sums.sqlite` every second, if there are enough new entries; another runs reads.
 */
import { Clock, Effect, Option, Semaphore, Stream } from "effect"
import {
  isBusy,
  isDamaged,
  loadModules,
  makeThread,
  runInOwnThread,
  type Sqlite,
  type Thread
} from "../../persistence/index.ts"
import { BackupFailed, type Input } from "../administration.ts"
import { LedgerDamaged, LedgerUnavailable, toLedgerUnavailable } from "../errors.ts"
import type { Group } from "../rules/ledger-state.ts"
import { sumUsage } from "../summed-usage.ts"
import { backUpFile, checkTarget } from "./backup.ts"
import { type ServerHeads, verifyFile } from "./checks/verify-file.ts"
import type { LedgerFile } from "./ledger-file.ts"
import { countEntriesToSum, Damage, readSnapshot } from "./opening.ts"
import { readLastEntry, readProgress, updateSums } from "./progress.ts"
import { queryNumber } from "./tables.ts"
import { type PageBefore, readAfter, readBefore, readStoredKeys } from "./thread-reads.ts"
import { readUsage, readUsageParts } from "./usage.ts"
import { prepareGroupWrite } from "./write-group.ts"

const sumInterval = 1_000
/** With fewer new entries, a page reads them directly in under a millisecond. */
const minBatchSize = 2_000
/** Copying a page of entries between threads and decoding it takes a few milliseconds. */
const entriesPerPage = 1_000

const isEmpty = ({ accounts, entries, keys }: Group) => accounts.length + keys.length + entries.length === 0

const moduleUrl = (name: string) => new URL(name, import.meta.url).href
const inThread = "../../persistence/in-thread.ts"
const readModules = ["./progress.ts", "./thread-reads.ts", "./usage.ts", "../../persistence/checkpoints.ts", inThread]
const sumModules = ["./progress.ts"]
const openThread = (thread: Thread, modules: ReadonlyArray<string>) =>
  Effect.tryPromise({
    try: () => thread.run(moduleUrl(inThread), loadModules, modules.map(moduleUrl)),
    catch: toLedgerUnavailable("be opened")
  })

/** SQLite does not report which of the two files contains the damaged page. */
const describeDamagedPage = (cause: Error) =>
  `a page of this file or of sums.sqlite next to it cannot be read (${cause.message}). Remove sums.sqlite first: it is rebuilt from the entries`

export const openEmbeddedStore = Effect.fn("EmbeddedStore.open")(function* ({
  file,
  reading: readConnection,
  sqlite,
  sums,
  thread
}: LedgerFile["Service"]) {
  const writeGroup = prepareGroupWrite(sqlite)
  /** Writes a page that stays as it is. An update would not: SQLite skips one that changes nothing. */
  const writeVersion = `pragma user_version = ${queryNumber(sqlite, "pragma user_version")}`
  const touch = () => sqlite.run(writeVersion)

  const write = (group: Group) => {
    writeGroup(group)
    if (isEmpty(group)) touch() // checks whether the disk accepts writes
  }

  /**
   * If its flush failed, a group may still be in the log, although no caller was charged. A transaction that changes
   * nothing overwrites it. If the file was locked, nothing was written.
   */
  const overwriteFailedGroup = (cause: unknown) => {
    if (isBusy(cause)) return
    try {
      touch()
    } catch {
      // The disk accepts no writes now. The next group that it accepts overwrites this one.
    }
  }

  const attempt = <A>(run: () => A) =>
    Effect.try({
      try: run,
      catch: (cause) => {
        if (cause instanceof Damage) return new LedgerDamaged({ place: file, problem: cause.message })
        return isDamaged(cause)
          ? new LedgerDamaged({ place: file, problem: describeDamagedPage(cause) })
          : toLedgerUnavailable("be read")(cause)
      }
    })

  const runOnThread = <Arguments extends ReadonlyArray<unknown>, A>(
    module: string,
    work: (sqlite: Sqlite, ...args: Arguments) => A,
    ...args: Arguments
  ) =>
    Effect.tryPromise({
      try: () => thread.run(moduleUrl(module), work, ...args),
      catch: toLedgerUnavailable("be read")
    })

  /** A long read prevents the log from being reset; overlapping long reads would let it grow. */
  const longReadLock = yield* Semaphore.make(1)

  /** A separate thread, so that a page does not wait for a batch. */
  const sumThread = yield* Effect.acquireRelease(
    Effect.sync(() => makeThread({ file, sums })),
    (thread) => Effect.promise(thread.close)
  )
  const runInBackground = Effect.runForkWith(yield* Effect.context<never>())
  let writtenEntries = readLastEntry(sqlite)
  let summedEntries = 0
  let runningUpdate: Promise<void> | undefined
  const sumNewEntries = async () => {
    try {
      summedEntries = await sumThread.run(moduleUrl("./progress.ts"), updateSums)
    } catch (cause) {
      const { message } = new LedgerUnavailable({ action: "sum up its entries", cause })
      runInBackground(Effect.logWarning(`${message}. Charges continue and are durable.`))
    }
    runningUpdate = undefined
  }
  const timer = setInterval(() => {
    if (writtenEntries - summedEntries >= minBatchSize) runningUpdate ??= sumNewEntries()
  }, sumInterval).unref()
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      clearInterval(timer)
      await runningUpdate
    })
  )

  return {
    /** A thread that starts with its first work could not do so once the process has no file descriptor left. */
    startThreads: Effect.all([openThread(thread, readModules), openThread(sumThread, sumModules)], {
      concurrency: "unbounded",
      discard: true
    }),
    /** Called once, before the first group. Fails if the stored data is inconsistent. */
    load: Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const entriesToSum = yield* attempt(() => countEntriesToSum(readConnection))
      if (entriesToSum > 0) {
        yield* Effect.logInfo(
          `Summing up ${entriesToSum} ledger entries before the start, for example after a restore. This takes about ten seconds per million.`
        )
      }
      const state = yield* attempt(() => readSnapshot(readConnection, now))
      summedEntries = yield* attempt(() => readProgress(readConnection))
      readConnection.exec("pragma shrink_memory") // with 100,000 keys 45 MB; afterwards, it reads little
      return state
    }),
    /**
     * Resolves when the group is durable. If it rejects, the whole group was discarded, and the next group may use the
     * same numbers. The next call must wait for the previous one.
     */
    append: async (group: Group): Promise<void> => {
      try {
        sqlite.transaction(() => write(group))
      } catch (cause) {
        overwriteFailedGroup(cause)
        throw toLedgerUnavailable("be written")(cause)
      }
      writtenEntries += group.entries.length
    },
    /** All entries of an account that were durable when the read began, in order. */
    entriesOf: (accountId: string) =>
      Stream.unwrap(
        Effect.map(runOnThread("./progress.ts", readLastEntry), (last) =>
          Stream.paginate(0, (after: number) =>
            Effect.map(
              runOnThread("./thread-reads.ts", readAfter, accountId, after, last, entriesPerPage),
              (entries) => {
                const end = entries.length < entriesPerPage ? undefined : entries.at(-1)
                return [entries, Option.fromUndefinedOr(end?.position)] as const
              }
            )
          )
        )
      ),
    /** The `limit` newest entries of an account below a position, newest first. */
    entriesBefore: (page: PageBefore) => runOnThread("./thread-reads.ts", readBefore, page),
    usage: (query: Input<"usage">) => runOnThread("./usage.ts", readUsage, query),
    summedUsage: (query: Input<"summedUsage">) =>
      Effect.map(runOnThread("./usage.ts", readUsageParts, query), sumUsage),
    /** Checks all stored data, also against the chain heads in the server's memory at the time. */
    verify: (heads: ServerHeads) =>
      longReadLock.withPermit(
        Effect.tryPromise({
          try: () => runInOwnThread({ file, sums }, moduleUrl("./checks/verify-file.ts"), verifyFile, heads),
          catch: toLedgerUnavailable("be verified")
        })
      ),
    /** The stored columns of each key as JSON, by the key's id; see `keyCells`. */
    storedKeys: runOnThread("./thread-reads.ts", readStoredKeys),
    /** Copies everything that was durable at the time of the request into a new file. */
    backup: (to: string) =>
      Effect.andThen(
        checkTarget(to),
        longReadLock.withPermit(
          Effect.tryPromise({
            try: () => runInOwnThread({ file, sums }, moduleUrl("./backup.ts"), backUpFile, to),
            catch: (cause) =>
              new BackupFailed({ file: to, problem: cause instanceof Error ? cause.message : String(cause) })
          })
        )
      )
  }
})

/** Makes groups durable, in order, and loads the stored state when the ledger starts. */
export type LedgerStore = Effect.Success<ReturnType<typeof openEmbeddedStore>>
