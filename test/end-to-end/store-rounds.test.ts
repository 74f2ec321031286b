/**
 * Runs over 20 stores that hardly change, days apart on an injected clock: which stores a run reads, its traffic compared
 * with a full run, and the same warehouse. `npm run bench -- rounds` has a thousand stores and a month.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import { Effect } from "effect"
import { afterAll, beforeAll } from "vitest"
import { type EndedRun, ingestLive } from "../support/pipelines/live-runs.ts"
import { startStores } from "../support/pipelines/store-rounds.ts"
import { makeTestFolder, removeFolder, temporaryFolder } from "./ingesting.ts"
import { expectSameStoresRebuilt } from "./rebuilt-stores.ts"
import { type Row, rowsOf } from "./storefronts.ts"

const missing = { domain: "missing.example", name: "Missing", kind: "shopify-csv", currency: "EUR" }
const local = { domain: "local.example", name: "Local", kind: "shopify-csv", location: "local.csv", currency: "EUR" }

const states = `
  select domain, fetch_status, fetched_at::varchar as fetched_at, read_at::varchar as read_at, store_status.run_id,
    (select count(*) from storefront.listing l where l.store_id = s.store_id)::integer as products
  from storefront.store s join storefront.store_status using (store_id) order by domain`
const listings = `
  select domain, list_sort(array_agg(l.title)) as titles from storefront.listing l
  join storefront.store using (store_id) group by domain`
const byDomain = (rows: ReadonlyArray<Row>) => new Map(rows.map((row) => [String(row.domain), row]))

describe("a list of stores that hardly change", () => {
  const [home, folder] = [temporaryFolder(), temporaryFolder()]
  const runs: Array<EndedRun> = []
  const traffic: Array<ReturnType<Effect.Success<ReturnType<typeof startStores>>["takeTraffic"]>> = []
  const known: Array<ReadonlyMap<string, Row>> = []
  let changed: ReadonlyArray<string> = []
  let currentTitles: ReadonlyMap<string, ReadonlyArray<string>>

  beforeAll(() =>
    Effect.gen(function* () {
      const stores = yield* startStores(20)
      const file = path.join(folder, "stores.json")
      writeFileSync(path.join(folder, "local.csv"), "Handle,Title,Variant Price\nrye,Rye bread,2.50\n")
      const environment = { LARDER_PRIVATE_HOSTS: "127.0.0.1", LARDER_STORE_FILES: folder }
      const ingest = (day: number, listed: ReadonlyArray<unknown>) => {
        writeFileSync(file, JSON.stringify(listed))
        const options = { home, stores: file, environment, ahead: `${day} days` } as const
        return Effect.promise(() => ingestLive(storefronts, options))
      }
      const [first, second, ...others] = stores.list
      const nowhere = { ...missing, location: `${first?.location}/nowhere` }
      const before = [first, ...others, nowhere, local]
      const after = [{ ...first, name: "Renamed" }, second, ...others, nowhere, local]
      for (const [day, listed] of [
        [0, before],
        [10, before],
        [11, after]
      ] as const) {
        changed = stores.changeStores(day)
        runs.push(yield* ingest(day, listed))
        traffic.push(stores.takeTraffic())
        known.push(byDomain(yield* Effect.promise(() => rowsOf(home, states))))
      }
      currentTitles = stores.listTitles()
    }).pipe(Effect.scoped, Effect.runPromise)
  )
  afterAll(() => [home, folder].forEach(removeFolder))

  it("gets conditional requests when it is due, and has the same counts as after a full read", () => {
    const [first, second] = runs
    assert.deepStrictEqual([first?.run?.outcome, second?.run?.outcome], ["partial", "partial"], second?.problem)
    assert.deepStrictEqual([first?.stores, second?.stores], Array(2).fill({ listed: 21, not_due: 0 }))
    assert.strictEqual(second?.run?.rows_read, first?.run?.rows_read)
    const [all, conditional] = traffic
    assert.strictEqual(conditional?.requests, all?.requests)
    assert.strictEqual(all?.conditional, 0)
    assert.isAbove(conditional?.conditional ?? 0, (all?.requests ?? 0) * 0.7)
    assert.isBelow(conditional?.bytes ?? 0, (all?.bytes ?? 0) * 0.4)
  })

  it("is read in part a day later, and stores that are not due are counted and not left out", () => {
    const [all, , third] = traffic
    const { not_due = 0, listed } = runs[2]?.stores ?? {}
    assert.strictEqual(listed, 22)
    assert.isAbove(not_due, 15)
    assert.isBelow(third?.requests ?? 0, (all?.requests ?? 0) * 0.4)
    assert.deepStrictEqual([runs[2]?.run?.outcome, runs[2]?.problem], ["published", ""]) // the failing store also waits
  })

  it("keeps the rows, the times and the status of a store that is not due", () => {
    const readDomains = new Set(
      [...(known[2]?.values() ?? [])].filter((row) => row.run_id === runs[2]?.run?.run_id).map(({ domain }) => domain)
    )
    assert.strictEqual(readDomains.size, 22 - (runs[2]?.stores?.not_due ?? 0))
    for (const [domain, row] of known[2] ?? [])
      if (!readDomains.has(domain)) assert.deepStrictEqual(row, known[1]?.get(domain))
  })

  it("is read immediately where a store is new, described differently, on this machine, or changed in its last read", () => {
    const isRead = (domain: string) => known[2]?.get(domain)?.run_id === runs[2]?.run?.run_id
    for (const domain of ["shop-0.example", "shop-1.example", "local.example", "shop-5.example"])
      assert.isTrue(isRead(domain), domain)
    assert.isFalse(isRead("missing.example"))
  })

  it("lists what each store lists now, except for changes in stores that are not due", async () => {
    const late = new Set(changed.filter((domain) => known[2]?.get(domain)?.run_id !== runs[2]?.run?.run_id))
    assert.isAtMost(late.size, 1)
    const titles = new Map((await rowsOf(home, listings)).map((row) => [String(row.domain), row.titles]))
    assert.lengthOf([...titles], 21)
    for (const [domain, expected] of currentTitles)
      if (!late.has(domain)) assert.deepStrictEqual(titles.get(domain), expected)
  })

  it("can be rebuilt from the archive, with the same reads and the same stores that were not due", () =>
    expectSameStoresRebuilt(home))
})

describe("an interval between reads of stores that is not a duration", () => {
  it("fails the run before any store is read, and shows how to write one", async () => {
    const home = makeTestFolder()
    const stores = path.join(home, "stores.json")
    writeFileSync(stores, JSON.stringify([{ ...missing, location: "https://missing.example/feed.csv" }]))
    const { problem, run } = await ingestLive(storefronts, {
      home,
      stores,
      environment: { LARDER_STORE_MAX_INTERVAL: "7" }
    })
    assert.isNull(run)
    assert.match(problem, /LARDER_STORE_MAX_INTERVAL is not a duration\. Write it as `20 hours`/)
  })
})
