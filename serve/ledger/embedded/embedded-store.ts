/**
 * The ledger in `$LARDER_HOME/ledger/`: a journal in front of `ledger.duckdb`. A group is durable when it is in the
 * journal; full journal files are taken up into the database in the background, and the rest when the ledger is opened,
 * asked or closed. A file goes only after the database has it. One process holds the folder, by a lock that dies with it.
 */
import { existsSync, mkdirSync, realpathSync, rmSync, statSync } from "node:fs"
import path from "node:path"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Semaphore, Stream } from "effect"
import { unpack } from "../../console-database/packed.ts"
import { LedgerInUse, unavailable } from "../errors.ts"
import { syncDirectory } from "../files.ts"
import type { Snapshot } from "../machine.ts"
import { sumUp } from "../summed-usage.ts"
import { backUp } from "./backup.ts"
import { allEntriesIn, entriesIn, newestIn } from "./entries.ts"
import { makeJournal, spareName } from "./journal.ts"
import { tailOf } from "./journal-tail.ts"
import { openDatabase } from "./ledger-database.ts"
import { refuseMoved } from "./moved.ts"
import { recover } from "./recovery.ts"
import { lastEntry } from "./snapshot.ts"
import type { LedgerStore } from "./store.ts"
import { makeTakeUp } from "./take-up.ts"
import { partsOf, usageOf } from "./usage.ts"
import { makeUsageAhead, withAhead } from "./usage-ahead.ts"
import { verify } from "./verification.ts"

const attempt = <A>(action: string, run: () => A) => Effect.try({ try: run, catch: unavailable(action) })

/** Sealed files that are read where the database does not have them yet: some 5 ms each. More of them are taken up first. */
const mostWaiting = 4

/** File locks do not hold between two instances in one process. */
const heldHere = new Set<string>()

const lock = Effect.fnUntraced(function* (directory: string) {
  const file = path.join(directory, ".lock")
  if (heldHere.has(file)) return yield* new LedgerInUse({ file })
  yield* Effect.acquireRelease(
    Effect.sync(() => heldHere.add(file)),
    () => Effect.sync(() => heldHere.delete(file))
  )
  yield* DuckDb.hold(file).pipe(
    Effect.catchTag("FileInUse", () => Effect.fail(new LedgerInUse({ file }))),
    Effect.catchTag(["DuckDbError", "NotADatabase"], (cause) => Effect.fail(unavailable("be locked")(cause)))
  )
})

