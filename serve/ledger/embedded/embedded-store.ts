/**
 * The ledger in a SQLite file. A group is one transaction on the main thread, and so one flush. It writes accounts,
 * keys, entries, expiring grants and, through triggers, records, but not the tables in `sums.sqlite`. A thread updates
 * those every second if there are enough new entries, and another one runs the reads.
 */
import type { SQLInputValue } from "node:sqlite"
import { Clock, Effect, Option, Semaphore, Stream } from "effect"
import { inOwnThread, isBusy, isDamaged, makeThread, type Sqlite } from "../../persistence/index.ts"
import { BackupFailed } from "../administration.ts"
import { recorded } from "../chain/recorded.ts"
import type { ApiKey, Entry } from "../chain/records.ts"
import { LedgerDamaged, LedgerUnavailable, unavailable } from "../errors.ts"
import { grantChanges } from "../rules/expiring-grants.ts"
import type { Group } from "../rules/ledger-state.ts"
import { sumUp } from "../summed-usage.ts"
import { backUpFile, refuseExisting } from "./backup.ts"
import { verifyFile } from "./checks/verification.ts"
import type { LedgerFile } from "./ledger-file.ts"
import { Damage, longWayAt, readState } from "./opening.ts"
import { followEntries, lastEntry, progressIn } from "./progress.ts"
import { readAfter, readAllAfter, readBefore, readGrants, readKeyTexts } from "./statement.ts"
import type { LedgerStore } from "./store.ts"
import { entryColumns } from "./tables.ts"
import { readParts, readUsage } from "./usage.ts"

const marks = (count: number) => Array(count).fill("?").join(", ")

const cellsOfKey = (key: ApiKey): Array<SQLInputValue> =>
  recorded.api_key.map((column) => (column === "scopes" ? JSON.stringify(key.scopes) : key[column]))

/** Spelled out, because every charge is such a row, and a loop over the names would add a tenth to its time. */
const cellsOfEntry = (entry: Entry): Array<SQLInputValue> => [
  entry.sequence,
  entry.account_id,
  entry.position,
  entry.type,
  entry.occurred_at,
  entry.key_id,
  entry.endpoint,
  entry.credits,
  entry.balance,
  entry.budget_credits,
  entry.daily_budget_credits,
  entry.weekly_budget_credits,
  entry.request_id,
  entry.note,
  entry.expires_at,
  entry.grants,
  entry.hash
]

/** Writes the rows of a group, within the caller's transaction. */
export const groupWriting = (sqlite: Sqlite) => {
  const insertAccount = sqlite.prepare("insert into ledger.account (id, name, created_at) values (?, ?, ?)")
  const keyColumns = recorded.api_key
  const putKey = sqlite.prepare(`
    insert into ledger.api_key (${keyColumns.join(", ")})
    values (${marks(keyColumns.length)})
    on conflict (id) do update set ${keyColumns.map((column) => `${column} = excluded.${column}`).join(", ")}`)
  const insertEntry = sqlite.prepare(`
    insert into ledger.entry (${entryColumns})
    values (${marks(entryColumns.split(",").length)})`)
  const insertGrant = sqlite.prepare(`
    insert into ledger.expiring_grant (account_id, position, expires_at, credits_left) values (?, ?, ?, ?)`)
  const changeGrant = sqlite.prepare(`
    update ledger.expiring_grant set credits_left = credits_left + ? where account_id = ? and position = ?`)

  const writeGrants = ({ account_id, credits, expires_at, grants, position }: Entry) => {
    if (expires_at !== null) insertGrant.run(account_id, position, expires_at, credits)
    for (const change of grantChanges(grants)) changeGrant.run(change.credits, account_id, change.position)
  }

  return ({ accounts, entries, keys }: Group): void => {
    for (const { created_at, id, name } of accounts) insertAccount.run(id, name, created_at)
    for (const key of keys) putKey.run(...cellsOfKey(key))
    for (const entry of entries) {
      insertEntry.run(...cellsOfEntry(entry))
      if (entry.expires_at !== null || entry.grants !== null) writeGrants(entry)
    }
  }
}

const followEvery = 1_000
/** A smaller batch is not worth it: a page reads fewer entries directly within a millisecond. */
const fewest = 2_000
/** Copying a page of entries between threads and decoding it takes a few milliseconds. */
const entriesPerPage = 1_000

const isEmpty = ({ accounts, entries, keys }: Group) => accounts.length + keys.length + entries.length === 0

const module = (name: string) => new URL(name, import.meta.url).href

/** SQLite does not say which of the two files contains the damaged page. */
const pagesProblem = (cause: Error) =>
  `a page of it, or of sums.sqlite next to it, cannot be read (${cause.message}). Remove sums.sqlite first: it is rebuilt from the entries`

