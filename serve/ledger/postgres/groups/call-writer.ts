/** A server's connections for its calls, and what it sends on them: groups, lookups, and probes during an outage. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Scope } from "effect"
import type { CaptureOutcome, LedgerCounters } from "../../ledger.ts"
import type { OwnHold, OwnHoldOutcome, OwnHolds, PricedCall } from "../calls/own-holds.ts"
import type { InDoubtFiles } from "../in-doubt/in-doubt-files.ts"
import { databaseUnavailable, openCallConnection, runWithDeadline, type SqlStatement } from "../sql/database.ts"
import { classifyFailure, isConnectionLost } from "../sql/failures.ts"
import { probe } from "../sql/group-statements.ts"
import { type FailureListener, makeFailedGroups } from "./failed-groups.ts"
import { makeGroupQueue } from "./group.ts"
import { makeGroupWriter, type OnDecided } from "./group-writer.ts"
import { trackLockedAccounts } from "./locked-accounts.ts"
import { type OutageListener, trackOutage } from "./outage.ts"

/** Groups in flight. With more, groups are smaller, and each costs the database a commit. */
const maxGroups = 2
/**
 * Milliseconds between two looks for waiting calls that are over, or to be sent beside a group that takes long to be
 * written, or to fail.
 */
const lookInterval = 100

export const openCallWriter = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  options: {
    readonly own: OwnHolds
    readonly counters: LedgerCounters
    readonly inDoubtFiles: InDoubtFiles
    readonly listener: OutageListener & FailureListener
    readonly onDecided: OnDecided
    /** Monotonic, in milliseconds. */
    readonly now: () => number
  }
) {
  const { listener, now } = options
  const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
  const run = <A, E>(work: Effect.Effect<A, E>, givenUp?: AbortSignal): Promise<A> =>
    runWithDeadline((signal) => runPromise(work, { signal }), givenUp)
  // a scope that is closing opens no connection, and the last groups may need one
  const pools = yield* Effect.acquireRelease(Scope.make(), Scope.close)
  const openConnection = Scope.provide(openCallConnection(sql), pools)
  const connections = yield* Effect.all(Array.from({ length: maxGroups }, () => openConnection))
  /** A read can be repeated: one lost connection costs no call. */
  const openReader = Effect.map(
    openConnection,
    (use) => (statements: ReadonlyArray<SqlStatement>, givenUp?: AbortSignal) => {
      const read = () =>
        run(
          use((send) => send(statements)),
          givenUp
        )
      return read().catch((cause) => (isConnectionLost(cause) && !outage.isLost() ? read() : Promise.reject(cause)))
    }
  )
  const lookUp = yield* openReader
  /** Has a connection of its own, so that it does not wait for a slow lookup. */
  const sendProbe = yield* openReader

  let isClosing = false
  /** Lookups do not wait for a database that is known to be lost. */
  let lookups = new AbortController()
  const locked = trackLockedAccounts(now)
  const queue = makeGroupQueue(locked.isSuspect, now)
  const outage = trackOutage({
    probe: () => sendProbe(probe),
    listener,
    now,
    onLost: (cause) => {
      locked.clearAll()
      lookups.abort(cause)
      lookups = new AbortController()
    },
    onRestored: () => writer.schedule()
  })
  const failed = makeFailedGroups({ ...options, queue, locked, outage, isClosing: () => isClosing })
  const writer = makeGroupWriter({
    ...options,
    connections,
    run,
    queue,
    locked,
    outage,
    failed
  })

  /** A probe finds out whether the database is lost, or only this lookup slow. */
  const query = async (statements: ReadonlyArray<SqlStatement>) => {
    outage.refuseIfLost()
    return lookUp(statements, lookups.signal).catch((cause) => {
      const checked = classifyFailure(cause) === "lost" ? outage.check() : Promise.resolve()
      checked.then(() => {
        if (!outage.isLost()) listener.failed(cause)
      })
      throw databaseUnavailable("be read")(cause)
    })
  }

  const looking = setInterval(() => {
    failed.failExpired()
    writer.schedule()
  }, lookInterval)

  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      isClosing = true
      while (!queue.isEmpty()) await new Promise((resolve) => setTimeout(resolve, 5))
      clearInterval(looking)
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
    decide: (call: PricedCall): Promise<OwnHoldOutcome> => {
      const undecided = { call, since: now(), ...Promise.withResolvers<OwnHoldOutcome>() }
      queue.addUndecided(undecided)
      writer.schedule()
      return undecided.promise
    },
    /** Resolves when the charge is durable, or refused. The hold ends in either case. */
    charge: async (hold: OwnHold, requestId: string, signal?: AbortSignal): Promise<CaptureOutcome> => {
      if (hold.stage !== "held") throw new Error(`the hold of request ${requestId} has been used already`)
      hold.stage = "charging"
      const charge = {
        hold,
        requestId,
        signal,
        since: now(),
        isInDoubt: false,
        ...Promise.withResolvers<CaptureOutcome>()
      }
      queue.addCharge(charge)
      writer.schedule()
      return charge.promise
    }
  }
})
