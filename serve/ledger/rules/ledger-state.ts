/**
 * The state of the ledger: accounts with their balances and holds, and keys with their secrets and spending. It is
 * rebuilt from records, and updated with each durable group of records. One writer owns it and updates it in place,
 * because a call is admitted and charged in microseconds.
 */
import { isScope, type Scope } from "@larder/schemas"
import { type ChainHead, emptyHead } from "../chain/chain.ts"
import type { Account, ApiKey, Entry } from "../chain/records.ts"
import { type KeySpending, openMonth, type StoredSpending } from "./spending.ts"

/** Records that become durable together or not at all. An account or key that already exists is replaced. */
export interface Group {
  readonly accounts: ReadonlyArray<Account>
  readonly keys: ReadonlyArray<ApiKey>
  readonly entries: ReadonlyArray<Entry>
}

/** The records, and sums of their entries, from which the state is rebuilt. */
export interface LedgerSnapshot {
  /** Number of the last entry; 0 if there is none. */
  readonly sequence: number
  readonly accounts: ReadonlyArray<{ readonly account: Account; readonly head: ChainHead }>
  readonly keys: ReadonlyArray<ApiKey>
  /** Credits charged per key and UTC month, minus refunds; see `monthOf`. */
  readonly spending: ReadonlyArray<{ readonly key_id: string; readonly month: number; readonly spent: number }>
  /** Earlier spending of keys, read on demand. Undefined if `spending` is complete. */
  readonly stored?: StoredSpending
  /** Bookings that have a reference. */
  readonly booked: ReadonlyArray<{
    readonly account_id: string
    readonly type: Entry["type"]
    readonly reference: string
  }>
}

/** The part of a key that requests use. Immutable: an edit creates a new view. */
export interface ApiKeyView {
  readonly id: string
  readonly account_id: string
  readonly name: string
  readonly scopes: ReadonlySet<Scope>
  readonly revision: number
  /** Milliseconds. From this time on, the secret is treated as unknown; `Infinity` if it does not expire. */
  readonly validUntil: number
  /** Of the account: every call is refused. */
  readonly isSuspended: boolean
}

export interface AccountState {
  record: Account
  /** The last durable entry; its balance is the balance of the account. */
  head: ChainHead
  held: number
}

export interface KeyState extends KeySpending {
  record: ApiKey
  readonly account: AccountState
}

export interface LedgerState {
  readonly accounts: Map<string, AccountState>
  readonly keys: Map<string, KeyState>
  /** Keys that are not revoked, by the fingerprints of their current and replaced secrets. A secret may have expired. */
  readonly keysByFingerprint: Map<string, ApiKeyView>
  /** Number of the last durable entry. */
  sequence: number
  readonly charged: ChargedRequests
  /** The account of each booking that has a reference; see `bookingId`. About 200 bytes per payment. */
  readonly booked: Map<string, string>
  readonly stored: StoredSpending | undefined
}

/** Identifies a booking. Types contain no spaces. */
export const bookingId = (type: Entry["type"], reference: string): string => `${type} ${reference}`

/** The state as of the last durable group. */
export const restoreState = (snapshot: LedgerSnapshot): LedgerState => {
  const state: LedgerState = {
    accounts: new Map(),
    keys: new Map(),
    keysByFingerprint: new Map(),
    sequence: snapshot.sequence,
    charged: makeRequestMemory(),
    booked: new Map(),
    stored: snapshot.stored
  }
  for (const { account, head } of snapshot.accounts) state.accounts.set(account.id, newAccount(account, head))
  for (const key of snapshot.keys) storeKey(state, key)
  for (const { key_id, month, spent } of snapshot.spending) {
    openMonth(requireRecord(state.keys, key_id), month).spent = spent
  }
  for (const { account_id, reference, type } of snapshot.booked)
    state.booked.set(bookingId(type, reference), account_id)
  return state
}

const newAccount = (record: Account, head: ChainHead): AccountState => ({ record, head, held: 0 })

/** Keys of an account that is suspended or resumed get new views. */
const storeAccount = (state: LedgerState, record: Account) => {
  const account = state.accounts.get(record.id)
  if (account === undefined) {
    state.accounts.set(record.id, newAccount(record, emptyHead))
    return
  }
  account.record = record
  for (const key of [...state.keys.values()]) if (key.account === account) storeKey(state, key.record)
}

