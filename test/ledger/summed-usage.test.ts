/** Usage by day, by key and by endpoint, and the maximum number of keys, in both stores. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { LedgerAccess } from "@larder/serve/ledger"
import { openEmbeddedLedger } from "@larder/serve/ledger/embedded/embedded-ledger.ts"
import { sumUsage } from "@larder/serve/ledger/summed-usage.ts"
import { Effect, Result } from "effect"
import { copyKeys } from "../postgres/copied-keys.ts"
import { database, makeKey, november, october, open } from "./shared-ledger.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-usage-"))),
  (created) => Effect.sync(() => rmSync(created, { recursive: true, force: true }))
)

const createKeys = ({ administration }: LedgerAccess, account_id: string, count: number) =>
  Effect.all(
    Array.from({ length: count }, () =>
      administration.createKey({ account_id, name: "k", scopes: ["get-store"], budget_credits: 0 })
    ),
    { concurrency: 8, discard: true }
  )
const createAndCopyKeys = Effect.fnUntraced(function* (
  url: string,
  ledger: LedgerAccess,
  account_id: string,
  count: number
) {
  yield* createKeys(ledger, account_id, 1)
  yield* Effect.promise(() => copyKeys(url, account_id, count))
})

/** Each creates a ledger, and returns how to open it and how to give an account many keys. */
const newLedgers = {
  "a folder": Effect.map(folder, (created) => ({
    opening: openEmbeddedLedger(path.join(created, "ledger")),
    addKeys: createKeys
  })),
  PostgreSQL: Effect.map(database, (url) => ({
    opening: open(url),
    addKeys: (ledger: LedgerAccess, account_id: string, count: number) =>
      createAndCopyKeys(url, ledger, account_id, count)
  }))
}

const call = (ledger: LedgerAccess, key: string, endpoint: string, credits: number, now: number) =>
  Effect.promise(async () => {
    const view = await ledger.authenticate(key, Date.now())
    if (view === undefined) throw new Error("there is no such key")
    const admission = await ledger.hold(view, { endpoint, scope: "get-store", credits }, now)
    if (!("held" in admission)) throw new Error(admission.refused)
    await admission.held.capture(`req_${crypto.randomUUID()}`)
  })

/** The first and last days of months, a leap day, and days next to them. */
const calledDays = ["2026-12-31", "2027-01-01", "2028-01-31", "2028-02-01", "2028-02-15", "2028-02-29", "2028-03-01"]
/** Each with the number of its days that had calls. */
const periods = [
  ["2026-01-01", "2028-12-31", 7],
  ["2026-12-31", "2027-01-01", 2],
  ["2027-01-01", "2027-01-01", 1],
  ["2027-01-02", "2028-01-30", 0],
  ["2028-01-31", "2028-02-29", 4],
  ["2028-02-01", "2028-02-29", 3],
  ["2028-02-01", "2028-02-28", 2],
  ["2028-02-02", "2028-02-29", 2],
  ["2028-02-02", "2028-02-28", 1],
  ["2028-02-15", "2028-03-01", 3],
  ["2028-03-01", "2028-02-01", 0],
  ["0001-01-01", "9999-12-31", 7]
] as const

