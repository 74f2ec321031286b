/** A ledger store in memory, for the rules without durability. */

import { type Account, type Entry, LedgerUnavailable } from "@larder/serve/ledger"
import { BackupFailed } from "@larder/serve/ledger/administration.ts"
import { emptyHead } from "@larder/serve/ledger/chain/chain.ts"
import type { ApiKey } from "@larder/serve/ledger/chain/records.ts"
import type { LedgerStore } from "@larder/serve/ledger/embedded/embedded-store.ts"
import type { Group, LedgerSnapshot } from "@larder/serve/ledger/rules/ledger-state.ts"
import { monthOf } from "@larder/serve/ledger/utc-calendar.ts"
import { Effect, Stream } from "effect"

interface MemoryStore extends LedgerStore {
  readonly entries: ReadonlyArray<Entry>
  /** If set, writing a group fails with it. */
  failure: Error | undefined
}

export const memoryStore = (): MemoryStore => {
  const accounts = new Map<string, Account>()
  const keys = new Map<string, ApiKey>()
  const entries: Array<Entry> = []
  const take = (group: Group) => {
    for (const account of group.accounts) accounts.set(account.id, account)
    for (const key of group.keys) keys.set(key.id, key)
    entries.push(...group.entries)
  }
  const load = Effect.sync((): LedgerSnapshot => {
    const spending = new Map<string, { key_id: string; month: number; spent: number }>()
    for (const entry of entries) {
      if (entry.key_id === null) continue
      const month = monthOf(Date.parse(entry.occurred_at))
      const id = `${entry.key_id} ${month}`
      const spent = spending.get(id) ?? { key_id: entry.key_id, month, spent: 0 }
      spending.set(id, { ...spent, spent: spent.spent - entry.credits })
    }
    return {
      sequence: entries.length,
      accounts: [...accounts.values()].map((account) => ({
        account,
        head: entries.findLast((entry) => entry.account_id === account.id) ?? emptyHead
      })),
      keys: [...keys.values()],
      spending: [...spending.values()],
      booked: entries.flatMap(({ account_id, key_id, request_id, type }) =>
        key_id === null && request_id !== null ? [{ account_id, type, reference: request_id }] : []
      )
    }
  })
  const store: MemoryStore = {
    entries,
    failure: undefined,
    startThreads: Effect.void,
    load,
    append: async (group) => {
      if (store.failure !== undefined) throw new LedgerUnavailable({ action: "be written", cause: store.failure })
      take(group)
    },
    entriesOf: (accountId) =>
      Stream.suspend(() => Stream.fromIterable(entries.filter((entry) => entry.account_id === accountId))),
    entriesBefore: ({ account_id, before, limit, types }) =>
      Effect.sync(() =>
        entries
          .filter((entry) => entry.account_id === account_id && entry.position < before)
          .filter(({ type }) => types === undefined || types.includes(type))
          .slice(-limit)
          .toReversed()
      ),
    usage: () => Effect.die("a ledger in memory sums up no usage"),
    summedUsage: () => Effect.die("a ledger in memory sums up no usage"),
    storedKeys: Effect.die("a ledger in memory is not verified"),
    verify: () => Effect.die("a ledger in memory is not verified"),
    backup: (file) => Effect.fail(new BackupFailed({ file, problem: "the ledger is in memory" }))
  }
  return store
}
