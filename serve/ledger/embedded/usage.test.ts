import { readdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import {
  aCharge,
  append,
  aRefund,
  author,
  inDatabase,
  opened,
  sampleCopy,
  sampleGroups,
  takeSnapshot,
  temporaryFolder,
  written
} from "@larder/test/support/serve/sample-ledger.ts"
import { Effect, Stream } from "effect"
import type { UsageOfDay } from "../administration.ts"
import { monthOf } from "../moments.ts"
import { sumUp } from "../summed-usage.ts"
import { embeddedLedger } from "./embedded-ledger.ts"
import { bytesOf } from "./journal-group.ts"
import type { LedgerStore } from "./store.ts"

const october = { account_id: "acct_a", from: "2026-10-01", to: "2026-10-31" }
const everything = { account_id: "acct_a", from: "2026-01-01", to: "2026-12-31" }

/** The same sums, from the groups that were written. */
const expected = (groups: ReturnType<typeof sampleGroups>, accountId: string): ReadonlyArray<UsageOfDay> => {
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

const sampleLedger = sampleCopy({ withSnapshot: false })

describe("usage", () => {
  it.live("is counted per UTC day, key and endpoint, both ends of the period included", () =>
    Effect.gen(function* () {
      const folder = yield* sampleLedger
      const [usage, all] = yield* opened(folder, (store) => Effect.all([store.usage(october), store.usage(everything)]))
      assert.deepStrictEqual(usage.slice(0, 2), [
        { day: "2026-10-30", key_id: "key_a", endpoint: "/v1/branded-foods", calls: 4, credits: 40 },
        { day: "2026-10-30", key_id: "key_a", endpoint: "/v1/stores", calls: 4, credits: 40 }
      ])
      assert.deepStrictEqual([...new Set(usage.map(({ day }) => day))], ["2026-10-30", "2026-10-31"])
      assert.deepStrictEqual(all, expected(sampleGroups(), "acct_a"))
    }).pipe(Effect.scoped)
  )

  it.live("includes the journal, also when it fills many files", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const groups = sampleGroups()
      yield* opened(
        folder,
        (store) =>
          Effect.gen(function* () {
            yield* append(store, groups.slice(0, 33))
            assert.deepStrictEqual(yield* store.usage(everything), expected(groups.slice(0, 33), "acct_a"))
            yield* append(store, groups.slice(33))
            assert.deepStrictEqual(yield* store.usage(everything), expected(groups, "acct_a"))
          }),
        { journalFileSize: 2048 }
      )
    }).pipe(Effect.scoped)
  )

  it.live("is the same, listed or summed, in the journal, on the way into the database and there", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const groups = sampleGroups()
      const check = (store: LedgerStore, written: ReturnType<typeof sampleGroups>, asked = everything) =>
        Effect.gen(function* () {
          const rows = expected(written, "acct_a").filter(({ day }) => asked.from <= day && day <= asked.to)
          assert.deepStrictEqual(yield* store.usage(asked), rows)
          assert.deepStrictEqual(yield* store.summedUsage(asked), sumUp(rows))
          const key_id = "key_a"
          const endpoint = "/v1/stores"
          const ofOne = rows.filter((row) => row.key_id === key_id && row.endpoint === endpoint)
          assert.deepStrictEqual(yield* store.usage({ ...asked, key_id, endpoint }), ofOne)
          assert.deepStrictEqual(yield* store.summedUsage({ ...asked, key_id, endpoint }), sumUp(ofOne))
        })
      yield* opened(
        folder,
        (store) =>
          Effect.gen(function* () {
            for (const [index, group] of groups.entries()) {
              yield* append(store, [group])
              if (index % 5 === 0) yield* check(store, groups.slice(0, index + 1))
              yield* Effect.yieldNow
            }
            yield* check(store, groups, october)
            yield* Stream.runDrain(store.entriesOf("acct_a")) // takes everything up
            yield* check(store, groups)
          }),
        { journalFileSize: 2048 }
      )
      yield* opened(folder, (store) => check(store, groups))
    }).pipe(Effect.scoped)
  )

  it.live.each([
    "alter table usage_of_day drop key_hash; drop table usage_of_endpoint; drop table usage_of_month",
    "delete from usage_of_endpoint; delete from usage_of_month where key_id = 'key_a'"
  ])("is rebuilt after an earlier version has written the ledger: %s", (earlier) =>
    Effect.gen(function* () {
      const folder = yield* sampleLedger
      yield* inDatabase(folder, earlier)
      const ofA = expected(sampleGroups(), "acct_a")
      for (const _ of ["brought up to date", "opened again"]) {
        const [all, one, { problems }] = yield* opened(folder, (store) =>
          Effect.all([
            store.summedUsage(everything),
            store.summedUsage({ ...everything, key_id: "key_a" }),
            store.verify({ sequence: 0, heads: new Map() })
          ])
        )
        assert.deepStrictEqual(all, sumUp(ofA))
        assert.deepStrictEqual(one, sumUp(ofA.filter(({ key_id }) => key_id === "key_a")))
        assert.deepStrictEqual(problems, [])
      }
    }).pipe(Effect.scoped)
  )

  it.live("leaves the journal as it is when it is listed or summed", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* opened(folder, (store) =>
        Effect.gen(function* () {
          yield* append(store, sampleGroups())
          const before = readdirSync(folder).toSorted()
          assert.isNotEmpty(yield* store.usage(everything))
          assert.isNotEmpty((yield* store.summedUsage(everything)).by_day)
          assert.deepStrictEqual(readdirSync(folder).toSorted(), before)
        })
      )
    }).pipe(Effect.scoped)
  )

  it.live("counts a charge once when its journal file is read again after a crash", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const groups = sampleGroups()
      yield* written(folder, groups.slice(0, 40))
      const again = Buffer.concat(groups.slice(30).map((group) => bytesOf(1, group)))
      writeFileSync(path.join(folder, "journal-000001.ndjson"), again)
      const usage = yield* opened(folder, (store) => store.usage(everything))
      assert.deepStrictEqual(usage, expected(groups, "acct_a"))
    }).pipe(Effect.scoped)
  )

  it.live("counts a charge towards the day of its admission, at the last millisecond too", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const write = author()
      const late = ["2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z"].map((occurred_at, index) =>
        aCharge(`late_${index}`, { occurred_at })
      )
      yield* written(folder, [...sampleGroups(write), write({ entries: late })])
      const usage = yield* opened(folder, (store) =>
        store.usage({ ...everything, from: "2026-12-01", to: "2027-01-01" })
      )
      assert.deepStrictEqual(
        usage.map(({ calls, day }) => [day, calls]),
        [
          ["2026-12-31", 1],
          ["2027-01-01", 1]
        ]
      )
      assert.strictEqual(monthOf(Date.parse(late[0]?.occurred_at ?? "")), 2026 * 12 + 11)
    }).pipe(Effect.scoped)
  )

  it.live("leaves out a refunded call, as spending does, with and without a snapshot in between", () =>
    Effect.gen(function* () {
      for (const between of [takeSnapshot, () => Effect.void]) {
        const folder = yield* temporaryFolder
        const write = author()
        const charge = (id: string, endpoint: string) =>
          aCharge(id, { occurred_at: "2026-12-31T23:59:59.999Z", credits: -100, endpoint })
        const [kept, lost] = [charge("kept", "/v1/stores"), charge("lost", "/v1/branded-foods")]
        yield* written(folder, [...sampleGroups(write), write({ entries: [kept, lost] })])
        yield* between(folder)
        const { state, summed, usage } = yield* opened(folder, (store) =>
          Effect.gen(function* () {
            yield* append(store, [write({ entries: [aRefund(lost)] })])
            const december = { ...everything, from: "2026-12-01" }
            const summed = yield* store.summedUsage(december) // the charge is in the database, its refund in the journal
            return { summed, usage: yield* store.usage(december) }
          })
        ).pipe(
          Effect.flatMap((told) => opened(folder, (store) => Effect.map(store.load, (state) => ({ ...told, state }))))
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
      const { administration } = yield* embeddedLedger(yield* temporaryFolder)
      const error = yield* Effect.flip(administration.usage(october))
      assert.strictEqual(error._tag, "UnknownAccount")
      const { id } = yield* administration.createAccount({ name: "A" })
      assert.deepStrictEqual(yield* administration.usage({ ...everything, account_id: id }), [])
    }).pipe(Effect.scoped)
  )
})