describe.each(Object.entries(newLedgers))("summed usage in %s", (_, newLedger) => {
  it.live("is grouped by day, by key and by endpoint, for all calls or for some", () =>
    Effect.gen(function* () {
      const { opening } = yield* newLedger
      const check = Effect.fnUntraced(function* (ledger: LedgerAccess, account_id: string, a: string, b: string) {
        const { summedUsage } = ledger.administration
        const days = { account_id, from: "2026-10-01", to: "2026-11-30" }
        const stores = { name: "/v1/stores", calls: 3, credits: 300 }
        assert.deepStrictEqual(yield* summedUsage(days), {
          by_day: [
            { name: "2026-10-31", calls: 3, credits: 210 },
            { name: "2026-11-01", calls: 1, credits: 100 }
          ],
          by_key: [
            { name: b, calls: 2, credits: 200 },
            { name: a, calls: 2, credits: 110 }
          ],
          by_endpoint: [stores, { name: "/v1/commodities", calls: 1, credits: 10 }]
        })
        assert.deepStrictEqual((yield* summedUsage({ ...days, to: "2026-10-31" })).by_day, [
          { name: "2026-10-31", calls: 3, credits: 210 }
        ])
        assert.deepStrictEqual(yield* summedUsage({ ...days, key_id: a, endpoint: "/v1/stores" }), {
          by_day: [{ name: "2026-10-31", calls: 1, credits: 100 }],
          by_key: [{ name: a, calls: 1, credits: 100 }],
          by_endpoint: [{ ...stores, calls: 1, credits: 100 }]
        })
        assert.deepStrictEqual((yield* summedUsage({ ...days, endpoint: "/v1/stores" })).by_endpoint, [stores])
        assert.deepStrictEqual((yield* summedUsage({ ...days, key_id: b })).by_key, [
          { name: b, calls: 2, credits: 200 }
        ])
        const none = { by_day: [], by_key: [], by_endpoint: [] }
        assert.deepStrictEqual(yield* summedUsage({ ...days, from: "2026-11-02" }), none)
        assert.deepStrictEqual(yield* summedUsage({ ...days, key_id: "key_none" }), none)
      })
      const known = yield* Effect.gen(function* () {
        const ledger = yield* opening
        const [one, foreign] = [yield* makeKey(ledger), yield* makeKey(ledger)]
        const { account_id } = one
        const key = { account_id, name: "other", scopes: ["get-store"], budget_credits: 1_000 } as const
        const other = yield* ledger.administration.createKey(key)
        yield* call(ledger, one.key, "/v1/stores", 100, october)
        yield* call(ledger, one.key, "/v1/commodities", 10, october)
        yield* call(ledger, other.key, "/v1/stores", 100, october)
        yield* call(ledger, other.key, "/v1/stores", 100, november)
        yield* call(ledger, foreign.key, "/v1/stores", 100, november)
        yield* check(ledger, account_id, one.id, other.id)
        return [account_id, one.id, other.id] as const
      }).pipe(Effect.scoped)
      const ledger = yield* opening
      yield* check(ledger, ...known)
      const error = yield* Effect.flip(
        ledger.administration.summedUsage({ account_id: "acct_none", from: "2026-10-01", to: "2026-10-31" })
      )
      assert.strictEqual(error._tag, "UnknownAccount")
    }).pipe(Effect.scoped)
  )

  it.live("is the sum of its rows, even for periods that begin and end within a month", () =>
    Effect.gen(function* () {
      const { opening } = yield* newLedger
      const check = Effect.fnUntraced(function* ({ administration }: LedgerAccess, account_id: string, id: string) {
        const { summedUsage, usage } = administration
        for (const [from, to, days] of periods) {
          for (const part of [
            {},
            { key_id: id },
            { endpoint: "/v1/commodities" },
            { key_id: id, endpoint: "/v1/none" }
          ]) {
            const query = { account_id, from, to, ...part }
            const rows = yield* usage(query)
            assert.deepStrictEqual([query, yield* summedUsage(query)], [query, sumUsage(rows)])
            const isFiltered = "key_id" in part || "endpoint" in part
            if (!isFiltered) assert.deepStrictEqual([query, rows.length], [query, 2 * days])
          }
        }
        assert.deepStrictEqual((yield* administration.verify({})).problems, [])
      })
      const known = yield* Effect.gen(function* () {
        const ledger = yield* opening
        const { account_id, id, key } = yield* makeKey(ledger)
        const [other, foreign] = [
          yield* ledger.administration.createKey({ account_id, name: "o", scopes: ["get-store"], budget_credits: 100 }),
          yield* makeKey(ledger)
        ]
        for (const day of calledDays) {
          const noon = Date.parse(`${day}T12:00:00.000Z`)
          yield* call(ledger, key, "/v1/stores", 10, noon)
          yield* call(ledger, other.key, "/v1/commodities", 1, noon)
          yield* call(ledger, foreign.key, "/v1/stores", 10, noon)
        }
        yield* check(ledger, account_id, id)
        return [account_id, id] as const
      }).pipe(Effect.scoped)
      yield* check(yield* opening, ...known)
    }).pipe(Effect.scoped)
  )
})

describe.each(Object.entries(newLedgers))("the keys of an account in %s", (_, newLedger) => {
  it.live("are limited to 1,000 that are not revoked, even if several are created concurrently", () =>
    Effect.gen(function* () {
      const { addKeys, opening } = yield* newLedger
      const ledger = yield* opening
      const { administration } = ledger
      const { id: account_id } = yield* administration.createAccount({ name: "A" })
      const create = administration.createKey({ account_id, name: "k", scopes: ["get-store"], budget_credits: 0 })
      yield* addKeys(ledger, account_id, 995)
      const results = yield* Effect.all(
        Array.from({ length: 8 }, () => Effect.result(create)),
        { concurrency: "unbounded" }
      )
      const refused = results.filter(Result.isFailure).map(({ failure }) => failure)
      assert.deepStrictEqual(
        refused.map(({ _tag }) => _tag),
        ["TooManyKeys", "TooManyKeys", "TooManyKeys"]
      )
      assert.match(refused[0]?.message ?? "", /has 1,000 keys that are not revoked, and cannot have more\. Revoke one/)
      const [first] = yield* administration.listKeys({ account_id })
      yield* administration.revokeKey({ key_id: first?.id ?? "" })
      yield* create
      assert.strictEqual((yield* Effect.flip(create))._tag, "TooManyKeys")
      assert.strictEqual((yield* administration.listKeys({ account_id })).length, 1_001)
    }).pipe(Effect.scoped)
  )
})
