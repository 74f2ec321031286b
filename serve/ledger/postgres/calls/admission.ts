/**
 * Admits calls by what the database has said of them. Before a call is refused, the database is asked after the call
 * arrived, and its rows alone can refuse it. A call that fits them, but not what this server's other calls leave of them,
 * is decided in a group, because the rows may be older or newer than the charges of those calls.
 */
import { fingerprint, hasValidChecksum } from "../../api-key.ts"
import type { LedgerCounters, RequestedCall } from "../../ledger.ts"
import { findRefusal, remaining, setHeld } from "../../rules/admission.ts"
import { type ApiKeyView, findKey, isCurrent, type LedgerState } from "../../rules/ledger-state.ts"
import { monthOf } from "../../utc-calendar.ts"
import type { LookUp, Read } from "./lookups.ts"
import type { OwnHoldOutcome, OwnHolds, PricedCall } from "./own-holds.ts"
import type { RecentReads } from "./recent-reads.ts"

const nothingHeld = { account: 0, month: 0 }

/** A key as a call has looked it up, with the fingerprint of its secret, and what was last read of it. */
interface LookedUpKey extends ApiKeyView {
  readonly sha256: string
  state: LedgerState
}

function assertLookedUp(key: ApiKeyView): asserts key is LookedUpKey {
  if (!("state" in key)) throw new Error(`key ${key.id} was not looked up here`)
}

export const makeAdmission = (options: {
  readonly lookUp: LookUp
  readonly recent: RecentReads
  readonly own: OwnHolds
  readonly counters: LedgerCounters
  readonly decideInGroup: (call: PricedCall) => Promise<OwnHoldOutcome>
}) => {
  const { counters, decideInGroup, lookUp, own, recent } = options
  const ask = async (sha256: string, month: number): Promise<Read> => {
    const read = await lookUp(sha256, month)
    // a secret that is unknown is asked for each time, so nothing is gained by remembering it
    if (read.state.keysByFingerprint.has(sha256)) recent.set(sha256, read)
    else recent.forget(sha256)
    return read
  }

  const findIn = ({ state }: Read, sha256: string, nowMs: number): LookedUpKey | undefined => {
    const key = findKey(state, sha256, nowMs)
    return key && { ...key, sha256, state }
  }

  type Decided = OwnHoldOutcome | "ask" | "undecided"

  /** Holds the price of the call if it fits. */
  const decide = (read: Read, call: PricedCall, isRecent: boolean): Decided => {
    const key = read.state.keys.get(call.key.id)
    if (!isCurrent(key, call.key, call.now) || key === undefined) return isRecent ? "ask" : { refused: "key_changed" }
    const held = own.countSince(call, read.moment)
    setHeld(key, call.month, nothingHeld)
    const refusedByRows = findRefusal(key, call.credits, call.month)
    if (held !== undefined) setHeld(key, call.month, held)
    const refused = findRefusal(key, call.credits, call.month)
    if (held !== undefined && refused === undefined) return { hold: own.place(call) }
    if (isRecent) return "ask"
    // what is held may be counted in the rows, too: the budget may be used up, and the balance only seem so
    return refused !== undefined && refused === refusedByRows ? { refused } : "undecided"
  }

  const admit = async (call: PricedCall): Promise<OwnHoldOutcome> => {
    const read = recent.get(call.sha256)
    const decided = read?.months.has(call.month) ? decide(read, call, true) : "ask"
    const asked = decided === "ask" ? decide(await ask(call.sha256, call.month), call, false) : decided
    return asked === "ask" || asked === "undecided" ? decideInGroup(call) : asked
  }

  return {
    authenticate: async (token: string, nowMs: number): Promise<ApiKeyView | undefined> => {
      if (!hasValidChecksum(token)) return undefined // an invented key costs no query
      const sha256 = fingerprint(token)
      const read = recent.get(sha256)
      const key = read && findIn(read, sha256, nowMs)
      if (key !== undefined && !key.isSuspended) return key
      return findIn(await ask(sha256, monthOf(nowMs)), sha256, nowMs)
    },
    /** Asks the database. */
    isCurrent: async (key: ApiKeyView, nowMs: number): Promise<boolean> => {
      assertLookedUp(key)
      key.state = (await ask(key.sha256, monthOf(nowMs))).state
      return isCurrent(key.state.keys.get(key.id), key, nowMs)
    },
    hold: async (key: ApiKeyView, requested: RequestedCall, nowMs: number): Promise<OwnHoldOutcome> => {
      assertLookedUp(key)
      const outcome = await admit({ ...requested, key, sha256: key.sha256, now: nowMs, month: monthOf(nowMs) })
      if ("refused" in outcome && outcome.refused !== "key_changed") counters[`refused_${outcome.refused}`]++
      return outcome
    },
    /** A group has decided the calls over this state, which it read after `at`, and is durable. */
    recordDecided: (calls: ReadonlyArray<PricedCall>, state: LedgerState, at: number): void => {
      const read = { state, months: new Set(calls.map(({ month }) => month)), moment: own.moment(), at }
      for (const { key, sha256 } of calls) {
        assertLookedUp(key)
        key.state = state
        recent.set(sha256, read)
      }
    },
    /** As of the last read. */
    remaining: (key: ApiKeyView, nowMs: number): number => {
      assertLookedUp(key)
      const known = key.state.keys.get(key.id)
      if (known === undefined) return 0
      const month = monthOf(nowMs)
      setHeld(known, month, own.count({ key, month }))
      return remaining(known, nowMs)
    }
  }
}
