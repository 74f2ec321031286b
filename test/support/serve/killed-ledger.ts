/**
 * A ledger with a single account, and its folder after a kill. Positions and balances of its entries are computed here,
 * not by the ledger's own code. With a single account, positions equal the sequence numbers.
 */
import { cpSync } from "node:fs"
import path from "node:path"
import type { Account, Entry } from "@larder/serve/ledger"
import { type ChainHead, emptyHead, hashEntry } from "@larder/serve/ledger/chain/chain.ts"
import { type ApiKey, plainKey } from "@larder/serve/ledger/chain/records.ts"
import type { LedgerStore } from "@larder/serve/ledger/embedded/embedded-store.ts"
import type { Group } from "@larder/serve/ledger/rules/ledger-state.ts"
import { Effect, Stream } from "effect"
import { append, temporaryFolder, useStore } from "./sample-ledger.ts"

export const createdAt = "2026-10-31T23:59:59.999Z"
export const anAccount: Account = { id: "acct_a", name: "A & Söhne", created_at: createdAt, suspended_at: null }
export const aKey = (key: Partial<ApiKey> = {}): ApiKey => ({
  id: "key_a",
  account_id: "acct_a",
  name: "k",
  scopes: ["get-store", "get-product"],
  budget_credits: 2_000_000_000_000,
  sha256: "0123",
  last4: "wxyz",
  ...plainKey,
  created_at: createdAt,
  revoked_at: null,
  revision: 1,
  ...key
})

const chainEntry = (
  head: ChainHead,
  entry: Omit<Entry, "sequence" | "account_id" | "position" | "balance" | "hash">
): Entry => {
  const position = head.position + 1
  const placed = { ...entry, account_id: "acct_a", position, balance: head.balance + entry.credits }
  return { ...placed, sequence: position, hash: hashEntry(head.hash, placed) }
}

export const aGrant = chainEntry(emptyHead, {
  type: "grant",
  occurred_at: createdAt,
  key_id: null,
  endpoint: null,
  credits: 5000,
  budget_credits: null,
  request_id: null,
  note: "starting balance"
})

/** The grant, followed by charges; each is created once. */
const created: Array<Entry> = [aGrant]
export const aCharge = (sequence: number): Entry => {
  for (let head = created.at(-1) ?? aGrant; created.length < sequence; head = created.at(-1) ?? head) {
    created.push(
      chainEntry(head, {
        type: "charge",
        occurred_at: createdAt,
        key_id: "key_a",
        endpoint: "/v1/stores",
        credits: -10,
        budget_credits: 2_000_000_000_000,
        request_id: `req_${head.position + 1}`,
        note: null
      })
    )
  }
  return created[sequence - 1] ?? aGrant
}

export const accountCreation: Group = { accounts: [anAccount], keys: [aKey()], entries: [aGrant] }
export const charges = (...sequences: ReadonlyArray<number>): Group => ({
  accounts: [],
  keys: [],
  entries: sequences.map(aCharge)
})

export const numbersOf = (store: LedgerStore) =>
  Effect.map(Stream.runCollect(store.entriesOf("acct_a")), (entries) => entries.map((entry) => entry.sequence))

/** The ledger's folder after a process that wrote these groups was killed. */
export const makeKilledLedger = Effect.fnUntraced(function* (...groups: ReadonlyArray<Group>) {
  const folder = yield* temporaryFolder
  const killed = path.join(folder, "killed")
  const copy = Effect.sync(() => cpSync(path.join(folder, "live"), killed, { recursive: true }))
  yield* useStore(path.join(folder, "live"), (store) => Effect.andThen(append(store, groups), copy))
  return killed
})
