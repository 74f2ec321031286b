/** Ledgers for tests, in PostgreSQL or in both stores, and actions that many tests share. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { PgClient } from "@effect/sql-pg"
import { assert } from "@effect/vitest"
import {
  type AdmittedCall,
  type ApiKeyView,
  administerPostgres,
  connect,
  type LedgerAccess,
  openPostgresLedger
} from "@larder/serve/ledger"
import { openEmbeddedLedger } from "@larder/serve/ledger/embedded/embedded-ledger.ts"
import { bookEntries, changeAccounts } from "@larder/serve/ledger/postgres/changes.ts"
import { refundCall } from "@larder/serve/ledger/rules/decisions.ts"
import { Clock, Context, Deferred, Effect, Fiber, Layer, Logger, Redacted, Stream } from "effect"
import { inject } from "vitest"
import { pooledDatabase } from "../support/postgres/new-database.ts"
import { untilWaitingForLocks } from "../support/postgres/waiting-for-locks.ts"
import { startFaultyProxy } from "./faulty-proxy.ts"
import { clockAt } from "./histories/world.ts"

export const october = Date.parse("2026-10-31T23:59:59.999Z")
export const november = Date.parse("2026-11-01T00:00:00.000Z")
export const endpoint = "/v1/stores"

export const database = Effect.suspend(() => pooledDatabase(inject("postgresUrl")))
export const inDoubtFolder = mkdtempSync(path.join(inject("runFolder"), "in-doubt-"))
export const open = (url: string, directory = inDoubtFolder) => openPostgresLedger(Redacted.make(url), directory)
/** Returns also the messages that the ledger logs. */
export const openWithLog = Effect.fnUntraced(function* (url: string, directory = inDoubtFolder) {
  const logged: Array<string> = []
  const logger = Logger.make(({ message }) => logged.push(String(message)))
  const ledger = yield* Effect.provide(open(url, directory), Logger.layer([logger]))
  return { ledger, logged }
})
/** A ledger for which time passes only by `pass`. */
export const openWithClock = Effect.fnUntraced(function* (url: string) {
  let nanoseconds = 0n
  const clock = { ...clockAt(Date.now), monotonicTimeNanosUnsafe: () => nanoseconds }
  const opened = yield* Effect.provideService(openWithLog(url), Clock.Clock, clock)
  const pass = (milliseconds: number) => {
    nanoseconds += BigInt(milliseconds) * 1_000_000n
  }
  return { ...opened, pass }
})
/** A proxy in front of a database, until the scope ends. */
export const proxyTo = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(() => startFaultyProxy(url)),
    ({ close }) => Effect.promise(close)
  )
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-both-stores-"))),
  (created) => Effect.sync(() => rmSync(created, { recursive: true, force: true }))
)

/** Each creates a ledger, and returns the effect that opens it, which can run any number of times. */
export const newLedgers = {
  "a folder": Effect.map(folder, (created) => openEmbeddedLedger(path.join(created, "ledger"))),
  PostgreSQL: Effect.map(database, (url) => open(url))
}

/** Raw SQL access, for what no operator does. */
export const client = (url: string) =>
  Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url) })), (built) => Context.get(built, PgClient.PgClient))

