/**
 * Other engines read a lake that real programs wrote, after publications, a rollback and a pruning, and a lake
 * behind a web server. All tests are in one file, so that the engines are installed once.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert } from "@effect/vitest"
import { type Layout, rollback } from "@larder/warehouse"
import { prune } from "@larder/warehouse/generation/retention.ts"
import { updateLake } from "@larder/warehouse/lake/lake.ts"
import { ConfigProvider, Effect, Option } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { copyHome, makeTestFolder, query, removeFolder } from "../end-to-end/ingesting.ts"
import { staticHost } from "../support/depots/static-host.ts"
import { itLive } from "../support/it-live.ts"
import { addGeneration } from "../support/more-generations.ts"
import { oncePerFile } from "../support/once-per-file.ts"
import { run } from "../support/programs.ts"
import { makeEveryDataSet, publishPrices } from "../support/warehouse/every-data-set.ts"
import { installPython, readWarehouse, readWithEngines, type Tables } from "./engines.ts"

const lakes = { LARDER_LAKE: "yes" }

const settings = (variables: Readonly<Record<string, string>>) =>
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(variables))
const updateWithLake = (layout: Layout, variables: Readonly<Record<string, string>>) =>
  updateLake(layout).pipe(settings(variables))

let home = ""
let python = ""
const lake = () => path.join(home, "warehouse/lake")
const runRollback = async (...args: ReadonlyArray<string>) => {
  const { code, stderr } = await run("larder-ingest", ["rollback", ...args], { LARDER_HOME: home, ...lakes })
  expect(code, stderr).toBe(0)
}

/** Numbers of rows, digests of all values, and types. */
const pickValues = (tables: Tables) =>
  Object.fromEntries(Object.entries(tables).map(([name, { digest, rows, types }]) => [name, { digest, rows, types }]))
const pickComments = (tables: Tables) =>
  Object.fromEntries(
    Object.entries(tables).map(([name, summary]) => [name, { table: summary.comment, columns: summary.comments }])
  )

const engines = ["ducklake", "deltalake", "polars", "delta"] as const
const prices = "commodity.price_version"

/** The live tables after generations 4 and 5. */
let fourthTables: Tables = {}
let fifthTables: Tables = {}
let newest: Awaited<ReturnType<typeof readWithEngines<(typeof engines)[number] | "views" | "snapshots">>>

const withEveryDataSet = makeEveryDataSet.pipe(
  Effect.map(({ layout }) => copyHome(layout.home)),
  Effect.scoped,
  Effect.provide(NodeServices.layer)
)

beforeAll(async () => {
  home = await Effect.runPromise(withEveryDataSet)
  python = await installPython("duckdb-polars")
  await addGeneration(home, ["2026-09-30"], lakes)
  fourthTables = await readWarehouse(home)
  await addGeneration(home, ["2026-09-30", "2026-10-01"], lakes)
  fifthTables = await readWarehouse(home)
  newest = await readWithEngines(python, [...engines, "views", "snapshots"], lake())
}, 300_000)
afterAll(() => removeFolder(home))

describe("the newest generation of the lake", () => {
  it.each(engines)("equals the warehouse, read by %s", (engine) => {
    expect(pickValues(newest[engine])).toEqual(pickValues(fifthTables))
  })

  it.each(["ducklake", "deltalake"] as const)("has the comments of the warehouse, read by %s", (engine) => {
    expect(pickComments(newest[engine])).toEqual(pickComments(fifthTables))
  })

  it("has the views and macros of the warehouse in DuckLake, with the same rows", async () => {
    const { views } = newest
    const names = Object.keys(views).filter((name) => name.includes("."))
    expect(names.length).toBeGreaterThan(15)
    const counted = await query(
      home,
      ...[...names, "commodity.price_as_of('2026-07-10')"].map(
        (name) => `select count(*)::integer as rows from ${name}`
      )
    )
    expect([...names, "price_as_of"].map((name) => [{ rows: views[name]?.rows }])).toEqual(counted)
    for (const name of names) expect(views[name]?.comment, name).toMatch(/\w{3}/)
  })
})

