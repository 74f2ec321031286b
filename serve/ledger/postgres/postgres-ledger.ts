/**
 * The ledger in PostgreSQL, shared by many servers. The rules are those of `machine.ts`: over the memory of the server that
 * has the lease of an account, or over what it reads of the account while the database keeps all others away from it.
 */
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Queue, type Redacted, Schedule } from "effect"
import { fingerprint } from "../../access/api-key.ts"
import { chargedRequests, chargedTwice } from "../charged-requests.ts"
import { type Admission, type Held, Ledger, noCounts } from "../ledger.ts"
import { charge, type Hold } from "../machine.ts"
import { administer } from "./administer.ts"
import { type Conversation, converse } from "./conversation.ts"
import { connect, placeOf, unavailable } from "./database.ts"
import { doubtFiles } from "./doubt-files.ts"
import { keepExpiring } from "./expired-credits.ts"
import { refundCallsInDoubt } from "./in-doubt-refunds.ts"
import { joinStatements } from "./joining.ts"
import { type KnownAccounts, knownAccounts } from "./known-accounts.ts"
import type { LeaseHabits } from "./lease-habits.ts"
import { outageLog } from "./outage-log.ts"
import { channel } from "./statement-sql.ts"
import { serverStatements } from "./statements.ts"
import { verifyHeads } from "./verification.ts"

/** An account that is called now and then has no use of a lease, which would have to be taken away for each change of it. */
const usualHabits: LeaseHabits = { groupsBeforeLease: 3, sharedFor: 1_000 }

/** One admitted call. It ends once. */
const heldCall = (conversation: Conversation, known: KnownAccounts, hold: Hold): Held => {
  const heldUnder = conversation.current()
  return {
    commit: async (requestId) => {
      const draft = charge(known.state(), hold, requestId)
      if (draft !== undefined) return conversation.charge(hold, draft, heldUnder)
      conversation.release(hold, heldUnder)
      throw chargedTwice(requestId)
    },
    release: () => conversation.release(hold, heldUnder)
  }
}

/** What servers and operators tell each other. A connection that is lost is made again; servers look by themselves, too. */
const listen = (sql: PgClient.PgClient, onNotice: (notice: string) => void) =>
  Effect.flatMap(sql.listen(channel), (notices) =>
    Effect.forever(Effect.map(Queue.take(notices), ({ payload }) => onNotice(payload)))
  ).pipe(Effect.scoped, Effect.ignore, Effect.repeat(Schedule.spaced("1 second")))

/**
 * Over connections that are there already. `directory` keeps what must not be forgotten while the database is away:
 * `$LARDER_HOME/ledger`; `place` names the database.
 */
export const ledgerIn = Effect.fn("PostgresLedger.open")(function* (
  sql: PgClient.PgClient,
  place: string,
  directory: string,
  habits: LeaseHabits = usualHabits
) {
  yield* verifyHeads(sql, place)
  const statements = yield* Effect.mapError(serverStatements(sql), unavailable("be joined"))
  const counters = noCounts()
  const known = knownAccounts(chargedRequests())
  const clock = yield* Clock.Clock
  const log = Effect.runForkWith(yield* Effect.context<never>())
  const outages = yield* outageLog
  const doubts = doubtFiles(directory)
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
                  `Somebody has locked account ${id} in the database. Its calls are refused, and not charged, for five seconds.`
                )
              )
          },
          habits,
          clocks: {
            monotonic: () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6,
            timeOfDay: () => clock.currentTimeMillisUnsafe()
          }
        }),
      catch: unavailable("be joined")
    }),
    (conversation) => Effect.promise(conversation.close)
  )
  yield* Effect.forkScoped(listen(sql, conversation.onNotice))
  yield* Effect.forkScoped(keepExpiring(sql))
  yield* Effect.forkScoped(refundCallsInDoubt(sql, doubts, conversation))

  return Ledger.of({
    authenticate: (token, nowMs) => conversation.authenticate(fingerprint(token), nowMs),
    isCurrent: conversation.isCurrent,
    hold: async (key, endpoint, credits, nowMs): Promise<Admission> => {
      const decided = await conversation.hold({ key, endpoint, credits, nowMs })
      if ("hold" in decided) return { held: heldCall(conversation, known, decided.hold) }
      if (decided.refused !== "key_changed") counters[`refused_${decided.refused}`]++
      return decided
    },
    remaining: known.remaining,
    writable: conversation.isWritable,
    counters,
    administration: administer(sql)
  })
})

export const postgresLedger = (url: Redacted.Redacted, directory: string, habits?: LeaseHabits) =>
  Effect.flatMap(connect(url), (sql) => ledgerIn(sql, placeOf(url), directory, habits))
