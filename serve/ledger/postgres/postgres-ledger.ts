/**
 * The ledger in PostgreSQL, shared by many servers. A server admits a call by what it reads, reads the data of the call,
 * and charges it in a transaction that decides once more, because another server may have charged the account meanwhile.
 * Nothing in a server's memory is authoritative: it has the holds of its own calls, and what it has read in the last second.
 */
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect, type Redacted } from "effect"
import { type Admission, type AdmittedCall, Ledger, newCounters } from "../ledger.ts"
import { administerPostgres } from "./administer-postgres.ts"
import { makeAdmission } from "./calls/admission.ts"
import { makeLookups } from "./calls/lookups.ts"
import { type OwnHold, trackOwnHolds } from "./calls/own-holds.ts"
import { rememberReads } from "./calls/recent-reads.ts"
import { openCallWriter } from "./groups/call-writer.ts"
import { makeOutageLog } from "./groups/outage-log.ts"
import { openInDoubtFiles } from "./in-doubt/in-doubt-files.ts"
import { refundCallsInDoubt } from "./in-doubt/refunds.ts"
import { verifyAtStart } from "./opening.ts"
import { connect, databaseUnavailable, redactedUrl } from "./sql/database.ts"

/** `directory` (`$LARDER_HOME/ledger`) stores what an outage must not lose. `databaseName` is for messages. */
const openLedgerInPostgres = Effect.fn("PostgresLedger.open")(function* (
  sql: PgClient.PgClient,
  databaseName: string,
  directory: string
) {
  yield* verifyAtStart(sql, databaseName)
  const counters = newCounters()
  const own = trackOwnHolds()
  const clock = yield* Clock.Clock
  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
  const log = Effect.runForkWith(yield* Effect.context<never>())
  const outages = yield* makeOutageLog
  const inDoubtFiles = openInDoubtFiles(directory)
  const opening = openCallWriter(sql, {
    own,
    counters,
    inDoubtFiles,
    now,
    listener: {
      ...outages,
      locked: (id) =>
        log(
          Effect.logWarning(
            `Another session has locked account ${id} in the database. Its calls are refused, and not charged, for five seconds.`
          )
        ),
      failed: (cause) => log(Effect.logError("Calls could not be charged", cause)),
      notStored: (calls, cause) => {
        const names = calls.map(({ account_id, request_id }) => `${request_id} of account ${account_id}`).join(", ")
        const message = `These calls failed, but may have been charged: ${names}. They could not be recorded in ${directory} for a refund. Look for them in \`larder-serve ledger export\`, and credit those that were charged.`
        log(Effect.logError(message, cause))
      }
    },
    onDecided: (calls, state, at) => admission.recordDecided(calls, state, at)
  })
  const writer = yield* Effect.mapError(opening, databaseUnavailable("be reached"))
  const lookUp = makeLookups({ query: writer.query, own, now })
  const recent = rememberReads(now)
  const admission = makeAdmission({ lookUp, recent, own, counters, decideInGroup: writer.decide })
  yield* Effect.forkScoped(refundCallsInDoubt(sql, inDoubtFiles, writer.isWritable))

  const makeAdmittedCall = (hold: OwnHold): AdmittedCall => ({
    capture: (requestId, { signal } = {}) => writer.charge(hold, requestId, signal),
    release: () => {
      if (hold.stage === "held") own.end(hold, "released")
    }
  })

  return Ledger.of({
    authenticate: async (token, nowMs) => {
      writer.refuseIfLost()
      return admission.authenticate(token, nowMs)
    },
    isCurrent: admission.isCurrent,
    hold: async (key, call, nowMs): Promise<Admission> => {
      writer.refuseIfLost(key.account_id)
      const outcome = await admission.hold(key, call, nowMs)
      return "hold" in outcome ? { held: makeAdmittedCall(outcome.hold) } : outcome
    },
    remaining: admission.remaining,
    writable: writer.isWritable,
    counters,
    administration: administerPostgres(sql, recent.clear)
  })
})

export const openPostgresLedger = (url: Redacted.Redacted, directory: string) =>
  Effect.flatMap(connect(url), (sql) => openLedgerInPostgres(sql, redactedUrl(url), directory))
