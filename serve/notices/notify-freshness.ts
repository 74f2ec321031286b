/**
 * Sends to the operator's webhook once a minute what has changed about freshness. Of several servers that share a
 * ledger, one does: it claims a row of the console's tables, renews the claim each time, and gives it up when it
 * stops. If it is killed, another server takes over when the claim has expired.
 */
import { randomUUID } from "node:crypto"
import { type Layout, type NotifiedStates, notifyFreshness, readFreshness, type Webhook } from "@larder/warehouse"
import { Clock, Duration, Effect, Schedule, Schema } from "effect"
import { ConsoleDatabase, type ConsoleUnavailable } from "../persistence/index.ts"

const interval = Duration.minutes(1)
/** Longer than the interval and all attempts to post together. */
const claimed = Duration.minutes(3)

/** Rows per transaction: in SQLite, requests wait for it. */
const maxRowsPerTransaction = 250

const claim = `
  insert into console.notifier as held (id, server, expires_at) values ('freshness', $1, $2)
  on conflict (id) do update set server = excluded.server, expires_at = excluded.expires_at
  where held.server = $1 or held.expires_at <= $3
  returning id`
const giveUp = "delete from console.notifier where server = $1"
const remember = `
  insert into console.notified_state (subject, state, notified_at) values ($1, $2, $3)
  on conflict (subject) do update set state = excluded.state, notified_at = excluded.notified_at`
const forget = "delete from console.notified_state where subject = $1"

const NotifiedState = Schema.Struct({ subject: Schema.String, state: Schema.String, notified_at: Schema.String })

const isoTime = (millis: number) => new Date(millis).toISOString()

const notifiedInTables = (database: ConsoleDatabase["Service"]): NotifiedStates<ConsoleUnavailable, never> => ({
  read: database.background.all(
    NotifiedState,
    "select subject, state, notified_at from console.notified_state order by subject"
  ),
  record: Effect.fnUntraced(function* (notified, forgotten) {
    const statements = [
      ...notified.map(({ state, subject, notified_at }) => [remember, [subject, state, notified_at]] as const),
      ...forgotten.map((subject) => [forget, [subject]] as const)
    ]
    for (let first = 0; first < statements.length; first += maxRowsPerTransaction) {
      const batch = statements.slice(first, first + maxRowsPerTransaction)
      yield* database.transaction(({ run }) =>
        Effect.forEach(batch, ([sql, params]) => run(sql, params), { discard: true })
      )
    }
  })
})

/** Sends what has changed if this server has the claim, or if the claim of another has expired. */
export const notifyOnce = Effect.fnUntraced(function* (layout: Layout, webhook: Webhook, server: string) {
  const database = yield* ConsoleDatabase
  const now = yield* Clock.currentTimeMillis
  const expiry = isoTime(now + Duration.toMillis(claimed))
  if ((yield* database.run(claim, [server, expiry, isoTime(now)])) === 0) return
  const judged = yield* readFreshness(layout)
  if (judged !== undefined) yield* notifyFreshness(judged, notifiedInTables(database), webhook)
})

/** Checks now and then once a minute, until the scope ends. A failure is logged, and the next check sends the same. */
export const notifyEachMinute = Effect.fnUntraced(function* (layout: Layout, webhook: Webhook) {
  const { run } = yield* ConsoleDatabase
  const server = randomUUID()
  yield* Effect.addFinalizer(() => Effect.ignore(run(giveUp, [server]))) // after the last check, which is forked below
  const check = notifyOnce(layout, webhook, server).pipe(
    Effect.catchTag("NoticeNotDelivered", ({ message }) =>
      Effect.logWarning(`the notice was not delivered: ${message}`)
    ),
    Effect.catchCause((cause) => Effect.logWarning("changes of freshness could not be checked", cause))
  )
  yield* Effect.forkScoped(Effect.repeat(check, Schedule.spaced(interval)))
})
