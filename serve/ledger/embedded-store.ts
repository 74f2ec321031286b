/**
 * The ledger in `$LARDER_HOME/ledger/`: a journal in front of `ledger.duckdb`. A group is durable when it is in the
 * journal; full journal files are taken up into the database in the background, and the rest when the ledger is opened or
 * closed. A file goes only after the database has it. One process holds the folder, by a lock that dies with it.
 */
import { existsSync, mkdirSync, realpathSync, rmSync } from "node:fs"
import path from "node:path"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Option, Queue, Semaphore, Stream } from "effect"
import { removeDurably, syncDirectory } from "./files.ts"
import { makeJournal, spareName } from "./journal.ts"
import { openDatabase } from "./ledger-database.ts"
import { recover } from "./recovery.ts"
import { LedgerInUse, type LedgerStore, LedgerUnavailable } from "./store.ts"

const unavailable = (action: string) => (cause: unknown) => new LedgerUnavailable({ action, cause })
const attempt = <A>(action: string, run: () => A) => Effect.try({ try: run, catch: unavailable(action) })

/** File locks do not hold between two instances in one process. */
const heldHere = new Set<string>()

const lock = Effect.fnUntraced(function* (directory: string) {
  const file = path.join(directory, ".lock")
  if (heldHere.has(file)) return yield* new LedgerInUse({ file })
  yield* Effect.acquireRelease(
    Effect.sync(() => heldHere.add(file)),
    () => Effect.sync(() => heldHere.delete(file))
  )
  yield* DuckDb.readWrite(file).pipe(
    Effect.catchTag("FileInUse", () => Effect.fail(new LedgerInUse({ file }))),
    Effect.catchTag(["DuckDbError", "NotADatabase"], (cause) => Effect.fail(unavailable("be locked")(cause)))
  )
})

/** How long a file that could not be taken up waits; it is durable meanwhile. */
const nextTry = "5 seconds"

export const embeddedStore = Effect.fn("EmbeddedStore.open")(function* (
  directory: string,
  options: { readonly journalFileSize?: number } = {}
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
  const file = path.join(folder, "ledger.duckdb")
  const database = yield* openDatabase(file).pipe(
    Effect.catchTag("FileInUse", () => Effect.fail(new LedgerInUse({ file }))),
    Effect.catchTag(["DuckDbError", "NotADatabase"], (cause) => Effect.fail(unavailable("be opened")(cause)))
  )
  yield* attempt("be tidied", () => rmSync(path.join(folder, spareName), { force: true }))
  const number = yield* recover(folder, database)

  const sealed: Array<string> = []
  const wake = yield* Queue.sliding<void>(1)
  const journal = makeJournal({
    directory: folder,
    number,
    fileSize: options.journalFileSize,
    onSealed: (journalFile) => {
      sealed.push(journalFile)
      Queue.offerUnsafe(wake, undefined)
    }
  })
  const oneAtATime = yield* Semaphore.make(1)
  const takeUpSealed = Effect.gen(function* () {
    for (let journalFile = sealed[0]; journalFile !== undefined; journalFile = sealed[0]) {
      const next = journalFile
      yield* database.takeUp(next).pipe(Effect.mapError(unavailable("be taken up from its journal")))
      sealed.shift() // a file that stays although it was taken up harms nobody: the next start finds nothing new in it
      yield* attempt("be tidied", () => journal.reuse(next) || removeDurably(next, folder))
    }
  }).pipe(oneAtATime.withPermit)

  const later = (error: LedgerUnavailable) =>
    Effect.logWarning(`${error.message}. Charges go on and are durable; ${sealed.length} journal files wait.`)

  yield* Effect.addFinalizer(() =>
    attempt("end its journal", journal.close).pipe(
      Effect.flatMap((closed) => Effect.tryPromise({ try: () => closed, catch: unavailable("end its journal") })),
      Effect.andThen(takeUpSealed),
      Effect.catch((error) => Effect.logWarning(`${error.message}. The next start takes the journal up.`))
    )
  )
  yield* Queue.take(wake).pipe(
    Effect.andThen(takeUpSealed),
    Effect.catch((error) =>
      Effect.andThen(later(error), Effect.delay(Queue.offer(wake, undefined), nextTry)).pipe(Effect.asVoid)
    ),
    Effect.forever,
    Effect.forkScoped
  )

  const store: LedgerStore = {
    load: Effect.mapError(database.load, unavailable("be loaded")),
    append: async (group) => {
      try {
        journal.append(group)
      } catch (cause) {
        throw new LedgerUnavailable({ action: "be written", cause })
      }
    },
    entriesOf: (accountId) =>
      Stream.unwrap(
        Effect.gen(function* () {
          yield* attempt("end its journal", journal.seal)
          yield* takeUpSealed
          return Stream.paginate(0, (after: number) =>
            Effect.map(
              Effect.mapError(database.entriesAfter(accountId, after), unavailable("be read")),
              (page) => [page, Option.fromUndefinedOr(page.at(-1)?.sequence)] as const
            )
          )
        })
      )
  }
  return store
})
