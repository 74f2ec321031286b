/**
 * The ledger in PostgreSQL, shared by many servers. The rules in `admission.ts` run over the memory of the server that
 * has the lease of an account, or over what a server reads of the account while the database locks it.
 */
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Queue, type Redacted, Schedule } from "effect"
import { fingerprint } from "../api-key.ts"
import { type Admission, type AdmittedCall, Ledger, newCounters } from "../ledger.ts"
import { draftCharge, type Hold } from "../rules/admission.ts"
import { chargedTwiceError, rememberRequests } from "../rules/ledger-state.ts"
import { administerPostgres } from "./administer.ts"
import { type Conversation, converse } from "./groups/conversation.ts"
import { refundCallsInDoubt } from "./groups/in-doubt-refunds.ts"
import { makeOutageLog } from "./groups/outage-log.ts"
import { runExpiry } from "./leases/expired-credits.ts"
import { openInDoubtFiles } from "./leases/in-doubt-files.ts"
import { type KnownAccounts, trackKnownAccounts } from "./leases/known-accounts.ts"
import type { LeaseHabits } from "./leases/lease-habits.ts"
import { joinStatements } from "./leases/membership.ts"
import { verifyHeads } from "./opening.ts"
import { connect, databaseUnavailable, redactedUrl } from "./sql/database.ts"
import { channel } from "./sql/statement-sql.ts"
import { serverStatements } from "./sql/statements.ts"

/** A lease does not help an account that is rarely called: each change of the account would have to end it. */
const defaultHabits: LeaseHabits = { groupsBeforeLease: 3, sharedFor: 1_000 }

const makeAdmittedCall = (conversation: Conversation, known: KnownAccounts, hold: Hold): AdmittedCall => {
  const heldUnder = conversation.current()
  return {
    commit: async (requestId) => {
      const draft = draftCharge(known.state(), hold, requestId)
      if (draft !== undefined) return conversation.charge(hold, draft, heldUnder)
      conversation.release(hold, heldUnder)
      throw chargedTwiceError(requestId)
    },
    release: () => conversation.release(hold, heldUnder)
  }
}

/** Receives notices from servers and operators. A lost connection is opened again; servers also check by themselves. */
const listen = (sql: PgClient.PgClient, onNotice: (notice: string) => void) =>
  Effect.flatMap(sql.listen(channel), (notices) =>
    Effect.forever(Effect.map(Queue.take(notices), ({ payload }) => onNotice(payload)))
  ).pipe(Effect.scoped, Effect.ignore, Effect.repeat(Schedule.spaced("1 second")))

/** `directory` (`$LARDER_HOME/ledger`) stores what must not be lost during an outage. `place` names the database. */
export const openLedgerInPostgres = Effect.fn("PostgresLedger.open")(function* (
  sql: PgClient.PgClient,
  place: string,
  directory: string,
  habits: LeaseHabits = defaultHabits
) {
  yield* verifyHeads(sql, place)
  const statements = yield* Effect.mapError(serverStatements(sql), databaseUnavailable("be joined"))
  const counters = newCounters()
  const known = trackKnownAccounts(rememberRequests())
  const clock = yield* Clock.Clock
  const log = Effect.runForkWith(yield* Effect.context<never>())
  const outages = yield* makeOutageLog
  const doubts = openInDoubtFiles(directory)
  const conversation = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () =>
        converse({
          statements: { ...statements, ...joinStatements(sql, statements) },
          known,
          doubts,
          counters,
          listener: {
            ...outages,
            locked: (id) =>
              log(
                Effect.logWarning(
                  `Another session has locked account ${id} in the database. Its calls are refused, and not charged, for five seconds.`
                )
              )
          },
          habits,
          clocks: {
            monotonic: () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6,
            timeOfDay: () => clock.currentTimeMillisUnsafe()
          }
        }),
      catch: databaseUnavailable("be joined")
    }),
    (conversation) => Effect.promise(conversation.close)
  )
  yield* Effect.forkScoped(listen(sql, conversation.onNotice))
  yield* Effect.forkScoped(runExpiry(sql))
  yield* Effect.forkScoped(refundCallsInDoubt(sql, doubts, conversation))

  return Ledger.of({
    authenticate: (token, nowMs) => conversation.authenticate(fingerprint(token), nowMs),
    isCurrent: conversation.isCurrent,
    hold: async (key, endpoint, credits, nowMs): Promise<Admission> => {
      const decided = await conversation.hold({ key, endpoint, credits, nowMs })
      if ("hold" in decided) return { held: makeAdmittedCall(conversation, known, decided.hold) }
      if (decided.refused !== "key_changed") counters[`refused_${decided.refused}`]++
      return decided
    },
    remaining: known.remaining,
    writable: conversation.isWritable,
    counters,
    administration: administerPostgres(sql)
  })
})

export const openPostgresLedger = (url: Redacted.Redacted, directory: string, habits?: LeaseHabits) =>
  Effect.flatMap(connect(url), (sql) => openLedgerInPostgres(sql, redactedUrl(url), directory, habits))
