import { closeSync, openSync, writeSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { afterAll, assert, describe, it } from "@effect/vitest"
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
import { Effect, Exit, Scope } from "effect"
import type { Sqlite } from "../../../persistence/index.ts"
import { type ChainHead, emptyHead } from "../../chain/chain.ts"
import { openEmbeddedLedger } from "../embedded-ledger.ts"
import type { LedgerStore } from "../embedded-store.ts"
import { ledgerPath, openLedgerFile } from "../ledger-file.ts"
import { readSnapshot } from "../opening.ts"
import { queryNumber } from "../tables.ts"
import { verifyFile } from "./verification.ts"

const readServerHeads = ({ accounts, sequence }: ReturnType<typeof readSnapshot>) => ({
  sequence,
  heads: new Map(accounts.map(({ account, head }): [string, ChainHead] => [account.id, head]))
})
/** Verifies against the state that was loaded from the store. */
const verifyLoaded = (store: LedgerStore) =>
  Effect.flatMap(store.load, (loaded) => store.verify(readServerHeads(loaded)))
const verifyFolder = (folder: string) => useStore(folder, verifyLoaded)

const plainCopy = sampleCopy({ hasDerivedTables: false })
const followedCopy = sampleCopy({ hasDerivedTables: true })

/** One ledger that many tests damage; a rollback restores it after each. */
const scope = Scope.makeUnsafe()
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
const soundLedger = Effect.gen(function* () {
  const { reading: sqlite } = yield* openLedgerFile(yield* followedCopy)
  sqlite.exec("pragma foreign_keys = off")
  return { sqlite, serverHeads: readServerHeads(readSnapshot(sqlite, 0)) }
}).pipe(Scope.provide(scope), Effect.cached, Effect.runSync)

/** Runs in the open transaction, without beginning its own. */
const inTransaction = (sqlite: Sqlite): Sqlite => ({ ...sqlite, inSnapshot: (work) => work() })

/** What a verification finds after a change since the ledger was opened. */
const problemsAfter = Effect.fnUntraced(function* (sql: string) {
  const { serverHeads, sqlite } = yield* soundLedger
  return sqlite.inSnapshot(() => {
    sqlite.exec(sql)
    return verifyFile(inTransaction(sqlite), serverHeads).problems
  })
})

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
          await admission.held.commit(`req_${charged}`)
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

  it.live.each([
    [
      "update entry set note = 'x' where sequence = 6",
      ["entry 4 of account acct_a is not what was written: its hash does not match"]
    ],
    [
      "update entry set credits = credits - 1 where sequence = 6",
      [
        "entry 4 of account acct_a has a balance of 4970 credits, but the entries up to it add up to 4969",
        "usage_of_day has 4 calls and 40 credits for acct_a 2026-10-30 key_a /v1/branded-foods, but its charges are 4 and 41",
        "usage_of_endpoint has 8 calls and 80 credits for acct_a 2026-10-30 /v1/branded-foods, but its charges are 8 and 81",
        "usage_of_month has 8 calls and 80 credits for 24321 acct_a key_a /v1/branded-foods, but its charges are 8 and 81"
      ]
    ],
    [
      "update entry set request_id = 'req_5' where sequence = 6",
      [
        "entry 4 of account acct_a is not what was written: its hash does not match",
        "request req_5 was charged 2 times"
      ]
    ],
    [
      "update entry set budget_credits = 1 where key_id = 'key_b' and sequence > 60",
      ["entry 21 of account acct_b is not what was written: its hash does not match"]
    ],
    [
      "update entry set hash = upper(hash) where sequence = 62",
      [
        "entry 41 of account acct_a is not what was written: its hash does not match",
        "account acct_a is at its entry 41 with 4600 credits in the running server, and at its entry 41 with 4600 credits in the database",
        "entries were summed up to number 62, which is missing or different; the last entry is 62. If this ledger replaced a newer one, as after a restore, remove sums.sqlite"
      ]
    ],
    [
      "update entry set sequence = 100 where sequence = 6; update entry set sequence = 6 where sequence = 7; update entry set sequence = 7 where sequence = 100",
      [
        "entry 3 of account acct_b has number 6, and the index has number 7",
        "entry 4 of account acct_a has number 7, and the index has number 6"
      ]
    ],
    [
      "update usage_of_day set calls = calls + 1 where day = '2026-10-31' and key_id = 'key_b' and endpoint = '/v1/stores'",
      ["usage_of_day has 5 calls and 40 credits for acct_b 2026-10-31 key_b /v1/stores, but its charges are 4 and 40"]
    ],
    [
      "delete from usage_of_day where day = '2026-10-31' and key_id = 'key_b' and endpoint = '/v1/stores'",
      ["usage_of_day has 0 calls and 0 credits for acct_b 2026-10-31 key_b /v1/stores, but its charges are 4 and 40"]
    ],
    [
      "update usage_of_endpoint set calls = calls + iif(endpoint = '/v1/stores', 1, -1) where day = '2026-10-31' and account_id = 'acct_b'",
      [
        "usage_of_endpoint has 3 calls and 40 credits for acct_b 2026-10-31 /v1/branded-foods, but its charges are 4 and 40",
        "usage_of_endpoint has 5 calls and 40 credits for acct_b 2026-10-31 /v1/stores, but its charges are 4 and 40"
      ]
    ],
    [
      "update usage_of_month set credits = 0 where key_id = 'key_b' and endpoint = '/v1/stores' and month = 24321",
      ["usage_of_month has 8 calls and 0 credits for 24321 acct_b key_b /v1/stores, but its charges are 8 and 80"]
    ],
    [
      "update entry_place set sequence = 9 where account_id = 'acct_a' and position = 4",
      ["entry 4 of account acct_a has number 6, and the index has number 9"]
    ],
    ["insert into entry_place values ('acct_x', 1, 6)", ["the index has 63 entries, and the ledger 62"]]
  ] as const)("finds damage: %s", ([sql, problems]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsAfter(sql), [...problems])
    })
  )

  it.live("finds charges without a key, an endpoint and a request", () =>
    Effect.gen(function* () {
      const problems = yield* problemsAfter(
        "update entry set key_id = null, endpoint = null, request_id = null where sequence > 60"
      )
      assert.include(problems, "entry 41 of account acct_a names key null, which is not a key of this account")
      assert.include(problems, "request null was charged 2 times")
    })
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

  it.live("finds missing entries", () =>
    Effect.gen(function* () {
      const problems = yield* problemsAfter("delete from entry where sequence = 6")
      assert.include(problems, "entry 7 follows entry 5, so entries are missing")
      assert.include(problems, "entry 5 of account acct_a follows its entry 3, so entries are missing")
    })
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

  /** Archives October, with all that is derived from its 50 entries. */
  const archiveOctober = `
    insert into chain_start
      select account_id, max(position), balance, hash from entry where sequence <= 50 group by account_id;
    delete from entry where sequence <= 50;
    delete from entry_place where sequence <= 50;
    delete from usage_of_day where day < '2026-11-01';
    delete from usage_of_endpoint where day < '2026-11-01';
    delete from usage_of_month where month < 2026 * 12 + 10`

  it.live("follows chains that begin at a stored head", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsAfter(archiveOctober), [])
      const wrongBalance = "update chain_start set balance = balance + 1 where account_id = 'acct_a'"
      assert.deepStrictEqual(yield* problemsAfter(`${archiveOctober}; ${wrongBalance}`), [
        "entry 34 of account acct_a has a balance of 4670 credits, but the entries up to it add up to 4671"
      ])
      const wrongHash = "update chain_start set hash = 'x' where account_id = 'acct_a'"
      assert.deepStrictEqual(yield* problemsAfter(`${archiveOctober}; ${wrongHash}`), [
        "entry 34 of account acct_a is not what was written: its hash does not match"
      ])
      assert.include(
        yield* problemsAfter(`${archiveOctober}; delete from entry where sequence = 51`),
        "entry 52 follows entry 50, so entries are missing"
      )
    })
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
      assert.strictEqual((yield* problemsAfter(`${doubled}; update entry set note = 'x'`)).length, 100)
    })
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
