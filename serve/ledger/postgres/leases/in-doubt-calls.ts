/**
 * In-doubt calls: they were answered with an error while it was unknown whether they were charged. They are stored in
 * `$LARDER_HOME/ledger/in-doubt`, in one file per name of a server, until the database has been queried, so they are
 * refunded even if the server ends first. Refunds are booked while the server works, account by account, and retried
 * until each is durable: a locked account delays neither the server nor the refunds of other accounts.
 */
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import path from "node:path"
import type { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Schedule, Schema } from "effect"
import { Entry } from "../../chain/records.ts"
import { flushFolder } from "../../files.ts"
import { refundCall } from "../../rules/decisions.ts"
import { databaseUnavailable, makeQuery, textArray } from "../sql/database.ts"
import { entryRow } from "../sql/sql-expressions.ts"
import { bookEntries, runWhileFree } from "./leases.ts"

interface InDoubtCalls {
  /** Name under which the server was registered when it sent the charges. */
  readonly member: string
  readonly requestIds: ReadonlyArray<string>
}

/** A file has one request id per line. */
export const openInDoubtFiles = (ledgerDirectory: string) => {
  const folder = path.join(ledgerDirectory, "in-doubt")
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const directory of [ledgerDirectory, folder]) chmodSync(directory, 0o700) // even if they already exist
  for (const name of readdirSync(folder)) chmodSync(path.join(folder, name), 0o600)
  const read = (member: string): InDoubtCalls => ({
    member,
    requestIds: readFileSync(path.join(folder, member), "utf8").split("\n").slice(0, -1)
  })
  return {
    /** Returns when the ids are flushed. */
    add: (member: string, requestIds: ReadonlyArray<string>): void => {
      const lines = requestIds.map((id) => `${id}\n`).join("")
      appendFileSync(path.join(folder, member), lines, { mode: 0o600, flush: true })
      flushFolder(folder)
    },
    list: (): ReadonlyArray<InDoubtCalls> => readdirSync(folder).map(read),
    /** Called when these calls are reconciled. The file stays if calls were added since it was read. */
    remove: ({ member, requestIds }: InDoubtCalls): void => {
      if (read(member).requestIds.length === requestIds.length) rmSync(path.join(folder, member))
    }
  }
}

export type InDoubtFiles = ReturnType<typeof openInDoubtFiles>

const roundInterval = "1 second"
/** A locked account makes one of them wait for five seconds. Operators need connections, too. */
const maxConcurrency = 2
/** Longer than an account waits for its lock and its lease. A lost connection may not be detected for minutes. */
const attemptTimeout = "25 seconds"

const selectNotRefunded = makeQuery(
  Schema.Struct({ value: Entry }),
  `
  select ${entryRow} as value
  from ledger.entry
  where type = 'charge' and request_id = any ($1::text[])
    and not exists (
      select from ledger.entry as refund where refund.request_id = entry.request_id and refund.type = 'refund'
    )
  order by sequence`
)

const readCharges = (sql: PgClient.PgClient, requestIds: ReadonlyArray<string>) =>
  Effect.map(selectNotRefunded(sql, [textArray(requestIds)]), (rows) => rows.map(({ value }) => value))

/** Reads the charges again once the account is locked: another server may have refunded some of them. */
const refund = (sql: PgClient.PgClient, accountId: string, charges: ReadonlyArray<Entry>) => {
  const requestIds = charges.flatMap(({ request_id }) => request_id ?? [])
  const book = Effect.flatMap(readCharges(sql, requestIds), (left) => bookEntries(sql, left.map(refundCall)))
  return Effect.timeout(runWhileFree(sql, [accountId], book), attemptTimeout)
}

/** Runs until it is interrupted. `server` is the server that has the files. */
export const refundCallsInDoubt = (
  sql: PgClient.PgClient,
  files: InDoubtFiles,
  server: { readonly current: () => { readonly id: string }; readonly isWritable: () => boolean }
) => {
  /** Late refunds, each logged once. */
  const lateRefunds = new Set<string>()
  const logIfLate = <E, R>(subject: string, work: Effect.Effect<unknown, E, R>) =>
    work.pipe(
      Effect.map(() => {
        lateRefunds.delete(subject)
        return true
      }),
      Effect.catchCause((cause) => {
        if (lateRefunds.has(subject) || !server.isWritable()) return Effect.succeed(false) // the outage is logged
        lateRefunds.add(subject)
        const { message } = databaseUnavailable("be written")(Cause.squash(cause))
        const refunds = `Refunds of calls that were answered with an error (${subject}) are late. ${message}`
        return Effect.as(Effect.logWarning(`${refunds}. They are tried again until they are booked.`), false)
      })
    )

  const reconcile = Effect.fnUntraced(function* (calls: InDoubtCalls) {
    const { member, requestIds } = calls
    // waits for statements in flight under that name, which can write nothing afterwards
    yield* Effect.timeout(sql.unsafe("delete from ledger.server where id = $1", [member]), attemptTimeout)
    const charges = yield* readCharges(sql, requestIds)
    const byAccount = Map.groupBy(charges, ({ account_id }) => account_id)
    const refunded = yield* Effect.forEach(
      byAccount,
      ([id, accountCharges]) => logIfLate(`account ${id}`, refund(sql, id, accountCharges)),
      { concurrency: maxConcurrency }
    )
    if (refunded.every((isRefunded) => isRefunded)) yield* Effect.sync(() => files.remove(calls))
  })

  /** Skips the current name of the server, under which it may still write. */
  const reconcileAll = Effect.gen(function* () {
    for (const calls of yield* Effect.sync(files.list)) {
      if (calls.member !== server.current().id) yield* logIfLate(`server ${calls.member}`, reconcile(calls))
    }
  })
  return Effect.suspend(() => (server.isWritable() ? logIfLate("all", reconcileAll) : Effect.void)).pipe(
    Effect.repeat(Schedule.spaced(roundInterval))
  )
}
