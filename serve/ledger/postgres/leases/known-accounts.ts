/**
 * The accounts and keys that a server has in memory, over the state of `ledger-state.ts`. For an account that the
 * server has leased, this state is authoritative and decides calls. Other accounts are in the state that was last read,
 * which suffices to check scopes; they are locked and read again before a call is decided.
 */
import {
  type AdmissionOutcome,
  type AdmissionRequest,
  admit,
  type Hold,
  placeHold,
  remaining
} from "../../rules/admission.ts"
import {
  type ApiKeyView,
  applyGroup,
  type ChargedRequests,
  findKey,
  isCurrent,
  type KeyState,
  type LedgerState,
  removeKey,
  restoreState
} from "../../rules/ledger-state.ts"
import { type MonthOfKey, openMonth } from "../../rules/spending.ts"
import { monthOf } from "../../utc-calendar.ts"
import type { AccountRead, GroupRead } from "../sql/statements.ts"
import type { Holding } from "../sql/write-group.ts"

/** About 50 MB. Beyond that, accounts without calls are evicted. */
const maxKeys = 100_000

const emptyGroup = { accounts: [], keys: [], entries: [] }
const makeState = (charged: ChargedRequests): LedgerState => ({
  ...restoreState({ sequence: 0, accounts: [], keys: [], spending: [], booked: [] }),
  charged
})

const sumCredits = (amounts: Iterable<{ readonly credits: number }>) => {
  let sum = 0
  for (const { credits } of amounts) sum += credits
  return sum
}
export const holdingName = ({ key_id, month }: Pick<Holding, "key_id" | "month">) => `${key_id} ${month}`

/** The database does not contain what the server has written there: a restored copy, or a primary that lost commits. */
const otherDatabaseError = (id: string) =>
  new Error(
    `account ${id} has different states in the database and in this server: the database has lost what was written`
  )

