import path from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import {
  aCharge,
  append,
  aRefund,
  author,
  inDatabase,
  load,
  opened,
  sampleCopy,
  sampleGroups,
  takeSnapshot,
  temporaryFolder,
  written
} from "@larder/test/support/serve/sample-ledger.ts"
import { Effect, Exit, Scope } from "effect"
import { beginning, type ChainHead } from "../chain.ts"
import { embeddedLedger } from "./embedded-ledger.ts"
import { openDatabase } from "./ledger-database.ts"
import type { LedgerStore } from "./store.ts"
import { verify } from "./verification.ts"

/** What the state machine holds when it has loaded what the store gives. */
const verifyLoaded = (store: LedgerStore) =>
  Effect.flatMap(store.load, ({ accounts, sequence }) =>
    store.verify({
      sequence,
      heads: new Map(accounts.map(({ account, head }): [string, ChainHead] => [account.id, head]))
    })
  )
const verified = (folder: string) => opened(folder, verifyLoaded)

const plainCopy = sampleCopy({ withSnapshot: false })
/** All entries are behind the snapshot: a start does not read them, and a verification does. */
const snapshottedCopy = sampleCopy({ withSnapshot: true })

/** One ledger that is damaged again and again, and is as it was written in between. */
const scope = Scope.makeUnsafe()
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
const sound = Effect.gen(function* () {
  const folder = yield* snapshottedCopy
  const { accounts, sequence } = yield* load(folder)
  const heads = new Map(accounts.map(({ account, head }): [string, ChainHead] => [account.id, head]))
  return { database: yield* openDatabase(path.join(folder, "ledger.duckdb")), held: { sequence, heads } }
}).pipe(Scope.provide(scope), Effect.cached, Effect.runSync)
/** What a verification finds where something has changed since the ledger was opened. */
const problemsAfter = Effect.fnUntraced(function* (sql: string) {
  const { database, held } = yield* sound
  yield* database.use((db) => db.run(`begin; ${sql}`))
  const { problems } = yield* Effect.ensuring(
    verify(database, held),
    Effect.orDie(database.use((db) => db.run("rollback")))
  )
  return problems
})

