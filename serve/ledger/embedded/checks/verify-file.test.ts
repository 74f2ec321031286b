/** Changes of the tables, and what is found after them, are in `test/ledger/tampering`, for both stores. */
import { closeSync, openSync, writeSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import {
  aCharge,
  append,
  aRefund,
  makeWriter,
  sampleCopy,
  sampleGroups,
  temporaryFolder,
  updateDerivedTables,
  useStore,
  withDatabase,
  writeGroups
} from "@larder/test/support/serve/sample-ledger.ts"
import { Effect } from "effect"
import { type ChainHead, emptyHead } from "../../chain/chain.ts"
import type { LedgerSnapshot } from "../../rules/ledger-state.ts"
import { openEmbeddedLedger } from "../embedded-ledger.ts"
import type { LedgerStore } from "../embedded-store.ts"
import { ledgerPath } from "../ledger-file.ts"
import { queryNumber } from "../tables.ts"
import { verifyFile } from "./verify-file.ts"

const readServerHeads = ({ accounts, sequence }: LedgerSnapshot) => ({
  sequence,
  heads: new Map(accounts.map(({ account, head }): [string, ChainHead] => [account.id, head]))
})
/** Verifies against the state that was loaded from the store. */
const verifyLoaded = (store: LedgerStore) =>
  Effect.flatMap(store.load, (loaded) => store.verify(readServerHeads(loaded)))
const verifyFolder = (folder: string) => useStore(folder, verifyLoaded)

const plainCopy = sampleCopy({ hasDerivedTables: false })
const followedCopy = sampleCopy({ hasDerivedTables: true })

describe("a verification", () => {
  it.live("finds no problem in an unchanged ledger, whether its tables are up to date or not", () =>
    Effect.gen(function* () {
      const expectedResult = { accounts: 2, keys: 3, entries: 62, balance_credits: 9_400, problems: [] }
      assert.deepStrictEqual(yield* verifyFolder(yield* plainCopy), expectedResult)
      assert.deepStrictEqual(yield* verifyFolder(yield* followedCopy), expectedResult)
    }).pipe(Effect.scoped)
  )

  it.live("finds no problem in an empty ledger", () =>
    Effect.gen(function* () {
      const emptyResult = { accounts: 0, keys: 0, entries: 0, balance_credits: 0, problems: [] }
      assert.deepStrictEqual(yield* verifyFolder(yield* temporaryFolder), emptyResult)
    }).pipe(Effect.scoped)
  )

  it.live("runs while calls are charged", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const ledger = yield* openEmbeddedLedger(folder)
      const { administration } = ledger
      const { id } = yield* administration.createAccount({ name: "A" })
      const key = { account_id: id, name: "k", scopes: ["get-store"], budget_credits: 1_000_000_000 } as const
      yield* administration.creditAccount({ account_id: id, credits: 1_000_000_000, note: "enough for any speed" })
      const { key: token } = yield* administration.createKey(key)
      let charged = 0
      const counts: Array<number> = []
      const calls = Effect.promise(async () => {
        for (; counts.length < 2; charged++) {
          const view = await ledger.authenticate(token, Date.now())
          if (view === undefined) throw new Error("the key is unknown")
          const admission = await ledger.hold(
            view,
            { endpoint: "/v1/stores", scope: "get-store", credits: 1 },
            Date.now()
          )
          if ("refused" in admission) throw new Error(admission.refused)
          await admission.held.capture(`req_${charged}`)
        }
      })
      const verifications = Effect.gen(function* () {
        for (let verified = 0; verified < 2; verified++) {
          while (charged < 100 * verified) yield* Effect.sleep("1 millis")
          const { entries, problems } = yield* administration.verify({})
          assert.deepStrictEqual(problems, [])
          counts.push(entries)
        }
      })
      yield* Effect.all([calls, verifications], { concurrency: 2 })
      assert.isAbove(counts.at(-1) ?? 0, counts[0] ?? 0)
      assert.strictEqual((yield* administration.verify({})).entries, charged + 2)
    }).pipe(Effect.scoped)
  )

  it.live("finds a call refunded twice, a payment booked twice, and a negative balance without a refund", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const write = makeWriter()
      const cardPayment = { key_id: null, endpoint: null, budget_credits: null, note: "paid by card" }
      const topUp = { ...aCharge("pay_1", { ...cardPayment, credits: 10_000 }), type: "top_up" as const }
      const refund = { ...aCharge("re_1", { ...cardPayment, credits: -15_000 }), type: "refund" as const }
      const refundedCall = aRefund(aCharge("req_3", { occurred_at: "2026-10-30T00:00:00.000Z" }))
      yield* writeGroups(folder, [...sampleGroups(write), write({ entries: [refundedCall, topUp, refund] })])
      yield* updateDerivedTables(folder)
      const expectedResult = { accounts: 2, keys: 3, entries: 65, balance_credits: 4_410, problems: [] }
      assert.deepStrictEqual(yield* verifyFolder(folder), expectedResult)
      yield* writeGroups(folder, [write({ entries: [topUp, refundedCall] })])
      const expectedProblems = ["request req_3 was refunded 2 times", "top_up pay_1 was booked 2 times"]
      assert.deepStrictEqual((yield* verifyFolder(folder)).problems.toSorted(), expectedProblems)
    }).pipe(Effect.scoped)
  )

  it.live("finds a difference between the running server and the database", () =>
    Effect.gen(function* () {
      const heads = new Map([["acct_x", { ...emptyHead, balance: 5 }]])
      const [{ problems }, { problems: others }] = yield* useStore(yield* plainCopy, (store) =>
        Effect.all([store.verify({ sequence: 63, heads }), store.verify({ sequence: 62, heads })])
      )
      assert.deepStrictEqual(problems, ["the database ends at entry 62, and the running server has written 63"])
      assert.deepStrictEqual(others, [
        "account acct_x is at its entry 0 with 5 credits in the running server, and at its entry 0 with 0 credits in the database",
        "account acct_a is at its entry 0 with 0 credits in the running server, and at its entry 41 with 4600 credits in the database",
        "account acct_b is at its entry 0 with 0 credits in the running server, and at its entry 21 with 4800 credits in the database"
      ])
    }).pipe(Effect.scoped)
  )

  it.live("finds a key that another process has changed in the file of a running server", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { administration } = yield* openEmbeddedLedger(folder)
      const { id } = yield* administration.createAccount({ name: "A" })
      const key = { account_id: id, name: "k", scopes: ["get-store"], budget_credits: 1 } as const
      const created = yield* administration.createKey(key)
      yield* administration.editKey({ key_id: created.id, budget_credits: 2 })
      assert.deepStrictEqual((yield* administration.verify({})).problems, [])
      const firstConnection = new DatabaseSync(ledgerPath(folder))
      firstConnection.exec("update api_key set budget_credits = 9000000000")
      firstConnection.close()
      assert.deepStrictEqual((yield* administration.verify({})).problems, [
        `key ${created.id} in the file differs from the one in the running server`
      ])
      const secondConnection = new DatabaseSync(ledgerPath(folder))
      secondConnection.exec("delete from api_key")
      secondConnection.close()
      assert.deepStrictEqual((yield* administration.verify({})).problems, [
        `key ${created.id} exists in the running server, but is missing in the file`
      ])
    }).pipe(Effect.scoped)
  )

  it.live("finds pages that cannot be read", () =>
    Effect.gen(function* () {
      const folder = yield* followedCopy
      const page = yield* withDatabase(folder, (sqlite) =>
        queryNumber(sqlite, "select rootpage from sqlite_schema where name = 'entry_but_charge'")
      )
      const fd = openSync(ledgerPath(folder), "r+")
      writeSync(fd, Buffer.alloc(4096, 7), 0, 4096, (page - 1) * 4096)
      closeSync(fd)
      const verification = yield* withDatabase(folder, (sqlite) =>
        verifyFile(sqlite, { sequence: 0, heads: new Map() })
      )
      assert.match(verification.problems.join("; "), /the file is damaged/)
    }).pipe(Effect.scoped)
  )

  it.live("reports at most 100 problems", () =>
    Effect.gen(function* () {
      const doubled = `insert into entry
        select sequence + 100, account_id, position, type, occurred_at, key_id, endpoint, credits, balance, budget_credits,
          request_id, note, hash
        from entry`
      const { problems } = yield* withDatabase(yield* followedCopy, (sqlite) => {
        sqlite.exec(`${doubled}; update entry set note = 'x'`)
        return verifyFile(sqlite, { sequence: 0, heads: new Map() })
      })
      assert.strictEqual(problems.length, 100)
    }).pipe(Effect.scoped)
  )

  it.live("includes what was written immediately before", () =>
    Effect.gen(function* () {
      const entries = yield* useStore(yield* temporaryFolder, (store) =>
        Effect.gen(function* () {
          yield* append(store, sampleGroups())
          return (yield* store.verify({ sequence: 0, heads: new Map() })).entries
        })
      )
      assert.strictEqual(entries, 62)
    }).pipe(Effect.scoped)
  )
})
