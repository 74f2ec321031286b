/**
 * What a server knows of accounts and keys, over the state of `machine.ts`. What is known of an account whose lease the
 * server has is true, and calls are decided by it. All else is what was read last: good enough to judge scopes by, and read
 * again, with the account locked, before a call is decided.
 */
import type { ChargedRequests } from "../charged-requests.ts"
import {
  type Admission,
  type ApiKeyView,
  apply,
  forgetKey,
  type Hold,
  hold,
  isCurrent,
  type KeyState,
  keyWith,
  type LedgerState,
  remainingOf,
  restore,
  setAside
} from "../machine.ts"
import { monthOf } from "../moments.ts"
import type { AccountRead, Read } from "./statements.ts"
import type { Holding } from "./written.ts"

/** Some 50 MB. Accounts remembered longest go first. */
const mostKeys = 100_000

export type Spending = Hold["spending"]

const nothing = { accounts: [], keys: [], entries: [] }
const begin = (charged: ChargedRequests): LedgerState => ({
  ...restore({ sequence: 0, accounts: [], keys: [], spending: [], booked: [] }),
  charged
})

const add = (sums: Map<string, number>, name: string, credits: number) =>
  sums.set(name, (sums.get(name) ?? 0) + credits)
export const monthName = (keyId: string, month: number) => `${keyId} ${month}`

/** What is in the database and is not what the server has written there: a restored copy, or a primary that lost commits. */
const otherDatabase = (id: string) =>
  new Error(`account ${id} is not where this server has left it: the database has lost what was written`)