export const embeddedStore = Effect.fn("EmbeddedStore.open")(function* (
  directory: string,
  options: {
    readonly journalFileSize?: number
    readonly entriesBetweenSnapshots?: number
    /** Where the ledger is being moved to: a folder that is marked so may be opened by whoever moves it. */
    readonly movingTo?: string
  } = {}
) {
  const folder = yield* attempt(`be kept in ${directory}`, () => {
    const home = path.dirname(directory)
    mkdirSync(home, { recursive: true }) // analysts read the warehouse in it
    if (!existsSync(directory)) {
      mkdirSync(directory, { mode: 0o700 })
      syncDirectory(home)
    }
    return realpathSync(directory)
  })
  yield* lock(folder)
  yield* refuseMoved(folder, options.movingTo)
  const file = path.join(folder, "ledger.duckdb")
  const database = yield* openDatabase(file).pipe(
    Effect.catchTag("FileInUse", () => Effect.fail(new LedgerInUse({ file }))),
    Effect.catchTag(["DuckDbError", "NotADatabase"], (cause) => Effect.fail(unavailable("be opened")(cause)))
  )
  yield* Effect.mapError(
    database.use((db) => unpack(db, folder)),
    unavailable("be restored")
  )
  yield* attempt("be tidied", () => rmSync(path.join(folder, spareName), { force: true }))
  const recovered = yield* recover(folder, database)

  const usageAhead = makeUsageAhead()
  const taking = yield* makeTakeUp({
    directory: folder,
    database,
    onTakenUp: usageAhead.takenUp,
    reuse: (journalFile) => journal.reuse(journalFile),
    entriesBetweenSnapshots: options.entriesBetweenSnapshots
  })
  const journal = makeJournal({
    directory: folder,
    number: recovered.nextJournal,
    fileSize: options.journalFileSize,
    onSealed: (journalFile) => {
      usageAhead.sealed()
      taking.add(journalFile)
    }
  })
  yield* Effect.addFinalizer(() =>
    attempt("end its journal", journal.close).pipe(
      Effect.flatMap((closed) => Effect.tryPromise({ try: () => closed, catch: unavailable("end its journal") })),
      Effect.andThen(taking.all),
      Effect.catch((error) => Effect.logWarning(`${error.message}. The next start takes the journal up.`))
    )
  )
  yield* taking.inBackground

  /** The database then has all that was durable. */
  const takeUpAll = Effect.andThen(attempt("end its journal", journal.seal), taking.all)
  /** A backup closes the database, and with it would go what a verification has summed up. */
  const oneLongWork = yield* Semaphore.make(1)
  let state: Snapshot | undefined = recovered.state

  /** What the database does not have: sealed files that wait, and the one that is written to. */
  const journalFiles = () => {
    const current = journal.current()
    const sealed = taking.waiting().map((file) => ({ file, length: statSync(file).size }))
    return current === undefined ? sealed : [...sealed, current]
  }

  const store: LedgerStore = {
    load: Effect.suspend(() => {
      const loaded = state
      state = undefined
      return loaded === undefined ? Effect.die("the ledger has been loaded already") : Effect.succeed(loaded)
    }),
    append: async (group) => {
      try {
        journal.append(group)
        usageAhead.add(group.entries)
      } catch (cause) {
        throw unavailable("be written")(cause)
      }
    },
    entriesOf: (accountId) =>
      Stream.unwrap(Effect.as(takeUpAll, Stream.mapError(entriesIn(database, accountId), unavailable("be read")))),
    entriesBefore: Effect.fnUntraced(function* (page) {
      if (taking.waiting().length > mostWaiting) yield* taking.all
      const { below, entries } = yield* attempt("be read", () => tailOf(journalFiles(), page))
      const limit = page.limit - entries.length
      if (limit === 0) return entries
      const older = database.use((db) => newestIn(db, { ...page, before: below, limit }))
      return [...entries, ...(yield* Effect.mapError(older, unavailable("be read")))]
    }),
    allEntries: Stream.unwrap(Effect.as(takeUpAll, Stream.mapError(allEntriesIn(database), unavailable("be read")))),
    usage: Effect.fnUntraced(function* (of) {
      const ahead = usageAhead.of(of)
      const [rows, last] = yield* Effect.mapError(
        database.use((db) => Effect.all([usageOf(db, of), lastEntry(db)])),
        unavailable("be read")
      )
      return withAhead(rows, ahead(last))
    }),
    summedUsage: Effect.fnUntraced(function* (of) {
      const ahead = usageAhead.of(of)
      const [parts, last] = yield* Effect.mapError(
        database.use((db) => Effect.all([partsOf(db, of), lastEntry(db)])),
        unavailable("be read")
      )
      return sumUp([...parts, ...ahead(last)])
    }),
    verify: (held) =>
      Effect.andThen(takeUpAll, Effect.mapError(verify(database, held), unavailable("be verified"))).pipe(
        oneLongWork.withPermit
      ),
    backup: (to) =>
      Effect.andThen(takeUpAll, backUp(database, to)).pipe(
        Effect.catchTag(["DuckDbError", "FileInUse", "NotADatabase"], (cause) =>
          Effect.fail(unavailable("be backed up")(cause))
        ),
        oneLongWork.withPermit
      )
  }
  return store
})
