import { assert, describe, it } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { aLayout } from "@larder/test/support/warehouse/example-data-set.ts"
import { publishReads, type StoreRead } from "@larder/test/support/warehouse/store-reads.ts"
import { readLive, storefront } from "@larder/warehouse"
import { Effect } from "effect"
import { computeDueRange, computeDueTime, type LastRead, readLastReads } from "./schedule.ts"

const hour = 3_600_000
const day = 24 * hour
const bounds = { minInterval: 0, maxInterval: 7 * day }
const now = Date.parse("2026-09-30T03:00:00Z")

/** Hours until the next read of a store that was read just now and had not changed for `hours`. */
const computeWait = (hours: number, domain = "shop.example", limits = bounds) => {
  const last = { domain, run_started_at: now, read_at: now, unchanged_since: now - hours * hour, sale_changes_at: null }
  return (computeDueTime(last, limits) - now) / hour
}
const domains = Array.from({ length: 1000 }, (_, n) => `shop-${n}.example`)

describe("the schedule of a store", () => {
  it("reads a store again in the next run if the last read found a change", () => {
    assert.strictEqual(computeWait(0), 0)
  })

  it.each([2, 24, 96])(
    "reads a store that was unchanged for %s hours again after half to all of that time",
    (hours) => {
      const waits = domains.map((domain) => computeWait(hours, domain))
      assert.isAtLeast(Math.min(...waits), hours / 2)
      assert.isBelow(Math.max(...waits), hours)
    }
  )

  it("waits at most a week, and spreads stores that never change over half of it", () => {
    const waits = domains.map((domain) => computeWait(5000, domain))
    assert.isBelow(Math.max(...waits), 7 * 24)
    const halfDays = Map.groupBy(waits, (wait) => Math.floor(wait / 12))
    assert.strictEqual(halfDays.size, 7)
    for (const [half, { length }] of halfDays) assert.closeTo(length, 143, 40, `half day ${half}`)
  })

  it("never reads before the minimum interval is over, counted from run to run", () => {
    const limits = { minInterval: 20 * hour, maxInterval: 7 * day }
    assert.strictEqual(computeWait(0, "shop.example", limits), 20)
    const [run_started_at, read_at] = [now, now + 3 * hour]
    const slow = { domain: "shop.example", run_started_at, read_at, unchanged_since: now, sale_changes_at: null }
    assert.strictEqual(computeDueTime(slow, limits), now + 20 * hour)
  })

  it.each([
    [bounds, "2026-09-30T03:00:00.000Z", "2026-10-07T03:00:00.000Z"],
    [{ minInterval: 20 * hour, maxInterval: 30 * day }, "2026-09-30T23:00:00.000Z", "2026-10-30T03:00:00.000Z"],
    [{ minInterval: 20 * hour, maxInterval: 0 }, "2026-09-30T03:00:00.000Z", "2026-09-30T03:00:00.000Z"],
    [{ minInterval: 0, maxInterval: Number.POSITIVE_INFINITY }, "2026-09-30T03:00:00.000Z", "9999-12-31T00:00:00.000Z"]
  ] as const)("knows before it knows a change between which times a store is due: %o", (limits, due_from, due_by) => {
    assert.deepStrictEqual(computeDueRange(now, limits), { due_from, due_by })
  })

  it("reads every store in every run if the maximum interval is 0", () => {
    assert.strictEqual(computeWait(5000, "shop.example", { minInterval: 20 * hour, maxInterval: 0 }), 0)
  })

  it("reads a store again when a sale begins or ends, even before the minimum interval is over", () => {
    const last = { domain: "shop.example", run_started_at: now, read_at: now, unchanged_since: now - 96 * hour }
    const dueAt = (sale_changes_at: number, limits = bounds) => computeDueTime({ ...last, sale_changes_at }, limits)
    assert.strictEqual(dueAt(now + hour), now + hour)
    assert.strictEqual(dueAt(now + hour, { minInterval: 20 * hour, maxInterval: 7 * day }), now + hour)
    assert.isBelow(dueAt(now + 200 * hour), now + 96 * hour)
  })

  it("is always the same for the same reads", () => {
    assert.strictEqual(computeWait(96), computeWait(96))
    assert.notStrictEqual(computeWait(96), computeWait(96, "other.example"))
  })
})

