/**
 * The rules of the ledger, as functions over a state that one writer owns: no I/O, no clock, no randomness. Time and ids
 * come in, decisions come out. The state is updated in place, because a call is admitted and settled in microseconds; what
 * is decided becomes part of it (`apply`, `settle`) only when it is durable.
 *
 * Holds live in memory alone: whoever dies between a hold and its charge has charged nothing.
 */
import type { Scope } from "@larder/schemas/scopes.ts"
import { beginning, type ChainHead, hashOf } from "./chain.ts"
import { type ChargedRequests, chargedRequests } from "./charged-requests.ts"
import { monthOf, timestampOf } from "./moments.ts"
import type { Account, ApiKey, Entry } from "./records.ts"

/** Records that become durable together or not at all. Accounts are new ones; a key that exists already is replaced. */
export interface Group {
  readonly accounts: ReadonlyArray<Account>
  readonly keys: ReadonlyArray<ApiKey>
  readonly entries: ReadonlyArray<Entry>
}

export interface SpentBefore {
  readonly month: number
  readonly of: (accountId: string, keyId: string, month: number) => number
}

/** What the state is rebuilt from: records, and what their entries come to. */
export interface Snapshot {
  /** Number of the last entry; 0 where there is none. */
  readonly sequence: number
  readonly accounts: ReadonlyArray<{ readonly account: Account; readonly head: ChainHead }>
  readonly keys: ReadonlyArray<ApiKey>
  /** Credits charged per key and UTC month, less those given back; see `monthOf`. */
  readonly spending: ReadonlyArray<{ readonly key_id: string; readonly month: number; readonly spent: number }>
  /** What keys have spent in months before `month`, which `spending` lacks. Undefined where it lacks none. */
  readonly spentBefore?: SpentBefore
  /** What was booked with a reference. */
  readonly booked: ReadonlyArray<{
    readonly account_id: string
    readonly type: Entry["type"]
    readonly reference: string
  }>
}

/** What a request may know of its key. It never changes; an edit makes a new one. */
export interface ApiKeyView {
  readonly id: string
  readonly account_id: string
  readonly name: string
  readonly scopes: ReadonlySet<Scope>
  readonly revision: number
  /** Milliseconds. From then on its secret is as unknown as one that never was; `Infinity` where it does not end by itself. */
  readonly validUntil: number
}

export interface AccountState {
  readonly record: Account
  /** The last durable entry; its balance is the balance of the account. */
  head: ChainHead
  held: number
}

/** Spending of one key in one UTC month. `held` is set aside for calls that were admitted in it and have not ended. */
interface Spending {
  readonly month: number
  spent: number
  held: number
}

export interface KeyState {
  record: ApiKey
  readonly account: AccountState
  readonly months: Map<number, Spending>
  /** The month that was used last: the map is asked once a month. */
  latest: Spending
  /** Of months that `months` lacks. */
  readonly spentBefore: SpentBefore | undefined
}

export interface LedgerState {
  readonly accounts: Map<string, AccountState>
  readonly keys: Map<string, KeyState>
  /** Keys that are not revoked, by fingerprint. A look-up compares `validUntil` with the time. */
  readonly valid: Map<string, ApiKeyView>
  /** Number of the last durable entry. */
  sequence: number
  readonly charged: ChargedRequests
  /** Accounts of what was booked with a reference; see `bookingOf`. Some 200 bytes a payment. */
  readonly booked: Map<string, string>
  readonly spentBefore: SpentBefore | undefined
}

/** What names a booking. Types have no spaces. */
export const bookingOf = (type: Entry["type"], reference: string): string => `${type} ${reference}`

/** The price of one admitted call, set aside. It ends exactly once: settled or given back. */
export interface Hold {
  readonly key: KeyState
  readonly spending: Spending
  readonly endpoint: string
  readonly credits: number
  /** The key's budget when the call was admitted. */
  readonly budget: number
  readonly admittedAt: number
  stage: "held" | "charging" | "ended"
}