export const knownAccounts = (charged: ChargedRequests) => {
  let state = begin(charged)
  /** By account: keys and months that were read under the lease. */
  const leases = new Map<string, Set<unknown>>()
  /** Calls that are held, by account. */
  const calls = new Map<string, Set<Hold>>()
  /** What the database knows that this server holds, by account. */
  const recorded = new Map<string, ReadonlyMap<string, Holding>>()
  /** By account: what is set aside in the database beyond what calls hold, by key and month. */
  const slices = new Map<string, Map<Spending, number>>()
  const keyOf = new WeakMap<Spending, string>()
  const handedOut = new WeakMap<ApiKeyView, KeyState>()

  const register = (held: Hold) => {
    const id = held.key.record.account_id
    const others = calls.get(id)
    if (others === undefined) calls.set(id, new Set([held]))
    else others.add(held)
  }
  const unregister = (held: Hold) => {
    const id = held.key.record.account_id
    const others = calls.get(id)
    others?.delete(held)
    if (others?.size === 0) calls.delete(id)
  }

  /** What the open calls of an account hold, but those in `except`, and what is set aside besides: by key and month. */
  const heldOf = (
    id: string,
    except?: ReadonlySet<Hold>,
    reserved: ReadonlyMap<Spending, number> = new Map()
  ): ReadonlyMap<string, Holding> => {
    const held = new Map<string, Holding>()
    const hold = (key_id: string, month: number, credits: number) => {
      const name = monthName(key_id, month)
      held.set(name, { account_id: id, key_id, month, credits: (held.get(name)?.credits ?? 0) + credits })
    }
    for (const call of calls.get(id) ?? []) {
      if (!except?.has(call)) hold(call.key.record.id, call.spending.month, call.credits)
    }
    for (const [spending, credits] of reserved) hold(keyOf.get(spending) ?? "", spending.month, credits)
    return held
  }

  const knownAccount = ({ balance, hash, position, record }: AccountRead) => {
    if (!state.accounts.has(record.id)) apply(state, { ...nothing, accounts: [record] })
    const account = state.accounts.get(record.id)
    if (account === undefined) throw otherDatabase(record.id)
    if (leases.has(record.id) && !slices.has(record.id)) {
      if (account.head.hash !== hash) throw otherDatabase(record.id)
    } else account.head = { position, balance, hash }
    return account
  }

  /** Takes up what was read, of these months. */
  const refresh = (read: Read, months: ReadonlyArray<number>) => {
    const heldByOthers = new Map<string, number>()
    for (const { account_id, credits, key_id, month } of read.held) {
      add(heldByOthers, account_id, credits)
      add(heldByOthers, monthName(key_id, month), credits)
    }
    const own = new Map<string, ReadonlyMap<string, Holding>>()
    for (const account of read.accounts) {
      const held = heldOf(account.record.id)
      own.set(account.record.id, held)
      let sum = heldByOthers.get(account.record.id) ?? 0
      for (const { credits } of held.values()) sum += credits
      knownAccount(account).held = sum
    }
    const spent = new Map(read.spent.map(({ credits, key_id, month }) => [monthName(key_id, month), credits]))
    for (const record of read.keys) {
      if (state.keys.get(record.id)?.record.revision !== record.revision) apply(state, { ...nothing, keys: [record] })
      const key = state.keys.get(record.id)
      if (key === undefined) continue
      const cached = leases.get(record.account_id)
      cached?.add(key)
      for (const month of months) {
        const name = monthName(record.id, month)
        const held = (heldByOthers.get(name) ?? 0) + (own.get(record.account_id)?.get(name)?.credits ?? 0)
        const known = key.months.get(month) ?? { month, spent: 0, held: 0 }
        known.spent = spent.get(name) ?? 0
        known.held = held
        key.months.set(month, known)
        keyOf.set(known, record.id)
        cached?.add(known)
      }
    }
    return heldByOthers
  }

  /** Decides as the machine does, by what is known. */
  const decide = (key: ApiKeyView, endpoint: string, credits: number, nowMs: number) => {
    if (!isCurrent(state.keys.get(key.id), key, nowMs)) return { refused: "key_changed" } as const
    const admission = hold(state, key.id, endpoint, credits, nowMs)
    if ("hold" in admission) register(admission.hold)
    return admission
  }

  const knownUnderLease = (key: ApiKeyView, nowMs: number) => {
    const cached = leases.get(key.account_id)
    const known = state.keys.get(key.id)
    if (cached === undefined || known === undefined || !cached.has(known)) return undefined
    const month = monthOf(nowMs)
    const spending = known.latest.month === month ? known.latest : known.months.get(month)
    return spending !== undefined && cached.has(spending) ? { known, spending } : undefined
  }

  /** From what is set aside already. */
  const decideSliced = (
    slice: Map<Spending, number>,
    { known, spending }: { readonly known: KeyState; readonly spending: Spending },
    call: { readonly key: ApiKeyView; readonly endpoint: string; readonly credits: number; readonly nowMs: number }
  ) => {
    const { credits, endpoint, key, nowMs } = call
    if (!isCurrent(known, key, nowMs)) return { refused: "key_changed" } as const
    const left = slice.get(spending) ?? 0
    if (left < credits) return undefined
    slice.set(spending, left - credits)
    const held = setAside(known, spending, { endpoint, credits, now: nowMs })
    register(held)
    return { hold: held }
  }

  return {
    state: () => state,
    decide,
    refresh,
    heldOf,
    unregister,
    /** The same where the lease allows it; undefined where the database has to be asked. */
    decideLeased: (
      key: ApiKeyView,
      endpoint: string,
      credits: number,
      nowMs: number
    ): Admission | { readonly refused: "key_changed" } | undefined => {
      const place = knownUnderLease(key, nowMs)
      if (place === undefined) return undefined
      const slice = slices.get(key.account_id)
      if (slice !== undefined) return decideSliced(slice, place, { key, endpoint, credits, nowMs })
      return decide(key, endpoint, credits, nowMs)
    },
    /** Whether the server has the account for itself. */
    isLeased: (id: string) => leases.has(id) && !slices.has(id),
    isSliced: (id: string) => slices.has(id),
    /** Whether calls are held here that will be charged soon, of accounts that other servers call, too. */
    expectsCharges: () => {
      for (const id of slices.keys()) for (const { stage } of calls.get(id) ?? []) if (stage === "held") return true
      return false
    },
    slice: (id: string) => slices.get(id),
    /** Calls are decided by what is set aside of the account, from here on. */
    beginSlice: (id: string, slice: Map<Spending, number>) => slices.set(id, slice),
    /** The call ended without a charge: what it held can be held by another one. True where nothing has to be written. */
    backIntoSlice: (held: Hold): boolean => {
      const slice = slices.get(held.key.record.account_id)
      if (slice === undefined) return false
      slice.set(held.spending, (slice.get(held.spending) ?? 0) + held.credits)
      return true
    },
    /** What was read of the account just now is true from here on. */
    lease: (id: string, read: Read, months: ReadonlyArray<number>) => {
      const cached = leases.get(id) ?? new Set<unknown>()
      for (const { account_id, id: keyId } of read.keys) {
        const key = state.keys.get(keyId)
        if (account_id !== id || key === undefined) continue
        cached.add(key)
        for (const month of months) cached.add(key.months.get(month))
      }
      leases.set(id, cached)
    },
    endLease: (id: string) => {
      slices.delete(id)
      return leases.delete(id)
    },
    leased: () => leases.keys(),
    recorded: (id: string): ReadonlyMap<string, Holding> => recorded.get(id) ?? new Map(),
    record: (id: string, holdings: ReadonlyMap<string, Holding>) => {
      if (holdings.size === 0) recorded.delete(id)
      else recorded.set(id, holdings)
    },
    /** What is known of the key; see `isCached`. */
    find: (sha256: string, nowMs: number): ApiKeyView | undefined => {
      const view = keyWith(state, sha256, nowMs)
      const key = view && state.keys.get(view.id)
      if (view !== undefined && key !== undefined) handedOut.set(view, key)
      return view
    },
    isCurrent: (key: ApiKeyView, nowMs: number): boolean => isCurrent(state.keys.get(key.id), key, nowMs),
    /** Whether the key is known under a lease. */
    isCached: (key: ApiKeyView): boolean => {
      const known = state.keys.get(key.id)
      return known !== undefined && (leases.get(key.account_id)?.has(known) ?? false)
    },
    /** A view that was handed out stays valid for its holder, even after the key is evicted. */
    remaining: (key: ApiKeyView, nowMs: number): number => {
      const known = state.keys.get(key.id) ?? handedOut.get(key)
      return known === undefined ? 0 : remainingOf(known, nowMs)
    },
    /** Holds are void with the name under which the server was known. */
    forgetAll: () => {
      state = begin(charged)
      for (const known of [leases, slices, calls, recorded]) known.clear()
    },
    /** Accounts without calls, where there are too many keys. */
    forgetSome: () => {
      if (state.keys.size <= mostKeys) return
      const idle = new Set<string>()
      for (const id of state.accounts.keys()) if (!leases.has(id) && !calls.has(id) && !recorded.has(id)) idle.add(id)
      for (const key of state.keys.values()) {
        if (idle.has(key.record.account_id)) forgetKey(state, key.record)
      }
      for (const id of idle) state.accounts.delete(id)
    }
  }
}

export type KnownAccounts = ReturnType<typeof knownAccounts>
