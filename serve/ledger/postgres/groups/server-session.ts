/**
 * A server's session with the database, to which it sends one group after the other. Calls of accounts that the server
 * has leased are admitted in its memory, and only their charges are in a group. For other calls, an earlier group
 * decides the admission. While the database is unavailable, holds and lookups are refused, and nothing is charged.
 */
import type { Draft } from "../../chain/chain.ts"
import { type LedgerUnavailable, toLedgerUnavailable } from "../../errors.ts"
import type { LedgerCounters } from "../../ledger.ts"
import { type AdmissionOutcome, type AdmissionRequest, type Hold, releaseHold } from "../../rules/admission.ts"
import type { ApiKeyView } from "../../rules/ledger-state.ts"
import type { InDoubtFiles } from "../leases/in-doubt-calls.ts"
import type { KnownAccounts } from "../leases/known-accounts.ts"
import { type Clocks, type LeasePolicy, trackLeaseTrust } from "../leases/lease-rules.ts"
import { registerServer, type ServerName } from "../leases/membership.ts"
import type { ServerStatements } from "../sql/statements.ts"
import { makeDeferredCalls } from "./deferred-calls.ts"
import { makeFailedGroups } from "./failed-groups.ts"
import { type CallGroup, type Charge, makeGroupQueue, makeWaiting } from "./group.ts"
import { makeGroupWriter } from "./group-writer.ts"
import { trackLockedAccounts } from "./locked-accounts.ts"
import { makeReturns } from "./returns.ts"

/** A server that sends nothing for five seconds is considered dead. */
const heartbeatInterval = 1_000
const notWritten = toLedgerUnavailable("be written")

export const openServerSession = async (options: {
  readonly statements: ServerStatements
  readonly known: KnownAccounts
  readonly inDoubtFiles: InDoubtFiles
  readonly counters: LedgerCounters
  readonly listener: {
    /** The database has become unavailable, or is available again. */
    readonly lost: (cause: LedgerUnavailable) => void
    readonly restored: () => void
    /** Another session has locked an account. */
    readonly locked: (accountId: string) => void
  }
  readonly leasePolicy: LeasePolicy
  readonly clocks: Clocks
}) => {
  const { clocks, counters, inDoubtFiles, leasePolicy, known, listener, statements } = options
  const trust = trackLeaseTrust(clocks)
  const membership = await registerServer(statements, inDoubtFiles)
  const { current } = membership
  const locked = trackLockedAccounts()

  const send = async (group: CallGroup): Promise<void> => {
    try {
      await writer.write(group)
    } catch (cause) {
      await failed.handle(group, cause)
    }
  }
  const queue = makeGroupQueue({ send, expectsCharges: known.expectsCharges })
  const deferred = makeDeferredCalls((calls) => queue.open().holds.push(...calls))
  const isCurrentName = (name: ServerName) => !failed.isLost() && name === current()
  const makeMembershipCheck = () => {
    const name = current()
    return () => isCurrentName(name)
  }
  const returns = makeReturns({ known, queue, makeMembershipCheck })
  const memberId = () => current().id
  const writer = makeGroupWriter({
    statements,
    known,
    trust,
    leasePolicy,
    counters,
    queue,
    locked,
    deferred,
    returns,
    memberId
  })
  const failed = makeFailedGroups({
    membership,
    known,
    counters,
    queue,
    locked,
    deferred,
    returns,
    trust,
    onLocked: listener.locked,
    onLost: listener.lost,
    onJoined: (since) => {
      writer.joined(since)
      listener.restored()
    }
  })

  const heartbeat = setInterval(() => {
    if (!failed.isLost()) queue.open().isHeartbeat = true
  }, heartbeatInterval)

  const lookUp = (map: "bySha256" | "byId", name: string): Promise<void> => {
    failed.refuseIfLost()
    const lookups = queue.open()[map]
    const waiting = lookups.get(name) ?? makeWaiting<string, void>(name)
    lookups.set(name, waiting)
    return waiting.promise
  }

  return {
    current,
    /** The key with this SHA-256, from memory if it is there, otherwise from the database. */
    authenticate: async (sha256: string, nowMs: number): Promise<ApiKeyView | undefined> => {
      const key = known.find(sha256, nowMs)
      if (key !== undefined) return key
      await lookUp("bySha256", sha256)
      return known.find(sha256, nowMs)
    },
    isCurrent: async (key: ApiKeyView, nowMs: number): Promise<boolean> => {
      if (!known.isCached(key) || !trust.isTrusted()) await lookUp("byId", key.id)
      return known.isCurrent(key, nowMs)
    },
    hold: async (call: AdmissionRequest): Promise<AdmissionOutcome> => {
      failed.refuseIfLost()
      locked.rejectIfLockedOut(call.key.account_id)
      const decided = writer.decideNow(call)
      if (decided !== undefined) return decided
      const waiting = makeWaiting<AdmissionRequest, AdmissionOutcome>(call)
      queue.open().holds.push(waiting)
      return waiting.promise
    },
    /** Resolves when the charge is durable. The hold ends in either case. */
    charge: async (hold: Hold, draft: Draft, serverName: ServerName): Promise<void> => {
      failed.refuseIfLost()
      if (!isCurrentName(serverName)) throw notWritten("the hold was lost with the connection")
      const waiting = makeWaiting<Charge, void>({ hold, draft })
      queue.open().charges.push(waiting)
      return waiting.promise
    },
    release: (hold: Hold, serverName: ServerName): void => {
      if (hold.stage !== "held") return
      releaseHold(hold)
      if (isCurrentName(serverName)) returns.returnHold(hold)
    },
    /** A notification about leases from another server or an operator. */
    onNotification: (notification: string): void => {
      if (failed.isLost()) return
      const [kind = "", first = "", second = ""] = notification.split(" ")
      if (kind === "free") deferred.retry(first)
      if (kind === "asked" && first === current().id) returns.returnLeases([second])
    },
    isWritable: failed.isWritable,
    /** Completes pending work, and unregisters the server. If the database is unavailable, tries once more. */
    close: async () => {
      clearInterval(heartbeat)
      membership.stopTrying()
      await queue.waitUntilEmpty()
      deferred.rejectAll(notWritten("this server stops"))
      await membership.leave().catch(() => {}) // otherwise the database drops this silent server later
    }
  }
}

export type ServerSession = Awaited<ReturnType<typeof openServerSession>>
