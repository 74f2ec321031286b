/** A server's connections for its calls, and what it sends on them: groups, lookups, and probes during an outage. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Scope } from "effect"
import type { CommitOutcome, LedgerCounters } from "../../ledger.ts"
import type { LedgerState } from "../../rules/ledger-state.ts"
import type { HoldOutcome, OwnHold, OwnHolds, PricedCall } from "../calls/own-holds.ts"
import type { InDoubtFiles } from "../in-doubt/in-doubt-files.ts"
import { databaseUnavailable, openCallConnection, runWithDeadline, type SqlStatement } from "../sql/database.ts"
import { classifyFailure, isConnectionLost } from "../sql/failures.ts"
import { probe } from "../sql/group-statements.ts"
import { type FailureListener, makeFailedGroups } from "./failed-groups.ts"
import { makeGroupQueue } from "./group.ts"
import { makeGroupWriter } from "./group-writer.ts"
import { trackLockedAccounts } from "./locked-accounts.ts"
import { type OutageListener, trackOutage } from "./outage.ts"

/** Groups in flight. With more, groups are smaller, and each costs the database a commit. */
const maxGroups = 2

export const openCallWriter = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  options: {
    readonly own: OwnHolds
    readonly counters: LedgerCounters
    readonly inDoubtFiles: InDoubtFiles
    readonly listener: OutageListener & FailureListener
    /** The state over which a call was decided in a group. */
    readonly onDecided: (call: PricedCall, state: LedgerState) => void
    /** Monotonic, in milliseconds. */
    readonly now: () => number
  }
) {
  const { listener, now } = options
  const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
  const run = <A, E>(work: Effect.Effect<A, E>): Promise<A> => runWithDeadline((signal) => runPromise(work, { signal }))
  // a scope that is closing opens no connection, and the last groups may need one
  const pools = yield* Effect.acquireRelease(Scope.make(), Scope.close)
  const openConnection = Scope.provide(openCallConnection(sql), pools)
  const connections = yield* Effect.all(Array.from({ length: maxGroups }, () => openConnection))
  const useReading = yield* openConnection
  const read = (statements: ReadonlyArray<SqlStatement>) => run(useReading((send) => send(statements)))

  let isClosing = false
  const locked = trackLockedAccounts()
  const queue = makeGroupQueue(locked.isSuspect, now)
  const outage = trackOutage({
    probe: () => read([probe]),
    listener,
    now,
    whileLost: (cause) => failed.failExpired(isClosing, cause),
    onRestored: () => writer.schedule()
  })
  const failed = makeFailedGroups({ ...options, queue, locked, outage })
  const writer = makeGroupWriter({
    ...options,
    connections,
    run,
    queue,
    locked,
    outage,
    failed
  })

  /** A read can be repeated: a connection that was lost while it was idle costs no call. */
  const query = async (statements: ReadonlyArray<SqlStatement>) => {
    try {
      return await read(statements).catch((cause) => {
        if (!isConnectionLost(cause) || outage.isLost()) throw cause
        return read(statements)
      })
    } catch (cause) {
      const error = databaseUnavailable("be read")(cause)
      if (classifyFailure(cause) === "lost") outage.report(error)
      else if (classifyFailure(cause) === "unexpected") listener.failed(cause)
      throw error
    }
  }

  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      isClosing = true
      while (!queue.isEmpty()) await new Promise((resolve) => setTimeout(resolve, 5))
      outage.close()
    })
  )

  return {
    query,
    isWritable: outage.isWritable,
    /** Throws if the database is lost, or the account is locked by another session. */
    refuseIfLost: (accountId?: string): void => {
      outage.refuseIfLost()
      if (accountId !== undefined) locked.rejectIfLockedOut(accountId)
    },
    decide: (call: PricedCall): Promise<HoldOutcome> => {
      const undecided = { call, since: now(), ...Promise.withResolvers<HoldOutcome>() }
      queue.addUndecided(undecided)
      writer.schedule()
      return undecided.promise
    },
    /** Resolves when the charge is durable, or refused. The hold ends in either case. */
    charge: async (hold: OwnHold, requestId: string): Promise<CommitOutcome> => {
      if (hold.stage !== "held") throw new Error(`the hold of request ${requestId} has been used already`)
      hold.stage = "charging"
      const charge = { hold, requestId, since: now(), isInDoubt: false, ...Promise.withResolvers<CommitOutcome>() }
      queue.addCharge(charge)
      writer.schedule()
      return charge.promise
    }
  }
})

export type CallWriter = Effect.Success<ReturnType<typeof openCallWriter>>