describe("a verification", () => {
  it.live("finds nothing wrong with a ledger as it was written, with a snapshot or without", () =>
    Effect.gen(function* () {
      const sound = { accounts: 2, keys: 3, entries: 62, balance_credits: 9_400, problems: [] }
      assert.deepStrictEqual(yield* verified(yield* plainCopy), sound)
      assert.deepStrictEqual(yield* verified(yield* snapshottedCopy), sound)
    }).pipe(Effect.scoped)
  )

  it.live("finds nothing wrong with an empty ledger", () =>
    Effect.gen(function* () {
      const nothing = { accounts: 0, keys: 0, entries: 0, balance_credits: 0, problems: [] }
      assert.deepStrictEqual(yield* verified(yield* temporaryFolder), nothing)
    }).pipe(Effect.scoped)
  )

  it.live("includes what is in the journal", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const entries = yield* opened(folder, (store) =>
        Effect.gen(function* () {
          yield* append(store, sampleGroups())
          return (yield* store.verify({ sequence: 0, heads: new Map() })).entries
        })
      )
      assert.strictEqual(entries, 62)
    }).pipe(Effect.scoped)
  )

  it.live("runs while calls are charged", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const ledger = yield* embeddedLedger(folder)
      const { administration } = ledger
      const { id } = yield* administration.createAccount({ name: "A" })
      const key = { account_id: id, name: "k", scopes: ["get-store"], budget_credits: 100_000 } as const
      const { key: token } = yield* administration.createKey(key)
      let charged = 0
      const counts: Array<number> = []
      const calls = Effect.promise(async () => {
        for (; counts.length < 2; charged++) {
          const view = await ledger.authenticate(token)
          if (view === undefined) throw new Error("the key is unknown")
          const admission = await ledger.hold(view, "/v1/stores", 1, Date.now())
          if ("refused" in admission) throw new Error(admission.refused)
          await admission.held.commit(`req_${charged}`)
        }
      })
      const verify = Effect.gen(function* () {
        for (let verified = 0; verified < 2; verified++) {
          while (charged < 100 * verified) yield* Effect.sleep("1 millis")
          const { entries, problems } = yield* administration.verify({})
          assert.deepStrictEqual(problems, [])
          counts.push(entries)
        }
      })
      yield* Effect.all([calls, verify], { concurrency: 2 })
      assert.isAbove(counts.at(-1) ?? 0, counts[0] ?? 0)
      assert.strictEqual((yield* administration.verify({})).entries, charged + 1)
    }).pipe(Effect.scoped)
  )

  it.live.each([
    [
      "update entry set note = 'x' where sequence = 6",
      ["entry 4 of account acct_a (number 6) is not what was written: its hash is another one"]
    ],
    [
      "update entry set credits = credits - 1 where sequence = 6",
      [
        "entry 4 of account acct_a (number 6) says that the balance is 4970 credits, and the entries before it say 4969",
        "the snapshot says that key key_a spent 160 of 1000 credits in 2026-10, and its charges say 161 of 1000",
        "the usage of key key_a of account acct_a on 2026-10-30 for /v1/branded-foods is 4 calls and 40 credits, and its charges are 4 and 41"
      ]
    ],
    [
      "update entry set balance = 9223372036854775807 where sequence = 6",
      [
        "entry 4 of account acct_a (number 6) says that the balance is 9223372036854775807 credits, and the entries before it say 4970",
        "entry 5 of account acct_a (number 8) says that the balance is 4960 credits, and the entries before it say 9223372036854775797"
      ]
    ],
    [
      "update entry set request_id = 'req_5' where sequence = 6",
      [
        "entry 4 of account acct_a (number 6) is not what was written: its hash is another one",
        "request req_5 was charged 2 times"
      ]
    ],
    [
      "update entry set budget_credits = 1 where key_id = 'key_b' and sequence > 60",
      ["entry 21 of account acct_b (number 61) is not what was written: its hash is another one"]
    ],
    [
      "update usage_of_day set calls = calls + 1 where day = '2026-10-31' and key_id = 'key_b' and endpoint = '/v1/stores'",
      [
        "the usage of key key_b of account acct_b on 2026-10-31 for /v1/stores is 5 calls and 40 credits, and its charges are 4 and 40",
        "the sums of usage of 2026-10-31 acct_b /v1/stores in usage_of_endpoint differ from its days",
        "the sums of usage of 24321 acct_b key_b /v1/stores in usage_of_month differ from its days"
      ]
    ],
    [
      "delete from usage_of_day where day = '2026-10-31' and key_id = 'key_b' and endpoint = '/v1/stores'",
      [
        "the usage of key key_b of account acct_b on 2026-10-31 for /v1/stores is 0 calls and 0 credits, and its charges are 4 and 40",
        "the sums of usage of 2026-10-31 acct_b /v1/stores in usage_of_endpoint differ from its days",
        "the sums of usage of 24321 acct_b key_b /v1/stores in usage_of_month differ from its days"
      ]
    ],
    [
      "insert into usage_of_day from usage_of_day where day = '2026-10-31' and key_id = 'key_b' and endpoint = '/v1/stores'",
      [
        "the usage of key key_b of account acct_b on 2026-10-31 for /v1/stores is 8 calls and 80 credits, and its charges are 4 and 40",
        "the sums of usage of 2026-10-31 acct_b /v1/stores in usage_of_endpoint differ from its days",
        "the sums of usage of 24321 acct_b key_b /v1/stores in usage_of_month differ from its days"
      ]
    ],
    [
      "update usage_of_endpoint set calls = calls + if(endpoint = '/v1/stores', 1, -1) where day = '2026-10-31' and account_id = 'acct_b'",
      [
        "the sums of usage of 2026-10-31 acct_b /v1/branded-foods in usage_of_endpoint differ from its days",
        "the sums of usage of 2026-10-31 acct_b /v1/stores in usage_of_endpoint differ from its days"
      ]
    ],
    [
      "update usage_of_month set credits = 0 where key_id = 'key_b' and endpoint = '/v1/stores' and month = 24321",
      ["the sums of usage of 24321 acct_b key_b /v1/stores in usage_of_month differ from its days"]
    ],
    [
      "update usage_of_day set key_hash = 1 where day = '2026-10-31' and key_id = 'key_b' and endpoint = '/v1/stores'",
      ["the usage of key key_b on 2026-10-31 cannot be found by its key"]
    ]
  ] as const)("finds damage to what the snapshot covers: %s", ([sql, problems]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsAfter(sql), [...problems])
    })
  )

  it.live("finds damage that was there before the ledger was opened from its snapshot", () =>
    Effect.gen(function* () {
      const folder = yield* snapshottedCopy
      yield* inDatabase(
        folder,
        `update entry set note = 'x' where sequence = 6;
        delete from usage_of_day where day = '2026-10-31' and key_id = 'key_b' and endpoint = '/v1/stores'`
      )
      assert.deepStrictEqual((yield* verified(folder)).problems, [
        "entry 4 of account acct_a (number 6) is not what was written: its hash is another one",
        "the usage of key key_b of account acct_b on 2026-10-31 for /v1/stores is 0 calls and 0 credits, and its charges are 4 and 40"
      ])
    }).pipe(Effect.scoped)
  )

  it.live("finds charges without a key, an endpoint and a request", () =>
    Effect.gen(function* () {
      const problems = yield* problemsAfter(
        "update entry set key_id = null, endpoint = null, request_id = null where sequence > 60"
      )
      assert.include(problems, "entry 41 of account acct_a was charged to key null, which is no key of this account")
      assert.include(problems, "request null was charged 2 times")
    }).pipe(Effect.scoped)
  )

  it.live(
    "finds a call that was refunded twice, a payment that was booked twice, and a balance below 0 that no refund explains",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const write = author()
        const nothing = { key_id: null, endpoint: null, budget_credits: null, note: "paid by card" }
        const topUp = { ...aCharge("pay_1", { ...nothing, credits: 10_000 }), type: "top_up" as const }
        const refund = { ...aCharge("re_1", { ...nothing, credits: -15_000 }), type: "refund" as const }
        const givenBack = aRefund(aCharge("req_3", { occurred_at: "2026-10-30T00:00:00.000Z" }))
        yield* written(folder, [...sampleGroups(write), write({ entries: [givenBack, topUp, refund] })])
        yield* takeSnapshot(folder)
        const sound = { accounts: 2, keys: 3, entries: 65, balance_credits: 4_410, problems: [] }
        assert.deepStrictEqual(yield* verified(folder), sound)
        yield* written(folder, [write({ entries: [topUp, givenBack] })])
        const twice = ["request req_3 was given back 2 times", "top_up pay_1 was booked 2 times"]
        assert.deepStrictEqual((yield* verified(folder)).problems.toSorted(), twice)
        yield* inDatabase(folder, "update entry set type = 'top_up' where request_id = 're_1'")
        assert.deepStrictEqual((yield* verified(folder)).problems.toSorted(), [
          "entry 44 of account acct_a (number 65) is not what was written: its hash is another one",
          "entry 44 of account acct_a (number 65) leaves a balance of -390 credits",
          ...twice
        ])
      }).pipe(Effect.scoped)
  )

  it.live("finds missing entries that the snapshot covers", () =>
    Effect.gen(function* () {
      const problems = yield* problemsAfter("delete from entry where sequence = 6")
      assert.include(problems, "entry 7 follows entry 5, so entries are missing")
      assert.include(
        problems,
        "entry 5 of account acct_a (number 8) does not follow an entry 4, so entries are missing"
      )
    }).pipe(Effect.scoped)
  )

  it.live("finds a snapshot that is wrong although its digest is right", () =>
    Effect.gen(function* () {
      const folder = yield* snapshottedCopy
      const digest = `(select sha256(concat(sequence, e'\\n',
        (select string_agg(concat_ws(' ', account_id, position, balance, hash), e'\\n' order by account_id) from snapshot_account), e'\\n',
        (select string_agg(concat_ws(' ', key_id, month, spent, budget), e'\\n' order by key_id, month) from snapshot_spending))))`
      yield* inDatabase(
        folder,
        `update snapshot_account set balance = balance + 1000 where account_id = 'acct_b';
        update snapshot_spending set spent = spent - 10 where key_id = 'key_c' and month = ${2026 * 12 + 10};
        update snapshot set digest = ${digest}`
      )
      assert.deepStrictEqual((yield* verified(folder)).problems, [
        "the snapshot says that account acct_b is at its entry 21 with 5800 credits, and its entries say 21 with 4800",
        "the snapshot says that key key_c spent 30 of 1000 credits in 2026-11, and its charges say 40 of 1000",
        "account acct_b is at its entry 21 with 5800 credits in the running server, and at its entry 21 with 4800 credits in the database"
      ])
    }).pipe(Effect.scoped)
  )

  it.live("finds a difference between the running server and the database", () =>
    Effect.gen(function* () {
      const folder = yield* plainCopy
      const heads = new Map([["acct_x", { ...beginning, balance: 5 }]])
      const [{ problems }, { problems: others }] = yield* opened(folder, (store) =>
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

  it.live("reports at most 100 problems", () =>
    Effect.gen(function* () {
      const doubled = "insert into entry select * replace (sequence + 100 as sequence) from entry"
      assert.strictEqual((yield* problemsAfter(`${doubled}; update entry set note = 'x'`)).length, 100)
    }).pipe(Effect.scoped)
  )
})