export const embeddedStore = Effect.fn("EmbeddedStore.open")(function* ({
  file,
  reading,
  sqlite,
  sums,
  thread
}: LedgerFile["Service"]) {
  const writeGroup = groupWriting(sqlite)
  const touch = () => sqlite.run("update ledger.head set entries = entries")

  const write = (group: Group) => {
    writeGroup(group)
    if (isEmpty(group)) touch() // checks whether the disk accepts writes
  }

  /**
   * A group whose flush failed may still be in the log. No caller was charged for it, so a transaction that changes
   * nothing overwrites it. If the file was locked, nothing was written.
   */
  const writeOver = (cause: unknown) => {
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
          ? new LedgerDamaged({ place: file, problem: pagesProblem(cause) })
          : unavailable("be read")(cause)
      }
    })

  const ask = <A>(action: string, run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: unavailable(action) })

  const pages = <Place>(
    first: Place,
    read: (place: Place, last: number) => Promise<ReadonlyArray<Entry>>,
    placeOf: (entry: Entry) => Place
  ) =>
    Stream.unwrap(
      Effect.map(
        ask("be read", () => thread.run(module("./progress.ts"), lastEntry)),
        (last) =>
          Stream.paginate(first, (place) =>
            Effect.map(
              ask("be read", () => read(place, last)),
              (entries) => {
                const end = entries.length < entriesPerPage ? undefined : entries.at(-1)
                return [entries, end === undefined ? Option.none<Place>() : Option.some(placeOf(end))] as const
              }
            )
          )
      )
    )

  /** A long read prevents the log from being reset; several that overlap would keep it growing. */
  const oneLongLook = yield* Semaphore.make(1)

  /** A separate thread, so that a page does not wait until a batch is complete. */
  const follower = yield* Effect.acquireRelease(
    Effect.sync(() => makeThread({ file, sums })),
    (made) => Effect.promise(made.close)
  )
  const warn = Effect.runForkWith(yield* Effect.context<never>())
  let written = lastEntry(sqlite)
  let followed = 0
  let following: Promise<void> | undefined
  const follow = async () => {
    try {
      followed = (await follower.run(module("./progress.ts"), followEntries)).entries
    } catch (cause) {
      const { message } = new LedgerUnavailable({ action: "sum up its entries", cause })
      warn(Effect.logWarning(`${message}. Charges go on and are durable.`))
    }
    following = undefined
  }
  const timer = setInterval(() => {
    if (written - followed >= fewest) following ??= follow()
  }, followEvery).unref()
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      clearInterval(timer)
      await following
    })
  )

  const store: LedgerStore = {
    load: Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const longWay = yield* attempt(() => longWayAt(reading))
      if (longWay > 0) {
        yield* Effect.logInfo(
          `The ledger has ${longWay} entries to sum up first, as after a restore: some ten seconds a million.`
        )
      }
      const state = yield* attempt(() => readState(reading, now))
      followed = yield* attempt(() => progressIn(reading))
      return state
    }),
    append: async (group) => {
      try {
        sqlite.transaction(() => write(group))
      } catch (cause) {
        writeOver(cause)
        throw unavailable("be written")(cause)
      }
      written += group.entries.length
    },
    entriesOf: (account_id) =>
      pages(
        0,
        (after, last) =>
          thread.run(module("./statement.ts"), readAfter, { account_id, after, last, limit: entriesPerPage }),
        ({ position }) => position
      ),
    allEntries: pages(
      0,
      (after, last) => thread.run(module("./statement.ts"), readAllAfter, after, last, entriesPerPage),
      ({ sequence }) => sequence
    ),
    allGrants: Stream.unwrap(
      Effect.map(
        ask("be read", () => thread.run(module("./statement.ts"), readGrants)),
        Stream.fromIterable
      )
    ),
    entriesBefore: (page) => ask("be read", () => thread.run(module("./statement.ts"), readBefore, page)),
    usage: (of) => ask("be read", () => thread.run(module("./usage.ts"), readUsage, of)),
    summedUsage: (of) =>
      Effect.map(
        ask("be read", () => thread.run(module("./usage.ts"), readParts, of)),
        sumUp
      ),
    verify: (held, anchor) =>
      oneLongLook.withPermit(
        ask("be verified", () =>
          inOwnThread({ file, sums }, module("./checks/verification.ts"), verifyFile, held, anchor)
        )
      ),
    keyTexts: ask("be verified", () => thread.run(module("./statement.ts"), readKeyTexts)),
    backup: (to) =>
      Effect.andThen(
        refuseExisting(to),
        oneLongLook.withPermit(
          Effect.tryPromise({
            try: () => inOwnThread({ file, sums }, module("./backup.ts"), backUpFile, to),
            catch: (cause) =>
              new BackupFailed({ file: to, problem: cause instanceof Error ? cause.message : String(cause) })
          })
        )
      )
  }
  return store
})