/** Applies a durable group. The caller captures the holds of its charges. */
export const applyGroup = (state: LedgerState, group: Group): void => {
  for (const account of group.accounts) storeAccount(state, account)
  for (const key of group.keys) storeKey(state, key)
  for (const entry of group.entries) {
    const account = requireRecord(state.accounts, entry.account_id)
    account.head = entry
    const { key_id, request_id, type } = entry
    if (key_id === null && request_id !== null) state.booked.set(bookingId(type, request_id), entry.account_id)
  }
  state.sequence += group.entries.length
}

/** The caller took the id from this state, so a missing id is a bug. */
export const requireRecord = <A>(records: ReadonlyMap<string, A>, id: string): A => {
  const record = records.get(id)
  if (record === undefined) throw new Error(`${id} is not in the ledger`)
  return record
}

const parseEnd = (end: string | null): number => (end === null ? Number.POSITIVE_INFINITY : Date.parse(end))

/** Few lists of scopes are shared by many keys, and so are their sets. */
const scopeSets = new WeakMap<ReadonlyArray<string>, ReadonlySet<Scope>>()
const findScopeSet = (scopes: ReadonlyArray<string>): ReadonlySet<Scope> => {
  const known = scopeSets.get(scopes)
  if (known !== undefined) return known
  const made = new Set(scopes.filter(isScope))
  scopeSets.set(scopes, made)
  return made
}

const makeView = ({ account, record }: KeyState): ApiKeyView => {
  const { account_id, expires_at, id, name, revision, scopes } = record
  return {
    id,
    account_id,
    name,
    scopes: findScopeSet(scopes),
    revision,
    validUntil: parseEnd(expires_at),
    isSuspended: account.record.suspended_at !== null
  }
}

/** The key with this fingerprint, or undefined if it is unknown, revoked or expired. */
export const findKey = (state: LedgerState, sha256: string, now: number): ApiKeyView | undefined => {
  const view = state.keysByFingerprint.get(sha256)
  return view !== undefined && now < view.validUntil ? view : undefined
}

/** Whether a key and its account have not changed since it was looked up, and its secret has not expired since. */
export const isCurrent = (key: KeyState | undefined, view: ApiKeyView, now: number): boolean =>
  key?.record.revision === view.revision &&
  key.record.revoked_at === null &&
  (key.account.record.suspended_at !== null) === view.isSuspended &&
  now < view.validUntil

const removeKey = (state: LedgerState, { former_sha256, id, sha256 }: ApiKey): void => {
  state.keys.delete(id)
  state.keysByFingerprint.delete(sha256)
  if (former_sha256 !== null) state.keysByFingerprint.delete(former_sha256)
}

const storeKey = (state: LedgerState, record: ApiKey) => {
  const known = state.keys.get(record.id)
  if (known !== undefined) removeKey(state, known.record)
  const key = known ?? {
    record,
    account: requireRecord(state.accounts, record.account_id),
    months: new Map(),
    stored: state.stored
  }
  key.record = record
  state.keys.set(record.id, key)
  if (record.revoked_at !== null) return
  const view = makeView(key)
  state.keysByFingerprint.set(record.sha256, view)
  const { former_expires_at, former_sha256 } = record
  if (former_sha256 === null) return
  state.keysByFingerprint.set(former_sha256, {
    ...view,
    validUntil: Math.min(view.validUntil, parseEnd(former_expires_at))
  })
}

/** Request ids per set (`newer`, `older`): less than a second of the fastest traffic, an hour of usual traffic. */
const maxRememberedIds = 10_000

/** Remembers the request ids of the latest charges. Ids are unique; this catches a bug before it charges a call twice. */
const makeRequestMemory = () => {
  let newer = new Set<string>()
  let older = new Set<string>()
  return {
    /** Returns false if the id is already in the memory. */
    add: (requestId: string): boolean => {
      if (older.has(requestId)) return false
      const { size } = newer
      if (newer.add(requestId).size === size) return false
      if (newer.size >= maxRememberedIds) {
        older = newer
        newer = new Set()
      }
      return true
    }
  }
}

type ChargedRequests = ReturnType<typeof makeRequestMemory>

export const duplicateRequestIdError = (requestId: string) =>
  new Error(`request id ${requestId} was used twice: it has already been charged`)
