/** Decides a group over the rows that the database has locked for it, with the rules of every store. */
import { chainEntries, type Draft } from "../../chain/chain.ts"
import type { Entry } from "../../chain/records.ts"
import type { CaptureRefusal } from "../../ledger.ts"
import { draftCharge, findRefusal, type Hold, hold, setHeld } from "../../rules/admission.ts"
import { duplicateRequestIdError, findKey, type KeyState, type LedgerState } from "../../rules/ledger-state.ts"
import type { AdmissionRefusal, Held, PricedCall } from "../calls/own-holds.ts"
import type { CallGroup } from "./group.ts"

/** In the order of the request pipeline: the key, its account, its scope. */
const findKeyFor = (
  state: LedgerState,
  { now, scope, sha256 }: PricedCall
): { readonly key: KeyState } | { readonly refused: CaptureRefusal } => {
  const view = findKey(state, sha256, now)
  const key = view && state.keys.get(view.id)
  if (view === undefined || key === undefined) return { refused: "unknown_key" }
  if (view.isSuspended) return { refused: "account_suspended" }
  return view.scopes.has(scope) ? { key } : { refused: "missing_scope" }
}

type Decided = { readonly hold: Hold } | { readonly refused: CaptureRefusal } | { readonly error: Error }

export interface GroupDecision {
  readonly entries: ReadonlyArray<Entry>
  /** Of the charges, in their order. */
  readonly charges: ReadonlyArray<Decided>
}

/**
 * Each charge counts those before it. Holds do not count, neither those of this server nor of others: two admitted calls
 * would refuse each other for the last credits.
 */
export const decideCharges = (state: LedgerState, { charges }: CallGroup): GroupDecision => {
  const drafts: Array<Draft> = []
  const decided = charges.map(({ hold: { call }, requestId }): Decided => {
    const found = findKeyFor(state, call)
    if ("refused" in found) return found
    const outcome = hold(state, found.key.record.id, call.endpoint, call.credits, call.now)
    if ("refused" in outcome) return outcome
    const draft = draftCharge(state, outcome.hold, requestId)
    if (draft === undefined) return { error: duplicateRequestIdError(requestId) }
    drafts.push(draft)
    return outcome
  })
  return { entries: chainEntries(state, drafts), charges: decided }
}

/** Decides a call as a single server does: what its other calls hold counts, those of the group's charges included. */
export const decideUndecided = (state: LedgerState, call: PricedCall, held: Held): "fits" | AdmissionRefusal => {
  const found = findKeyFor(state, call)
  if ("refused" in found) return { refused: "key_changed" }
  setHeld(found.key, call.month, held)
  const refused = findRefusal(found.key, call.credits, call.month)
  return refused === undefined ? "fits" : { refused }
}