export type Refusal = "insufficient_balance" | "spend_cap_reached"
export type Admission = { readonly hold: Hold } | { readonly refused: Refusal }

const insufficientBalance: Admission = { refused: "insufficient_balance" }
const spendCapReached: Admission = { refused: "spend_cap_reached" }

/** An entry that gets its place, balance and hash when its group is written. */
export type Draft = Omit<Entry, "sequence" | "position" | "balance" | "hash">

/** The state as of the last durable group. */
export const restore = (snapshot: Snapshot): LedgerState => {
  const state: LedgerState = {
    accounts: new Map(),
    keys: new Map(),
    valid: new Map(),
    sequence: snapshot.sequence,
    charged: chargedRequests(),
    booked: new Map(),
    spentBefore: snapshot.spentBefore
  }
  for (const { account, head } of snapshot.accounts) state.accounts.set(account.id, { record: account, head, held: 0 })
  for (const key of snapshot.keys) putKey(state, key)
  for (const { key_id, month, spent } of snapshot.spending) spendingOf(known(state.keys, key_id), month).spent = spent
  for (const { account_id, reference, type } of snapshot.booked)
    state.booked.set(bookingOf(type, reference), account_id)
  return state
}

/** Takes up a durable group. The holds of its charges are settled beside it. */
export const apply = (state: LedgerState, group: Group): void => {
  for (const account of group.accounts) {
    state.accounts.set(account.id, { record: account, head: beginning, held: 0 })
  }
  for (const key of group.keys) putKey(state, key)
  for (const entry of group.entries) {
    known(state.accounts, entry.account_id).head = entry
    const { key_id, request_id, type } = entry
    if (key_id === null && request_id !== null) state.booked.set(bookingOf(type, request_id), entry.account_id)
  }
  state.sequence += group.entries.length
}

/** Whoever names an account or a key here has it from this state: anything else is a bug. */
const known = <A>(records: ReadonlyMap<string, A>, id: string): A => {
  const record = records.get(id)
  if (record === undefined) throw new Error(`${id} is not in the ledger`)
  return record
}

const endOf = (moment: string | null): number => (moment === null ? Number.POSITIVE_INFINITY : Date.parse(moment))

const viewOf = ({ account_id, expires_at, id, name, revision, scopes }: ApiKey): ApiKeyView => ({
  id,
  account_id,
  name,
  scopes: new Set(scopes),
  revision,
  validUntil: endOf(expires_at)
})

/** The key with this fingerprint, or undefined where it is unknown, revoked or expired. */
export const keyWith = (state: LedgerState, sha256: string, now: number): ApiKeyView | undefined => {
  const view = state.valid.get(sha256)
  return view !== undefined && now < view.validUntil ? view : undefined
}

/** Whether a key is still as it was looked up, and its secret has not ended since. */
export const isCurrent = (key: KeyState | undefined, view: ApiKeyView, now: number): boolean =>
  key?.record.revision === view.revision && key.record.revoked_at === null && now < view.validUntil

export const forgetKey = (state: LedgerState, { id, sha256 }: ApiKey): void => {
  state.keys.delete(id)
  state.valid.delete(sha256)
}

const putKey = (state: LedgerState, record: ApiKey) => {
  const key = state.keys.get(record.id) ?? {
    record,
    account: known(state.accounts, record.account_id),
    months: new Map(),
    latest: { month: 0, spent: 0, held: 0 },
    spentBefore: state.spentBefore
  }
  forgetKey(state, key.record)
  key.record = record
  state.keys.set(record.id, key)
  if (record.revoked_at === null) state.valid.set(record.sha256, viewOf(record))
}

const spendingOf = (key: KeyState, month: number): Spending => {
  if (key.latest.month === month) return key.latest
  const {
    record: { account_id, id },
    spentBefore
  } = key
  const isOlder = spentBefore !== undefined && month < spentBefore.month
  const spending = key.months.get(month) ?? {
    month,
    spent: isOlder ? spentBefore.of(account_id, id, month) : 0,
    held: 0
  }
  key.months.set(month, spending)
  key.latest = spending
  return spending
}