describe("an older generation of the lake", () => {
  it("equals what was live then, read by DuckLake", async () => {
    const { ducklake } = await readWithEngines(python, ["ducklake"], lake(), 4)
    expect(pickValues(ducklake)).toEqual(pickValues(fourthTables))
  })

  it("equals what was live then, read by deltalake and Polars", async () => {
    const versions = newest.snapshots.find(({ snapshot }) => snapshot === 4)?.delta_versions
    const { deltalake, polars } = await readWithEngines(python, ["deltalake", "polars"], lake(), versions)
    for (const tables of [deltalake, polars]) expect(pickValues(tables)).toEqual(pickValues(fourthTables))
  })
})

describe("a lake after a rollback and a pruning", () => {
  it("has the rows that are live again, and the snapshots of the kept generations", async () => {
    await runRollback("--to", "4", "--only", "commodities", "--note", "a wrong close")
    const rolledBack = await readWithEngines(python, ["snapshots", "ducklake", "delta"], lake())
    expect(rolledBack.snapshots.map(({ message }) => message)).toEqual([
      "larder-000001: commodities: published",
      "larder-000002: branded-foods: published",
      "larder-000003: storefronts: published",
      "larder-000004: commodities: partial",
      "larder-000005: commodities: partial",
      "larder-000006: commodities: rollback to larder-000004: a wrong close"
    ])
    for (const engine of ["ducklake", "delta"] as const) {
      expect(rolledBack[engine][prices], engine).toMatchObject({ digest: fourthTables[prices]?.digest })
    }
    await addGeneration(home, ["2026-10-02"], { ...lakes, LARDER_KEPT_GENERATIONS: "2" })
    await addGeneration(home, ["2026-10-05"], { ...lakes, LARDER_KEPT_GENERATIONS: "2" })
    const live = await readWarehouse(home)
    const pruned = await readWithEngines(python, ["snapshots", ...engines], lake())
    expect(pruned.snapshots.map(({ snapshot }) => snapshot)).toEqual([7, 8])
    for (const engine of engines) expect(pickValues(pruned[engine]), engine).toEqual(pickValues(live))
    const { deltalake } = await readWithEngines(python, ["deltalake"], lake(), pruned.snapshots[0]?.delta_versions)
    expect(deltalake[prices]?.rows).toBe(Number(live[prices]?.rows) - 1)
  })
})

describe("a lake behind a web server", () => {
  const hosted = oncePerFile(
    Effect.gen(function* () {
      const { layout } = yield* makeEveryDataSet
      const lake = `${yield* staticHost(layout.dir)}/lake`
      const updateHosted = updateWithLake(layout, { ...lakes, LARDER_LAKE_URL: lake })
      yield* updateHosted
      return {
        layout,
        lake,
        updateHosted,
        before: yield* Effect.promise(() => readWithEngines(python, ["ducklake"], lake))
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )
  itLive("equals the warehouse, read by DuckDB at the address in LARDER_LAKE_URL", () =>
    Effect.gen(function* () {
      const { before, lake, layout } = yield* hosted
      assert.deepStrictEqual(before.ducklake, yield* Effect.promise(() => readWarehouse(layout.home)))
      const first = yield* Effect.promise(() => readWithEngines(python, ["ducklake"], lake, 1))
      assert.strictEqual(first.ducklake[prices]?.rows, 2)
      assert.notProperty(first.ducklake, "branded_food.food")
    })
  )
  itLive("stays the same for a session with a copy of its catalogue, while generations are replaced and pruned", () =>
    Effect.gen(function* () {
      const { before, updateHosted, lake, layout } = yield* hosted
      const copyFolder = makeTestFolder()
      const copied = yield* Effect.promise(async () => (await fetch(`${lake}/larder.ducklake`)).bytes())
      writeFileSync(path.join(copyFolder, "larder.ducklake"), copied)
      yield* publishPrices(layout, "cheese")
      yield* rollback(layout, { to: Option.none(), only: Option.some("commodities"), note: Option.none() })
      yield* publishPrices(layout, "butter")
      yield* prune(layout).pipe(settings({ LARDER_KEPT_GENERATIONS: "1" }))
      yield* updateHosted
      const [fromCopy, newest] = yield* Effect.promise(() =>
        Promise.all([copyFolder, lake].map((location) => readWithEngines(python, ["ducklake"], location)))
      )
      assert.deepStrictEqual(fromCopy, before)
      assert.notDeepEqual(newest?.ducklake["ingest.run"], before.ducklake["ingest.run"])
    })
  )
})
