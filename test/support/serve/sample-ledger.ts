/** A small ledger with two accounts, and functions that write or damage it. Even invalid entries are chained correctly. */
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll } from "@effect/vitest"
import { openLedgerFile } from "@larder/serve/ledger"
import { chainEntries, type Draft } from "@larder/serve/ledger/chain/chain.ts"
import { type ApiKey, plainKey } from "@larder/serve/ledger/chain/records.ts"
import { type LedgerStore, openEmbeddedStore } from "@larder/serve/ledger/embedded/embedded-store.ts"
import { updateSums } from "@larder/serve/ledger/embedded/progress.ts"
import type { Decision } from "@larder/serve/ledger/rules/decisions.ts"
import { applyGroup, type Group, restoreState } from "@larder/serve/ledger/rules/ledger-state.ts"
import { openAccount } from "@larder/serve/ledger/rules/open-account.ts"
import type { Sqlite } from "@larder/serve/persistence"
import { Effect } from "effect"

export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-ledger-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const openedAt = Date.parse("2026-10-30T00:00:00.000Z")

export const aKey = (id: string, account_id: string): ApiKey => ({
  id,
  account_id,
  name: "k",
  scopes: ["get-store"],
  budget_credits: 1_000,
  sha256: id,
  last4: "wxyz",
  ...plainKey,
  created_at: "2026-10-30T00:00:00.000Z",
  revoked_at: null,
  revision: 1
})

export const aCharge = (request_id: string, charge: Partial<Draft> = {}): Draft => ({
  account_id: "acct_a",
  type: "charge",
  occurred_at: "2026-10-30T12:00:00.000Z",
  key_id: "key_a",
  endpoint: "/v1/stores",
  credits: -10,
  budget_credits: 1_000,
  request_id,
  note: null,
  ...charge
})

/** Refunds the call of a charge, for the same key, endpoint and month. */
export const aRefund = (charge: Draft): Draft => ({
  ...charge,
  type: "refund",
  credits: -charge.credits,
  budget_credits: null,
  note: "the call was answered with an error"
})

/** Returns a function that chains each decision to the previous ones. */
export const makeWriter = () => {
  const state = restoreState({ sequence: 0, accounts: [], keys: [], spending: [], booked: [] })
  return ({ accounts = [], entries = [], keys = [] }: Partial<Decision>): Group => {
    const group = { accounts, keys, entries: chainEntries(state, entries) }
    applyGroup(state, group)
    return group
  }
}

const payers = [
  { account_id: "acct_a", key_id: "key_a" },
  { account_id: "acct_b", key_id: "key_b" },
  { account_id: "acct_a", key_id: "key_c" }
] as const

/** 62 entries: grants of 5,000 to `acct_a` and `acct_b`, then 60 charges of 10, one an hour, into November. */
export const sampleGroups = (write = makeWriter()): ReadonlyArray<Group> => [
  write(openAccount("acct_a", "A & Söhne", openedAt)),
  write(openAccount("acct_b", "B", openedAt)),
  write({
    keys: [
      aKey("key_a", "acct_a"),
      aKey("key_b", "acct_b"),
      { ...aKey("key_c", "acct_a"), expires_at: "2100-01-31T00:00:00.000Z" }
    ]
  }),
  ...Array.from({ length: 60 }, (_, hour) =>
    write({
      entries: [
        aCharge(`req_${hour + 3}`, {
          ...payers[hour % 3],
          endpoint: hour % 2 === 0 ? "/v1/stores" : "/v1/branded-foods",
          occurred_at: new Date(openedAt + hour * 3_600_000).toISOString()
        })
      ]
    })
  )
]

export const append = (store: LedgerStore, groups: ReadonlyArray<Group>) =>
  Effect.forEach(groups, (group) => Effect.tryPromise(() => store.append(group)), { discard: true })

export const useStore = <A, E, R>(folder: string, use: (store: LedgerStore) => Effect.Effect<A, E, R>) =>
  openLedgerFile(folder).pipe(Effect.flatMap(openEmbeddedStore), Effect.flatMap(use), Effect.scoped)

/** Writes groups into a folder and closes it. */
export const writeGroups = (folder: string, groups: ReadonlyArray<Group>) =>
  useStore(folder, (store) => append(store, groups))

/** The data that a start loads from a folder. */
export const load = (folder: string) => useStore(folder, (store) => store.load)
/** The error of a start that refuses the folder. */
export const refusal = (folder: string) => Effect.flip(load(folder))

/** Changes the file directly, without the ledger. */
export const runInDatabase = (folder: string, sql: string) => withDatabase(folder, (sqlite) => sqlite.exec(sql))
export const withDatabase = <A>(folder: string, work: (sqlite: Sqlite) => A) =>
  Effect.scoped(Effect.map(openLedgerFile(folder), ({ reading }) => work(reading)))

/** Updates the derived tables up to the last entry. */
export const updateDerivedTables = (folder: string) => withDatabase(folder, updateSums)

/**
 * Each run copies the closed sample ledger, whose derived tables are up to date or empty. The original is written once, and
 * removed after the tests of the file.
 */
export const sampleCopy = (options: { readonly hasDerivedTables: boolean }) => {
  const original = mkdtempSync(path.join(tmpdir(), "larder-ledger-"))
  const finish = options.hasDerivedTables ? updateDerivedTables(original) : Effect.void
  const ready = Effect.runSync(Effect.cached(Effect.andThen(writeGroups(original, sampleGroups()), finish)))
  const copy = Effect.gen(function* () {
    yield* ready
    const folder = yield* temporaryFolder
    cpSync(original, folder, { recursive: true })
    return folder
  })
  afterAll(() => rmSync(original, { recursive: true, force: true }))
  return copy
}