/** Admits a call and sets its price aside, or says why not. Spending exactly all of balance or budget is allowed. */
export const hold = (state: LedgerState, keyId: string, endpoint: string, credits: number, now: number): Admission => {
  const key = known(state.keys, keyId)
  const { account } = key
  if (account.head.balance - account.held < credits) return insufficientBalance
  const spending = spendingOf(key, monthOf(now))
  if (spending.spent + spending.held + credits > key.record.budget_credits) return spendCapReached
  return { hold: setAside(key, spending, { endpoint, credits, now }) }
}

/** Sets the price of a call aside that there is room for. */
export const setAside = (
  key: KeyState,
  spending: Spending,
  { credits, endpoint, now }: { readonly endpoint: string; readonly credits: number; readonly now: number }
): Hold => {
  key.account.held += credits
  spending.held += credits
  return { key, spending, endpoint, credits, budget: key.record.budget_credits, admittedAt: now, stage: "held" }
}

/** The charge of an admitted call, or undefined where this request id has been charged already. */
export const charge = (state: LedgerState, held: Hold, requestId: string): Draft | undefined => {
  if (held.stage !== "held") throw new Error(`the hold of request ${requestId} has been used already`)
  if (!state.charged.add(requestId)) return undefined
  held.stage = "charging"
  return {
    account_id: held.key.record.account_id,
    type: "charge",
    occurred_at: timestampOf(held.admittedAt),
    key_id: held.key.record.id,
    endpoint: held.endpoint,
    credits: -held.credits,
    budget_credits: held.budget,
    request_id: requestId,
    note: null
  }
}

/** What entries are chained to. */
export interface ChainEnds {
  readonly sequence: number
  readonly accounts: ReadonlyMap<string, { readonly head: ChainHead }>
}

/** Chains the entries of a group to what is durable, in the order in which they are written. A group that fails leaves no gap. */
export const chain = (durable: ChainEnds, drafts: ReadonlyArray<Draft>): ReadonlyArray<Entry> => {
  const heads = new Map<string, ChainHead>()
  let { sequence } = durable
  return drafts.map((draft) => {
    const { account_id } = draft
    const head = heads.get(account_id) ?? durable.accounts.get(account_id)?.head ?? beginning
    const placed = { ...draft, position: head.position + 1, balance: head.balance + draft.credits }
    const entry = { ...placed, sequence: ++sequence, hash: hashOf(head.hash, placed) }
    heads.set(account_id, entry)
    return entry
  })
}

/** The charge of this hold is durable. */
export const settle = (held: Hold): void => {
  end(held)
  held.spending.spent += held.credits
}

/** The charge of this hold could not be written. */
export const giveBack = (held: Hold): void => end(held)

/** The call failed before it was charged. Does nothing to a hold that has ended or is being charged. */
export const release = (held: Hold): void => {
  if (held.stage === "held") end(held)
}

const end = (held: Hold) => {
  if (held.stage === "ended") throw new Error("a hold has ended twice")
  held.stage = "ended"
  held.key.account.held -= held.credits
  held.spending.held -= held.credits
}

/** What the key can still spend: the smaller of balance and budget left, without what running calls hold. Never below 0. */
export const remaining = (state: LedgerState, keyId: string, now: number): number =>
  remainingOf(known(state.keys, keyId), now)

export const remainingOf = (key: KeyState, now: number): number => {
  const { spent, held } = spendingOf(key, monthOf(now))
  return Math.max(0, Math.min(key.account.head.balance - key.account.held, key.record.budget_credits - spent - held))
}

/** Credits charged to a key in the UTC month of `now`. */
export const spentInMonth = (key: KeyState, now: number): number => spendingOf(key, monthOf(now)).spent
