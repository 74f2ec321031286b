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
  writeGroups
} from "@larder/test/support/serve/sample-ledger.ts"
import { Effect } from "effect"
import type { UsageOfDay } from "../administration.ts"
import { sumUsage } from "../summed-usage.ts"
import { monthOf } from "../utc-calendar.ts"
import { openEmbeddedLedger } from "./embedded-ledger.ts"
import type { LedgerStore } from "./embedded-store.ts"

const october = { account_id: "acct_a", from: "2026-10-01", to: "2026-10-31" }
const wholeYear = { account_id: "acct_a", from: "2026-01-01", to: "2026-12-31" }

/** The expected sums, computed from the groups that were written. */
const sumExpected = (groups: ReturnType<typeof sampleGroups>, accountId: string): ReadonlyArray<UsageOfDay> => {
  const sums = new Map<string, { day: string; key_id: string; endpoint: string; calls: number; credits: number }>()
  for (const entry of groups.flatMap(({ entries }) => entries)) {
    if (entry.account_id !== accountId || entry.key_id === null || entry.endpoint === null) continue
    const day = entry.occurred_at.slice(0, 10)
    const id = `${day} ${entry.key_id} ${entry.endpoint}`
    const sum = sums.get(id) ?? { day, key_id: entry.key_id, endpoint: entry.endpoint, calls: 0, credits: 0 }
    sums.set(id, { ...sum, calls: sum.calls + 1, credits: sum.credits - entry.credits })
  }
  return [...sums.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

const sampleLedger = sampleCopy({ hasDerivedTables: false })

describe("usage", () => {
  it.live("is counted per UTC day, key and endpoint, including both ends of the period", () =>
    Effect.gen(function* () {
      const folder = yield* sampleLedger
      const [usage, usageOfYear] = yield* useStore(folder, (store) =>
        Effect.all([store.usage(october), store.usage(wholeYear)])
      )
      assert.deepStrictEqual(usage.slice(0, 2), [
        { day: "2026-10-30", key_id: "key_a", endpoint: "/v1/branded-foods", calls: 4, credits: 40 },
        { day: "2026-10-30", key_id: "key_a", endpoint: "/v1/stores", calls: 4, credits: 40 }
      ])
      assert.deepStrictEqual([...new Set(usage.map(({ day }) => day))], ["2026-10-30", "2026-10-31"])
      assert.deepStrictEqual(usageOfYear, sumExpected(sampleGroups(), "acct_a"))
    }).pipe(Effect.scoped)
  )

  it.live("is the same, listed or summed, whether the tables include all entries, some or none", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const groups = sampleGroups()
      const check = (store: LedgerStore, written: ReturnType<typeof sampleGroups>, query = wholeYear) =>
        Effect.gen(function* () {
          const rows = sumExpected(written, "acct_a").filter(({ day }) => query.from <= day && day <= query.to)
          assert.deepStrictEqual(yield* store.usage(query), rows)
          assert.deepStrictEqual(yield* store.summedUsage(query), sumUsage(rows))
          const key_id = "key_a"
          const endpoint = "/v1/stores"
          const selected = rows.filter((row) => row.key_id === key_id && row.endpoint === endpoint)
          assert.deepStrictEqual(yield* store.usage({ ...query, key_id, endpoint }), selected)
          assert.deepStrictEqual(yield* store.summedUsage({ ...query, key_id, endpoint }), sumUsage(selected))
        })
      for (const followed of [0, 20, 45, groups.length]) {
        const ledgerFolder = `${folder}-${followed}`
        yield* writeGroups(ledgerFolder, groups.slice(0, followed))
        yield* updateDerivedTables(ledgerFolder)
        yield* writeGroups(ledgerFolder, groups.slice(followed))
        yield* useStore(ledgerFolder, (store) => Effect.andThen(check(store, groups), check(store, groups, october)))
      }
    }).pipe(Effect.scoped)
  )

  it.live("counts a charge on the day of its admission, even at the last millisecond", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const write = makeWriter()
      const lateCharges = ["2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z"].map((occurred_at, index) =>
        aCharge(`late_${index}`, { occurred_at })
      )
      yield* writeGroups(folder, [...sampleGroups(write), write({ entries: lateCharges })])
      const usage = yield* useStore(folder, (store) =>
        store.usage({ ...wholeYear, from: "2026-12-01", to: "2027-01-01" })
      )
      assert.deepStrictEqual(
        usage.map(({ calls, day }) => [day, calls]),
        [
          ["2026-12-31", 1],
          ["2027-01-01", 1]
        ]
      )
      assert.strictEqual(monthOf(Date.parse(lateCharges[0]?.occurred_at ?? "")), 2026 * 12 + 11)
    }).pipe(Effect.scoped)
  )

  it.live("omits a refunded call, as spending does, even if the tables include only its charge", () =>
    Effect.gen(function* () {
      for (const updateTables of [updateDerivedTables, () => Effect.void]) {
        const folder = yield* temporaryFolder
        const write = makeWriter()
        const charge = (id: string, endpoint: string) =>
          aCharge(id, { occurred_at: "2026-12-31T23:59:59.999Z", credits: -100, endpoint })
        const [successful, refunded] = [
          charge("req_successful", "/v1/stores"),
          charge("req_refunded", "/v1/branded-foods")
        ]
        yield* writeGroups(folder, [...sampleGroups(write), write({ entries: [successful, refunded] })])
        yield* updateTables(folder)
        const { state, summed, usage } = yield* useStore(folder, (store) =>
          Effect.gen(function* () {
            yield* append(store, [write({ entries: [aRefund(refunded)] })])
            const december = { ...wholeYear, from: "2026-12-01" }
            const summed = yield* store.summedUsage(december)
            return { summed, usage: yield* store.usage(december) }
          })
        ).pipe(
          Effect.flatMap((read) => useStore(folder, (store) => Effect.map(store.load, (state) => ({ ...read, state }))))
        )
        assert.deepStrictEqual(summed.by_day, [{ name: "2026-12-31", calls: 1, credits: 100 }])
        assert.deepStrictEqual(usage, [
          { day: "2026-12-31", key_id: "key_a", endpoint: "/v1/branded-foods", calls: 0, credits: 0 },
          { day: "2026-12-31", key_id: "key_a", endpoint: "/v1/stores", calls: 1, credits: 100 }
        ])
        assert.deepStrictEqual(
          state.spending.filter(({ month }) => month === 2026 * 12 + 11),
          [{ key_id: "key_a", month: 2026 * 12 + 11, spent: 100 }]
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("fails for an unknown account, and is empty for an account without calls", () =>
    Effect.gen(function* () {
      const { administration } = yield* openEmbeddedLedger(yield* temporaryFolder)
      const error = yield* Effect.flip(administration.usage(october))
      assert.strictEqual(error._tag, "UnknownAccount")
      const { id } = yield* administration.createAccount({ name: "A" })
      for (const part of [{}, { key_id: "key_none" }]) {
        assert.deepStrictEqual(yield* administration.usage({ ...wholeYear, account_id: id, ...part }), [])
      }
    }).pipe(Effect.scoped)
  )
})