export const trackKnownAccounts = (charged: ChargedRequests) => {
  let state = makeState(charged)
  /** By leased account: its keys and their spending, as far as they were read under the lease. */
  const leases = new Map<string, Set<unknown>>()
  const calls = new Map<string, Set<Hold>>()
  const recorded = new Map<string, ReadonlyMap<string, Holding>>()
  /** By account: what is reserved in the database beyond what calls hold, by key and month. */
  const slices = new Map<string, Map<MonthOfKey, number>>()
  const keysByView = new WeakMap<ApiKeyView, KeyState>()

  const register = (call: Hold) => {
    const id = call.key.record.account_id
    const openCalls = calls.get(id)
    if (openCalls === undefined) calls.set(id, new Set([call]))
    else openCalls.add(call)
  }
  const unregister = (call: Hold) => {
    const id = call.key.record.account_id
    const openCalls = calls.get(id)
    openCalls?.delete(call)
    if (openCalls?.size === 0) calls.delete(id)
  }

  /** What the open calls of an account hold, except those in `except`, and what is reserved in addition. */
  const listHoldings = (
    id: string,
    except?: ReadonlySet<Hold>,
    reserved: ReadonlyMap<MonthOfKey, number> = new Map()
  ): ReadonlyMap<string, Holding> => {
    const holdings = new Map<string, Holding>()
    const add = ({ key_id, month }: MonthOfKey, credits: number, reservedCredits = 0) => {
      const place = { account_id: id, key_id, month }
      const name = holdingName(place)
      holdings.set(name, { ...place, credits: (holdings.get(name)?.credits ?? 0) + credits, reserved: reservedCredits })
    }
    for (const call of calls.get(id) ?? []) if (!except?.has(call)) add(call.month, call.credits)
    for (const [month, credits] of reserved) add(month, credits, credits)
    return holdings
  }

  const updateAccount = ({ balance, hash, position, record }: AccountRead) => {
    if (!state.accounts.has(record.id)) applyGroup(state, { ...emptyGroup, accounts: [record] })
    const account = state.accounts.get(record.id)
    if (account === undefined) throw otherDatabaseError(record.id)
    if (leases.has(record.id) && !slices.has(record.id)) {
      if (account.head.hash !== hash) throw otherDatabaseError(record.id)
    } else account.head = { position, balance, hash }
    return account
  }

  const sumSpent = (read: GroupRead, keyId: string, month: number) =>
    sumCredits(read.spent.filter((spent) => spent.key_id === keyId && spent.month === month))

  const refresh = (read: GroupRead, months: ReadonlyArray<number>): void => {
    const holdings = new Map<string, ReadonlyArray<Holding>>()
    for (const account of read.accounts) {
      const { id } = account.record
      const allHoldings = [...listHoldings(id).values(), ...read.held.filter(({ account_id }) => account_id === id)]
      holdings.set(id, allHoldings)
      const known = updateAccount(account)
      known.held = sumCredits(allHoldings)
      known.reserved = allHoldings.reduce((sum, { reserved }) => sum + reserved, 0)
    }
    for (const record of read.keys) {
      if (state.keys.get(record.id)?.record.revision !== record.revision)
        applyGroup(state, { ...emptyGroup, keys: [record] })
      const key = state.keys.get(record.id)
      if (key === undefined) continue
      for (const month of key.months.values()) {
        month.held = 0
        month.reserved = 0
      }
      for (const { credits, key_id, month, reserved } of holdings.get(record.account_id) ?? []) {
        if (key_id !== record.id) continue
        const known = openMonth(key, month)
        known.held += credits
        known.reserved += reserved
      }
      const cached = leases.get(record.account_id)
      cached?.add(key)
      for (const number of months) {
        const month = openMonth(key, number)
        month.spent = sumSpent(read, record.id, number)
        cached?.add(month)
      }
    }
  }

  const decide = (call: AdmissionRequest): AdmissionOutcome => {
    const admission = admit(state, call)
    if ("hold" in admission) register(admission.hold)
    return admission
  }

  const findLeasedKey = (key: ApiKeyView, nowMs: number) => {
    const cached = leases.get(key.account_id)
    const known = state.keys.get(key.id)
    if (cached === undefined || known === undefined || !cached.has(known)) return undefined
    return cached.has(openMonth(known, monthOf(nowMs))) ? known : undefined
  }

  const decideInSlice = (
    slice: Map<MonthOfKey, number>,
    known: KeyState,
    { credits, endpoint, key, nowMs }: AdmissionRequest
  ): AdmissionOutcome | undefined => {
    if (!isCurrent(known, key, nowMs)) return { refused: "key_changed" } as const
    const month = openMonth(known, monthOf(nowMs))
    const left = slice.get(month) ?? 0
    if (left < credits) return undefined
    slice.set(month, left - credits)
    const hold = placeHold(known, { endpoint, credits, now: nowMs })
    register(hold)
    return { hold }
  }

  return {
    state: () => state,
    decide,
    refresh,
    listHoldings,
    unregister,
    /** Decides a call if the lease allows it; undefined if the database has to decide. */
    decideLeased: (call: AdmissionRequest): AdmissionOutcome | undefined => {
      const known = findLeasedKey(call.key, call.nowMs)
      if (known === undefined) return undefined
      const slice = slices.get(call.key.account_id)
      return slice === undefined ? decide(call) : decideInSlice(slice, known, call)
    },
    isLeased: (id: string) => leases.has(id) && !slices.has(id),
    isSliced: (id: string) => slices.has(id),
    /** Whether the server holds calls that will be charged soon, for accounts that several servers use. */
    expectsCharges: () => {
      for (const id of slices.keys()) for (const { stage } of calls.get(id) ?? []) if (stage === "held") return true
      return false
    },
    slice: (id: string) => slices.get(id),
    beginSlice: (id: string, slice: Map<MonthOfKey, number>) => slices.set(id, slice),
    /** The call ended without a charge: another call can use its credits. Returns whether nothing has to be written. */
    returnToSlice: (held: Hold): boolean => {
      const slice = slices.get(held.key.record.account_id)
      if (slice === undefined) return false
      slice.set(held.month, (slice.get(held.month) ?? 0) + held.credits)
      return true
    },
    /** From now on, what was just read of the account is authoritative. */
    lease: (id: string, read: GroupRead, months: ReadonlyArray<number>) => {
      const cached = leases.get(id) ?? new Set<unknown>()
      for (const { account_id, id: keyId } of read.keys) {
        const key = state.keys.get(keyId)
        if (account_id !== id || key === undefined) continue
        cached.add(key)
        for (const month of months) cached.add(openMonth(key, month))
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
    find: (sha256: string, nowMs: number): ApiKeyView | undefined => {
      const view = findKey(state, sha256, nowMs)
      const key = view && state.keys.get(view.id)
      if (view !== undefined && key !== undefined) keysByView.set(view, key)
      return view
    },
    isCurrent: (key: ApiKeyView, nowMs: number): boolean => isCurrent(state.keys.get(key.id), key, nowMs),
    /** Whether the key and its account are completely in memory. Other servers spend credits of a shared account. */
    isCached: ({ account_id, id }: ApiKeyView): boolean => {
      const known = state.keys.get(id)
      return known !== undefined && !slices.has(account_id) && (leases.get(account_id)?.has(known) ?? false)
    },
    /** A view that was handed out stays valid for its holder, even after the key is evicted. */
    remaining: (key: ApiKeyView, nowMs: number): number => {
      const known = state.keys.get(key.id) ?? keysByView.get(key)
      return known === undefined ? 0 : remaining(known, nowMs)
    },
    /** Call it when the server gets another name, because its holds belong to the old name. */
    clear: () => {
      state = makeState(charged)
      for (const known of [leases, slices, calls, recorded]) known.clear()
    },
    evictIdle: () => {
      if (state.keys.size <= maxKeys) return
      const idle = new Set<string>()
      for (const id of state.accounts.keys()) if (!leases.has(id) && !calls.has(id) && !recorded.has(id)) idle.add(id)
      for (const key of state.keys.values()) {
        if (idle.has(key.record.account_id)) removeKey(state, key.record)
      }
      for (const id of idle) state.accounts.delete(id)
    }
  }
}

export type KnownAccounts = ReturnType<typeof trackKnownAccounts>