/** Takes a lock in another session, and keeps it until the returned effect runs. */
export const lock = Effect.fnUntraced(function* (url: string, statement: string, params: ReadonlyArray<string> = []) {
  const sql = yield* client(url)
  const [locked, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const locking = yield* sql
    .unsafe(statement, params)
    .pipe(
      Effect.andThen(Deferred.succeed(locked, undefined)),
      Effect.andThen(Deferred.await(release)),
      sql.withTransaction,
      Effect.forkScoped
    )
  yield* Deferred.await(locked)
  return Effect.andThen(Deferred.succeed(release, undefined), Fiber.join(locking))
})

/** Locks the row of an account in another session until `end` has run. Returns its fiber once the row is locked. */
export const lockAccount = Effect.fnUntraced(function* (url: string, id: string, end: Effect.Effect<void>) {
  const sql = yield* client(url)
  const locked = yield* Deferred.make<void>()
  const locking = yield* sql`select from ledger.account where id = ${id} for update`.pipe(
    Effect.andThen(Deferred.succeed(locked, undefined)),
    Effect.andThen(end),
    sql.withTransaction,
    Effect.forkScoped
  )
  yield* Deferred.await(locked)
  return locking
})

/** Locks the row of an account. */
export const lockRow = "select from ledger.account where id = $1 for update"

/** The session that waits for a lock. */
export const waitingSession = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ pid: number }>`select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
    ([row]) => row?.pid
  )

/** Waits until a group has given up the lock of an account, and waits for it again in another session, which is returned. */
export const untilTriedAlone = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  yield* untilWaitingForLocks(sql)
  const first = yield* waitingSession(sql)
  for (;;) {
    const pid = yield* waitingSession(sql)
    if (pid !== undefined && pid !== first) return pid
  }
})

/** The error of a rejected promise; undefined if it was fulfilled. */
export const catchError = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error)

export const makeKey = Effect.fnUntraced(function* ({ administration }: LedgerAccess, budget_credits = 1_000_000) {
  const { id } = yield* administration.createAccount({ name: "Überrest & Söhne" })
  return yield* administration.createKey({ account_id: id, name: "k", scopes: ["get-store"], budget_credits })
})

export type Key = Effect.Success<ReturnType<typeof makeKey>>

/** Refunds a charge, as a server does for a call that failed although it was charged. */
export const refundCharge = Effect.fnUntraced(function* (url: string, requestId: string) {
  const sql = yield* connect(Redacted.make(url))
  for (const { id } of yield* administerPostgres(sql).listAccounts({})) {
    const entries = yield* Stream.runCollect(administerPostgres(sql).entriesOf(id))
    const charge = entries.find(({ request_id, type }) => request_id === requestId && type === "charge")
    if (charge === undefined) continue
    yield* changeAccounts(sql, [id], bookEntries(sql, [refundCall(charge)]))
  }
}, Effect.scoped)

/** A server may admit a call by what it has read in the last second; here it asks each time. */
const lookUp = async (ledger: LedgerAccess, { key }: Key, nowMs: number) => {
  for (;;) {
    const view = await ledger.authenticate(key, nowMs)
    if (view === undefined || (await ledger.isCurrent(view, nowMs))) return view
  }
}
export const hold = async (ledger: LedgerAccess, key: Key, credits: number, nowMs = october) => {
  const view = await lookUp(ledger, key, nowMs)
  if (view === undefined) return "unknown" as const
  const admission = await ledger.hold(view, { endpoint, scope: "get-store", credits }, nowMs)
  return "held" in admission ? admission.held : admission.refused
}
export const admit = async (
  ledger: LedgerAccess,
  key: Key,
  credits: number,
  nowMs = october
): Promise<AdmittedCall> => {
  const held = await hold(ledger, key, credits, nowMs)
  if (typeof held === "string") throw new Error(held)
  return held
}
/** A call that is admitted and charged. */
export const charge = (ledger: LedgerAccess, key: Key, id: string, credits = 100) =>
  Effect.promise(async () => (await admit(ledger, key, credits)).capture(id))
/** Fails unless the key can still spend these credits: other calls neither hold nor have spent them. */
export const assertSpendable = (ledger: LedgerAccess, key: Key, credits: number) =>
  Effect.promise(async () => (await admit(ledger, key, credits)).release())
/**
 * A call by a key that may have changed since its lookup. An embedded ledger notices when the call is admitted; a shared one
 * may also notice when it is charged.
 */
export const callWithView = async (ledger: LedgerAccess, view: ApiKeyView, nowMs: number) => {
  const admission = await ledger.hold(view, { endpoint, scope: "get-store", credits: 10 }, nowMs)
  return "held" in admission ? admission.held.capture(`req_${crypto.randomUUID()}`) : admission.refused
}

/** Looks a changed key up again, as the pipeline does. */
export const holdCurrent = async (ledger: LedgerAccess, key: Key, credits: number, nowMs: number) => {
  for (;;) {
    const held = await hold(ledger, key, credits, nowMs)
    if (held !== "key_changed") return held
  }
}
/** The same for a call that is then released. Returns why it was refused, or `held`. */
export const tryCall = async (ledger: LedgerAccess, key: Key, nowMs: number, credits = 10) => {
  const held = await holdCurrent(ledger, key, credits, nowMs)
  if (typeof held === "string") return held
  held.release()
  return "held"
}
export const readEntries = (ledger: LedgerAccess, { account_id }: Key) =>
  Stream.runCollect(ledger.administration.entriesOf(account_id))
export const assertNoProblems = ({ administration }: Pick<LedgerAccess, "administration">) =>
  Effect.map(administration.verify({}), ({ problems }) => assert.deepStrictEqual(problems, []))
export const readBalance = (ledger: LedgerAccess, { account_id }: Key) =>
  Effect.map(
    ledger.administration.listAccounts({}),
    (accounts) => accounts.find(({ id }) => id === account_id)?.balance_credits
  )

export const waitUntil = async (isDone: () => boolean | Promise<boolean>) => {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 20))
}
