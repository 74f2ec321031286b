/**
 * The ledger in PostgreSQL, shared by many servers. The rules in `admission.ts` run over the memory of the server that
 * has the lease of an account, or over what a server reads of the account while the database locks it.
 */
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Queue, type Redacted, Schedule } from "effect"
import { fingerprint } from "../api-key.ts"
import { type Admission, type AdmittedCall, Ledger, newCounters } from "../ledger.ts"
import { draftCharge, type Hold } from "../rules/admission.ts"
import { duplicateRequestIdError, makeRequestMemory } from "../rules/ledger-state.ts"
import { administerPostgres } from "./administer.ts"
import { makeOutageLog } from "./groups/outage-log.ts"
import { openServerSession, type ServerSession } from "./groups/server-session.ts"
import { openInDoubtFiles, refundCallsInDoubt } from "./leases/in-doubt-calls.ts"
import { type KnownAccounts, trackKnownAccounts } from "./leases/known-accounts.ts"
import type { LeasePolicy } from "./leases/lease-rules.ts"
import { verifyAtStart } from "./opening.ts"
import { connect, databaseUnavailable, redactedUrl } from "./sql/database.ts"
import { channel } from "./sql/statement-sql.ts"
import { serverStatements } from "./sql/statements.ts"

/** A lease does not help an account that is rarely called: each change of the account would have to end it. */
const defaultLeasePolicy: LeasePolicy = { groupsBeforeLease: 3, sharedDuration: 1_000 }

const makeAdmittedCall = (session: ServerSession, known: KnownAccounts, hold: Hold): AdmittedCall => {
  const serverName = session.current()
  return {
    commit: async (requestId) => {
      const draft = draftCharge(known.state(), hold, requestId)
      if (draft !== undefined) return session.charge(hold, draft, serverName)
      session.release(hold, serverName)
      throw duplicateRequestIdError(requestId)
    },
    release: () => session.release(hold, serverName)
  }
}

/**
 * Receives notifications from servers and operators. A lost connection is opened again. Servers also poll, so a lost
 * notification only delays them.
 */
const listen = (sql: PgClient.PgClient, onNotification: (notification: string) => void) =>
  Effect.flatMap(sql.listen(channel), (notifications) =>
    Effect.forever(Effect.map(Queue.take(notifications), ({ payload }) => onNotification(payload)))
  ).pipe(Effect.scoped, Effect.ignore, Effect.repeat(Schedule.spaced("1 second")))

/** `directory` (`$LARDER_HOME/ledger`) stores what an outage must not lose. `databaseName` is for messages. */
const openLedgerInPostgres = Effect.fn("PostgresLedger.open")(function* (
  sql: PgClient.PgClient,
  databaseName: string,
  directory: string,
  leasePolicy: LeasePolicy = defaultLeasePolicy
) {
  yield* verifyAtStart(sql, databaseName)
  const statements = yield* Effect.mapError(serverStatements(sql), databaseUnavailable("be joined"))
  const counters = newCounters()
  const known = trackKnownAccounts(makeRequestMemory())
  const clock = yield* Clock.Clock
  const log = Effect.runForkWith(yield* Effect.context<never>())
  const outages = yield* makeOutageLog
  const inDoubtFiles = openInDoubtFiles(directory)
  const session = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () =>
        openServerSession({
          statements,
          known,
          inDoubtFiles,
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
          leasePolicy,
          clocks: {
            monotonic: () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6,
            timeOfDay: () => clock.currentTimeMillisUnsafe()
          }
        }),
      catch: databaseUnavailable("be joined")
    }),
    (session) => Effect.promise(session.close)
  )
  yield* Effect.forkScoped(listen(sql, session.onNotification))
  yield* Effect.forkScoped(refundCallsInDoubt(sql, inDoubtFiles, session))

  return Ledger.of({
    authenticate: (token, nowMs) => session.authenticate(fingerprint(token), nowMs),
    isCurrent: session.isCurrent,
    hold: async (key, endpoint, credits, nowMs): Promise<Admission> => {
      const decided = await session.hold({ key, endpoint, credits, nowMs })
      if ("hold" in decided) return { held: makeAdmittedCall(session, known, decided.hold) }
      if (decided.refused !== "key_changed") counters[`refused_${decided.refused}`]++
      return decided
    },
    remaining: known.remaining,
    writable: session.isWritable,
    counters,
    administration: administerPostgres(sql)
  })
})

export const openPostgresLedger = (url: Redacted.Redacted, directory: string, leasePolicy?: LeasePolicy) =>
  Effect.flatMap(connect(url), (sql) => openLedgerInPostgres(sql, redactedUrl(url), directory, leasePolicy))
