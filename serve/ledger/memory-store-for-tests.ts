/** The ledger in memory: the same rules with nothing durable. */
import { Effect, Stream } from "effect"
import { monthOf } from "./moments.ts"
import type { Account, ApiKey, Entry } from "./records.ts"
import { type Group, type LedgerStore, LedgerUnavailable, type Snapshot } from "./store.ts"

export interface MemoryStore extends LedgerStore {
  readonly entries: ReadonlyArray<Entry>
  /** While this is set, groups are refused with it. */
  failure: Error | undefined
}

const add = (sums: Map<string, number>, key: string, credits: number) => sums.set(key, (sums.get(key) ?? 0) + credits)

export const memoryStore = (): MemoryStore => {
  const accounts = new Map<string, Account>()
  const keys = new Map<string, ApiKey>()
  const entries: Array<Entry> = []
  const take = (group: Group) => {
    for (const account of group.accounts) accounts.set(account.id, account)
    for (const key of group.keys) keys.set(key.id, key)
    entries.push(...group.entries)
  }
  const load = Effect.sync((): Snapshot => {
    const balances = new Map<string, number>()
    const spending = new Map<string, { key_id: string; month: number; spent: number }>()
    for (const entry of entries) {
      add(balances, entry.account_id, entry.credits)
      if (entry.type !== "charge" || entry.key_id === null) continue
      const month = monthOf(Date.parse(entry.occurred_at))
      const id = `${entry.key_id} ${month}`
      const spent = spending.get(id) ?? { key_id: entry.key_id, month, spent: 0 }
      spending.set(id, { ...spent, spent: spent.spent - entry.credits })
    }
    return {
      sequence: entries.length,
      accounts: [...accounts.values()].map((account) => ({ account, balance: balances.get(account.id) ?? 0 })),
      keys: [...keys.values()],
      spending: [...spending.values()]
    }
  })
  const store: MemoryStore = {
    entries,
    failure: undefined,
    load,
    append: async (group) => {
      if (store.failure !== undefined) throw new LedgerUnavailable({ action: "be written", cause: store.failure })
      take(group)
    },
    entriesOf: (accountId) =>
      Stream.suspend(() => Stream.fromIterable(entries.filter((entry) => entry.account_id === accountId)))
  }
  return store
}
