/** Ledgers as tests open them, in PostgreSQL or in both stores, and what they do with them again and again. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { PgClient } from "@effect/sql-pg"
import {
  type AdmittedCall,
  administerPostgres,
  bookWhileFree,
  connect,
  type LeaseHabits,
  type LedgerAccess,
  openEmbeddedLedger,
  openPostgresLedger,
  refundCall
} from "@larder/serve/ledger"
import { Context, Deferred, Effect, Layer, Redacted, Stream } from "effect"
import { afterAll, inject } from "vitest"
import { pooledDatabase } from "../support/postgres/new-database.ts"

export const october = Date.parse("2026-10-31T23:59:59.999Z")
export const november = Date.parse("2026-11-01T00:00:00.000Z")
export const endpoint = "/v1/stores"

export const database = Effect.suspend(() => pooledDatabase(inject("postgresUrl")))
export const doubts = mkdtempSync(path.join(tmpdir(), "larder-doubts-"))
afterAll(() => rmSync(doubts, { recursive: true }))
export const open = (url: string, directory = doubts, habits?: LeaseHabits) =>
  openPostgresLedger(Redacted.make(url), directory, habits)
export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-both-stores-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

/** Each answers how to open a new ledger, again and again. */
export const places = {
  "a folder": Effect.map(folder, (made) => openEmbeddedLedger(path.join(made, "ledger"))),
  PostgreSQL: Effect.map(database, (url) => open(url))
}

/** For what no operator does. */
export const client = (url: string) =>
  Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url) })), (built) => Context.get(built, PgClient.PgClient))

/** A lease at the first call, unless another server has called in the last second. */
export const atOnce: LeaseHabits = { groupsBeforeLease: 1, sharedFor: 1_000 }
export const openedAtOnce = (url: string) => open(url, doubts, atOnce)

/** Another session locks the row of the account until `end`. Answers once it is locked, with the fiber that ends afterwards. */
export const lockAccount = Effect.fnUntraced(function* (url: string, id: string, end: Effect.Effect<void>) {
  const sql = yield* client(url)
  const locked = yield* Deferred.make<void>()
  const locking = yield* sql`select from ledger.account where id = ${id} for update`.pipe(
    Effect.andThen(Deferred.succeed(locked, undefined)),
    Effect.andThen(end),
    sql.withTransaction,
    Effect.forkChild
  )
  yield* Deferred.await(locked)
  return locking
})

/** Why a promise was rejected; undefined where it was fulfilled. */
export const failure = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error)

export const keyOf = Effect.fnUntraced(function* ({ administration }: LedgerAccess, budget_credits = 1_000_000) {
  const { id } = yield* administration.createAccount({ name: "Überrest & Söhne" })
  return yield* administration.createKey({ account_id: id, name: "k", scopes: ["get-store"], budget_credits })
})

export type Key = Effect.Success<ReturnType<typeof keyOf>>

/** As for a call that was answered with an error although it was charged. */
export const refundCharge = Effect.fnUntraced(function* (url: string, requestId: string) {
  const sql = yield* connect(Redacted.make(url))
  for (const { id } of yield* administerPostgres(sql).listAccounts({})) {
    const entries = yield* Stream.runCollect(administerPostgres(sql).entriesOf(id))
    const charge = entries.find(({ request_id, type }) => request_id === requestId && type === "charge")
    if (charge === undefined) continue
    yield* bookWhileFree(sql, [refundCall(charge)])
  }
}, Effect.scoped)

export const hold = async (ledger: LedgerAccess, { key }: Key, credits: number, nowMs = october) => {
  const view = await ledger.authenticate(key, nowMs)
  if (view === undefined) return "unknown" as const
  const admission = await ledger.hold(view, endpoint, credits, nowMs)
  return "held" in admission ? admission.held : admission.refused
}
export const admitted = async (
  ledger: LedgerAccess,
  key: Key,
  credits: number,
  nowMs = october
): Promise<AdmittedCall> => {
  const held = await hold(ledger, key, credits, nowMs)
  if (typeof held === "string") throw new Error(held)
  return held
}
/** As the pipeline does, which looks a key up again that was changed. */
export const holdCurrent = async (ledger: LedgerAccess, key: Key, credits: number, nowMs: number) => {
  for (;;) {
    const held = await hold(ledger, key, credits, nowMs)
    if (held !== "key_changed") return held
  }
}
/** The same of a call that is released. Answers why it was refused, or that it was held. */
export const called = async (ledger: LedgerAccess, key: Key, nowMs: number, credits = 10) => {
  const held = await holdCurrent(ledger, key, credits, nowMs)
  if (typeof held === "string") return held
  held.release()
  return "held"
}
export const entriesOf = (ledger: LedgerAccess, { account_id }: Key) =>
  Stream.runCollect(ledger.administration.entriesOf(account_id))
export const balanceOf = (ledger: LedgerAccess, { account_id }: Key) =>
  Effect.map(
    ledger.administration.listAccounts({}),
    (accounts) => accounts.find(({ id }) => id === account_id)?.balance_credits
  )

export const until = async (isSo: () => boolean | Promise<boolean>) => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20))
}
