/**
 * Other engines read a lake that real programs wrote, after publications, a rollback and a change of a comment. All tests are in one
 * file, so that the engines are installed once.
 */
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { copyHome, removeFolder } from "../end-to-end/ingesting.ts"
import { readCommits, readGenerations, versionsIn } from "../support/lake/reading.ts"
import { addGeneration } from "../support/more-generations.ts"
import { type Environment, run } from "../support/programs.ts"
import { makeEveryDataSet } from "../support/warehouse/every-data-set.ts"
import { installPython, readWarehouse, readWithEngines, type Tables } from "./engines.ts"

const otherComment = new URL("../support/warehouse/other-comment.ts", import.meta.url).href
const lakes = { LARDER_LAKE: "yes" }

let home = ""
let python = ""
const lake = () => path.join(home, "warehouse/lake")
const runIngest = async (args: ReadonlyArray<string>, environment: Environment = lakes) => {
  const { code, stderr } = await run("larder-ingest", args, { LARDER_HOME: home, ...environment })
  expect(code, stderr).toBe(0)
}

/** Numbers of rows, digests of all values, and types. */
const pickValues = (tables: Tables) =>
  Object.fromEntries(Object.entries(tables).map(([name, { digest, rows, types }]) => [name, { digest, rows, types }]))
const pickComments = (tables: Tables) =>
  Object.fromEntries(
    Object.entries(tables).map(([name, summary]) => [name, { table: summary.comment, columns: summary.comments }])
  )

const engines = ["deltalake", "polars", "delta"] as const
const prices = "commodity.observation_version"

/** The live tables after generations 4 and 5. */
let fourthTables: Tables = {}
let fifthTables: Tables = {}
let newest: Readonly<Record<(typeof engines)[number], Tables>>

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
  newest = await readWithEngines(python, engines, lake())
}, 300_000)
afterAll(() => removeFolder(home))

describe("the newest generation of the lake", () => {
  it.each(engines)("equals the warehouse with its views, read by %s", (engine) => {
    expect(Object.keys(newest[engine])).toEqual(
      expect.arrayContaining(["commodity.observation", "branded_food.nutrition", "storefront.variant"])
    )
    expect(pickValues(newest[engine])).toEqual(pickValues(fifthTables))
  })

  it("has the comments of the warehouse, read by deltalake", () => {
    expect(pickComments(newest.deltalake)).toEqual(pickComments(fifthTables))
  })

  it("is named by the versions of its tables, read by deltalake", () => {
    expect(newest.deltalake[prices]).toMatchObject({ generation: "larder-000005", version: 1 })
    expect(newest.deltalake["branded_food.food"]).toMatchObject({ generation: "larder-000004", version: 0 })
  })
})

describe("an older generation of the lake", () => {
  it("equals what was live then, read by deltalake and Polars", async () => {
    const tables = await readWithEngines(python, ["deltalake", "polars"], lake(), versionsIn(lake(), "larder-000004"))
    for (const engine of ["deltalake", "polars"] as const)
      expect(pickValues(tables[engine]), engine).toEqual(pickValues(fourthTables))
  })
})

describe("a lake after a rollback", () => {
  it("has the rows that are live again, in a new version", async () => {
    await runIngest(["rollback", "--to", "4", "--only", "commodities", "--note", "a wrong close"])
    const live = await readWarehouse(home)
    expect(live[prices]?.digest).toBe(fourthTables[prices]?.digest)
    expect(readGenerations(lake(), prices)).toEqual(["larder-000004", "larder-000005", "larder-000006"])
    const rolledBack = await readWithEngines(python, engines, lake())
    for (const engine of engines)
      for (const table of [prices, "commodity.observation", "commodity.metric", "branded_food.food", "ingest.run"])
        expect(rolledBack[engine][table], `${engine}, ${table}`).toMatchObject({ digest: live[table]?.digest })
  })
})

describe("a lake that is written later than its generation", () => {
  it("has the live rows after `larder-ingest lake`", async () => {
    await addGeneration(home, ["2026-10-02"], { LARDER_LAKE: "no" })
    await addGeneration(home, ["2026-10-05"], { LARDER_LAKE: "no" })
    await runIngest(["lake"])
    const live = await readWarehouse(home)
    expect(readGenerations(lake(), prices).slice(2)).toEqual(["larder-000006", "larder-000008"])
    const written = await readWithEngines(python, engines, lake())
    for (const engine of engines) expect(pickValues(written[engine]), engine).toEqual(pickValues(live))
  })
})

describe("a lake after a change of a comment", () => {
  it("has the same files in a new version", async () => {
    const before = await readWarehouse(home)
    await runIngest(["lake"], { ...lakes, NODE_OPTIONS: `--import=${otherComment}` })
    const adds = readCommits(lake(), prices)
      .at(-1)
      ?.flatMap(({ add }) => (add === undefined ? [] : [add.dataChange]))
    expect(adds).toEqual([false])
    const changed = await readWithEngines(python, engines, lake())
    for (const engine of engines) expect(pickValues(changed[engine]), engine).toEqual(pickValues(before))
    expect(changed.deltalake[prices]?.comment).toMatch(/^In other words\./)
  })
})
