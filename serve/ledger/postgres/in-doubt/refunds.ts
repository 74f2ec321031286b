/**
 * Refunds in-doubt calls that were charged. Refunds are booked while the server works, account by account, and retried
 * until each is durable: a locked account delays neither the server nor the refunds of other accounts.
 */
import type { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Schedule, Schema } from "effect"
import { Entry } from "../../chain/records.ts"
import { refundCall } from "../../rules/decisions.ts"
import { bookEntries, changeAccounts } from "../changes.ts"
import { databaseUnavailable, makeQuery, textArray } from "../sql/database.ts"
import { entryRow } from "../sql/sql-expressions.ts"
import type { InDoubtCall, InDoubtFiles } from "./in-doubt-files.ts"

const roundInterval = "1 second"
/** A locked account makes one of them wait for five seconds. Operators need connections, too. */
const maxConcurrency = 2
/** Longer than a change waits for its account. A lost connection may not be detected for minutes. */
const attemptTimeout = "25 seconds"

const selectNotRefunded = makeQuery(
  Schema.Struct({ value: Entry }),
  `
  select ${entryRow} as value
  from ledger.entry
  where account_id = $1 and type = 'charge' and request_id = any ($2::text[])
    and not exists (
      select from ledger.entry as refund where refund.request_id = entry.request_id and refund.type = 'refund'
    )
  order by position`
)

/** Once the account is locked, the transaction that may have charged the calls has ended, and no other server refunds them. */
const refund = (sql: PgClient.PgClient, accountId: string, calls: ReadonlyArray<InDoubtCall>) => {
  const requestIds = textArray(calls.map(({ request_id }) => request_id))
  const book = Effect.flatMap(selectNotRefunded(sql, [accountId, requestIds]), (charges) =>
    charges.length === 0
      ? Effect.void
      : bookEntries(
          sql,
          charges.map(({ value }) => refundCall(value))
        )
  )
  return Effect.timeout(changeAccounts(sql, [accountId], book), attemptTimeout)
}

/** Runs until it is interrupted. */
export const refundCallsInDoubt = (sql: PgClient.PgClient, files: InDoubtFiles, isWritable: () => boolean) => {
  /** Late refunds, each logged once. */
  const lateRefunds = new Set<string>()
  const logIfLate = <E, R>(subject: string, work: Effect.Effect<unknown, E, R>) =>
    work.pipe(
      Effect.map(() => {
        lateRefunds.delete(subject)
        return true
      }),
      Effect.catchCause((cause) => {
        if (lateRefunds.has(subject) || !isWritable()) return Effect.succeed(false) // the outage is logged
        lateRefunds.add(subject)
        const { message } = databaseUnavailable("be written")(Cause.squash(cause))
        const refunds = `Refunds of calls that were answered with an error (${subject}) are late. ${message}`
        return Effect.as(Effect.logWarning(`${refunds}. They are tried again until they are booked.`), false)
      })
    )

  const reconcileAll = Effect.gen(function* () {
    const listed = yield* Effect.sync(files.list)
    const late = new Set<string>()
    yield* Effect.forEach(
      Map.groupBy(
        listed.flatMap(({ calls }) => calls),
        ({ account_id }) => account_id
      ),
      Effect.fnUntraced(function* ([id, calls]) {
        if (!(yield* logIfLate(`account ${id}`, refund(sql, id, calls)))) late.add(id)
      }),
      { concurrency: maxConcurrency, discard: true }
    )
    for (const file of listed) {
      if (!file.calls.some(({ account_id }) => late.has(account_id))) yield* Effect.sync(() => files.remove(file))
    }
  })
  return Effect.suspend(() => (isWritable() ? logIfLate("all", reconcileAll) : Effect.void)).pipe(
    Effect.repeat(Schedule.spaced(roundInterval))
  )
}
