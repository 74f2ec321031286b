/**
 * What one server sends to the database, group after group. Calls of accounts whose lease the server has are admitted in
 * its memory, and are in one group, that of their charge. Other calls are decided in the database, and are in two.
 * While the database is unavailable, holds and lookups are refused immediately, and nothing is charged.
 */
import type { Draft } from "../../chain/chain.ts"
import { type LedgerUnavailable, toLedgerUnavailable } from "../../errors.ts"
import type { LedgerCounters } from "../../ledger.ts"
import { type Hold, releaseHold } from "../../rules/admission.ts"
import type { ApiKeyView } from "../../rules/ledger-state.ts"
import type { InDoubtFiles } from "../leases/in-doubt-files.ts"
import type { KnownAccounts } from "../leases/known-accounts.ts"
import type { LeaseHabits } from "../leases/lease-habits.ts"
import { type Clocks, trackLeaseTrust } from "../leases/lease-trust.ts"
import { type JoinStatements, joinServers, type ServerName } from "../leases/membership.ts"
import type { ServerStatements } from "../sql/statements.ts"
import { makeDeferredCalls } from "./deferred-calls.ts"
import { type AdmissionOutcome, type AdmissionRequest, type CallGroup, type Charge, makeWaiting } from "./group.ts"
import { makeGroupQueue } from "./group-queue.ts"
import { makeGroupWriter } from "./group-writer.ts"
import { trackLockedAccounts } from "./locked-accounts.ts"
import { makeLostConnection } from "./lost-connection.ts"
import { makeRefusedGroups } from "./refused-groups.ts"
import { makeReturns } from "./returns.ts"

/** A server that sends nothing for five seconds is considered dead. */
const heartbeatInterval = 1_000
const notWritten = toLedgerUnavailable("be written")

export const converse = async (options: {
  readonly statements: ServerStatements & JoinStatements
  readonly known: KnownAccounts
  readonly doubts: InDoubtFiles
  readonly counters: LedgerCounters
  readonly listener: {
    /** The database has become unavailable, or is available again. */
    readonly lost: (cause: LedgerUnavailable) => void
    readonly found: () => void
    /** Another session has locked an account. */
    readonly locked: (accountId: string) => void
  }
  readonly habits: LeaseHabits
  readonly clocks: Clocks
}) => {
  const { clocks, counters, doubts, habits, known, listener, statements } = options
  const trust = trackLeaseTrust(clocks)
  const membership = await joinServers(statements, doubts)
  const { current } = membership
  const locked = trackLockedAccounts()

  const send = async (group: CallGroup): Promise<void> => {
    try {
      await writer.write(group)
    } catch (cause) {
      if (!refused.handle(group, cause)) await connection.lose(group, cause)
    }
  }
  const queue = makeGroupQueue({ send, expectsCharges: known.expectsCharges })
  const deferred = makeDeferredCalls((calls) => queue.open().holds.push(...calls))
  const isHeldUnder = (name: ServerName) => !connection.isLost() && name === current()
  const whileMember = () => {
    const name = current()
    return () => isHeldUnder(name)
  }
  const back = makeReturns({ known, queue, whileMember })
  const memberId = () => current().id
  const writer = makeGroupWriter({
    statements,
    known,
    trust,
    habits,
    counters,
    queue,
    locked,
    deferred,
    back,
    memberId
  })
  const refused = makeRefusedGroups({ counters, queue, locked, back, onLocked: listener.locked })
  const connection = makeLostConnection({
    membership,
    known,
    counters,
    queue,
    locked,
    deferred,
    trust,
    onLost: listener.lost,
    onJoined: (since) => {
      writer.joined(since)
      listener.found()
    }
  })

  const heartbeat = setInterval(() => {
    if (!connection.isLost()) queue.open().beats = true
  }, heartbeatInterval)

  const lookUp = (map: "bySha256" | "byId", name: string): Promise<void> => {
    connection.refuseIfLost()
    const lookups = queue.open()[map]
    const waiting = lookups.get(name) ?? makeWaiting<string, void>(name)
    lookups.set(name, waiting)
    return waiting.promise
  }

  return {
    current,
    /** The key with this SHA-256, from memory if the server knows it, otherwise as the database has it now. */
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
      connection.refuseIfLost()
      locked.rejectIfLockedOut(call.key.account_id)
      const decided = writer.decideNow(call)
      if (decided !== undefined) return decided
      const waiting = makeWaiting<AdmissionRequest, AdmissionOutcome>(call)
      queue.open().holds.push(waiting)
      return waiting.promise
    },
    /** Resolves when the charge is durable. The hold ends in either case. */
    charge: async (hold: Hold, draft: Draft, heldUnder: ServerName): Promise<void> => {
      connection.refuseIfLost()
      if (!isHeldUnder(heldUnder)) throw notWritten("the hold was lost with the connection")
      const waiting = makeWaiting<Charge, void>({ hold, draft })
      queue.open().charges.push(waiting)
      return waiting.promise
    },
    release: (hold: Hold, heldUnder: ServerName): void => {
      if (hold.stage !== "held") return
      releaseHold(hold)
      if (isHeldUnder(heldUnder)) back.returnHold(hold)
    },
    /** A notice about leases from another server or an operator. */
    onNotice: (notice: string): void => {
      if (connection.isLost()) return
      const [what = "", first = "", second = ""] = notice.split(" ")
      if (what === "free") deferred.look(first)
      if (what === "asked" && first === current().id) back.returnLeases([second])
    },
    isWritable: connection.isWritable,
    /** Completes pending work, and leaves. If the database is unavailable, one last attempt is made. */
    close: async () => {
      clearInterval(heartbeat)
      membership.stopTrying()
      await queue.waitUntilEmpty()
      deferred.refuseAll(notWritten("this server stops"))
      await membership.leave().catch(() => {}) // an unavailable database drops this server later
    }
  }
}

export type Conversation = Awaited<ReturnType<typeof converse>>