const bread = (store: string, set: Readonly<Record<string, string>> = {}, price = 2.5) => ({
  products: [{ id: `${store}.bread`, set, variants: [{ variant_id: `${store}.bread.1`, price }] }]
})
const fresh = (store: string, members: ReadonlyArray<string>) => ({
  collections: [{ id: `${store}.fresh`, set: { product_ids: members } }]
})

/** What three runs read of each store, on the first, third and fifth of January. */
const reads: Readonly<Record<string, ReadonlyArray<Omit<StoreRead, "day">>>> = {
  same: Array(3).fill(bread("same")),
  priced: [bread("priced"), bread("priced", {}, 3), bread("priced", {}, 3)],
  renamed: [bread("renamed"), bread("renamed", { title: "Rye" }), bread("renamed", { title: "Rye" })],
  removed: [bread("removed"), {}, {}],
  collected: [fresh("collected", []), fresh("collected", ["a"]), fresh("collected", ["a"])],
  closed: [bread("closed"), { status: "failed" }, { status: "failed" }],
  opened: [{ status: "failed" }, { status: "failed" }, bread("opened")],
  broken: [bread("broken"), { status: "partial", ...bread("broken") }, { status: "partial", ...bread("broken") }]
}

describe("the next sale of a store in a generation", () => {
  const future = "2026-01-09T12:00:00Z"
  const stores: Readonly<Record<string, ReadonlyArray<Partial<StoreRead>>>> = {
    coming: [{ sale_changes_at: "2026-01-04T00:00:00Z" }, { sale_changes_at: future }],
    over: [{ sale_changes_at: "2026-01-04T00:00:00Z" }, { status: "failed" }],
    dropped: [{ sale_changes_at: future }, {}],
    kept: [{ sale_changes_at: future }, { status: "failed" }]
  }
  itLive("is what its last successful read stated, until it is in the past", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      for (const [index, day] of [1, 5].entries()) {
        const dayReads = Object.entries(stores).map(
          ([store, its]): StoreRead => ({ ...bread(store), ...its[index], day, store })
        )
        yield* publishReads(layout, ...dayReads)
      }
      const none: ReadonlyMap<string, LastRead> = new Map()
      const known = yield* readLive(layout, storefront, none, (db) => readLastReads(db, "of this version"))
      const changes = [...known.values()].map(({ domain, sale_changes_at }) => [domain.split(".")[0], sale_changes_at])
      assert.deepStrictEqual(Object.fromEntries(changes), {
        coming: Date.parse(future),
        over: null,
        dropped: null,
        kept: Date.parse(future)
      })
    })
  )
})

describe("the last change of a store in a generation", () => {
  itLive("is the last read that changed a price, a product, a collection or the status of the reads", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      for (const [index, day] of [1, 3, 5].entries()) {
        yield* publishReads(
          layout,
          ...Object.entries(reads).map(([store, storeReads]): StoreRead => ({ ...storeReads[index], day, store }))
        )
      }
      const none: ReadonlyMap<string, LastRead> = new Map()
      const known = yield* readLive(layout, storefront, none, (db) => readLastReads(db, "of this version"))
      const dayOf = (time: number) => new Date(time).getUTCDate()
      const summaries = [...known.values()].map(
        ({ domain, last_successful_run_id, read_at, run_id, unchanged_since }) => [
          domain.split(".")[0],
          { read: dayOf(read_at), since: dayOf(unchanged_since), run_id, last_successful_run_id }
        ]
      )
      const fetched = { read: 5, run_id: "run-5", last_successful_run_id: "run-5" }
      assert.deepStrictEqual(Object.fromEntries(summaries), {
        same: { ...fetched, since: 1 },
        priced: { ...fetched, since: 3 },
        renamed: { ...fetched, since: 3 },
        removed: { ...fetched, since: 3 },
        collected: { ...fetched, since: 3 },
        closed: { ...fetched, since: 3, last_successful_run_id: "run-1" },
        opened: { ...fetched, since: 5 },
        broken: { ...fetched, since: 3 }
      })
    })
  )
})
