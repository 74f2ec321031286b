/**
 * Other engines read a lake that real programs wrote, after publications, a rollback and a change of a comment. All tests are in one
 * file, so that the engines are installed and started once: they read copies of the lake.
 */
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { layoutOf } from "@larder/warehouse"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { copyHome, removeFolder } from "../end-to-end/ingesting.ts"
import { prices } from "../support/lake/homes.ts"
import { readCommits, readGenerations, versionsIn } from "../support/lake/reading.ts"
import { addGeneration } from "../support/more-generations.ts"
import { type Environment, run } from "../support/programs.ts"
import { makeEveryDataSet, publishPrices } from "../support/warehouse/every-data-set.ts"
import { installPython, pickComments, pickValues, readWarehouse, readWithEngines, type Tables } from "./engines.ts"

const otherComment = new URL("../support/warehouse/other-comment.ts", import.meta.url).href
const lakes = { LARDER_LAKE: "yes" }
const engines = ["deltalake", "polars", "delta"] as const
type Seen = Readonly<Record<(typeof engines)[number], Tables>>

let home = ""
const lake = () => path.join(home, "warehouse/lake")
const runIngest = async (args: ReadonlyArray<string>, environment: Environment = lakes) => {
  const { code, stderr } = await run("larder-ingest", args, { LARDER_HOME: home, ...environment })
  expect(code, stderr).toBe(0)
}

const withEveryDataSet = makeEveryDataSet.pipe(
  Effect.map(({ layout }) => copyHome(layout.home)),
  Effect.scoped,
  Effect.provide(NodeServices.layer)
)
const publishUnwritten = (...metrics: ReadonlyArray<string>) =>
  layoutOf(home).pipe(
    Effect.flatMap((layout) => publishPrices(layout, ...metrics)),
    Effect.provide(NodeServices.layer),
    Effect.runPromise
  )

/** The live tables after each step, and what the engines see in the lake. */
const live: Record<string, Tables> = {}
const seen: Record<string, Seen> = {}
const copies: Record<string, string> = {}

const keep = async (step: string) => {
  live[step] = await readWarehouse(home)
  copies[step] = copyHome(lake())
}

const writeGenerations = async () => {
  home = await Effect.runPromise(withEveryDataSet)
  await addGeneration(home, ["2026-09-30"], lakes)
  live.fourth = await readWarehouse(home)
  await addGeneration(home, ["2026-09-30", "2026-10-01"], lakes)
  await keep("fifth")
  await runIngest(["rollback", "--to", "4", "--only", "commodities", "--note", "a wrong close"])
  await keep("rolled back")
  await publishUnwritten("cheese_barrels_exch_spot_close_daily")
  await publishUnwritten("nonfat_dry_milk_exch_spot_close_daily")
  await runIngest(["lake"])
  await keep("later")
  await runIngest(["lake"], { ...lakes, NODE_OPTIONS: `--import=${otherComment}` })
  await keep("other comment")
}

beforeAll(async () => {
  const [python] = await Promise.all([installPython("duckdb-polars"), writeGenerations()])
  const versions = versionsIn(lake(), "larder-000004")
  const read = await readWithEngines<keyof Seen>(python, [
    { engines: ["deltalake", "polars"], lake: lake(), versions },
    ...Object.values(copies).map((lake) => ({ engines, lake }))
  ])
  for (const [index, step] of ["fourth", ...Object.keys(copies)].entries())
    seen[step] = read[index] ?? expect.fail(step)
}, 300_000)
afterAll(() => [home, ...Object.values(copies)].forEach(removeFolder))

describe("the newest generation of the lake", () => {
  it.each(engines)("equals the warehouse with its views, read by %s", (engine) => {
    expect(Object.keys(live.fifth ?? {})).toEqual(
      expect.arrayContaining(["commodity.observation", "branded_food.nutrition", "storefront.variant"])
    )
    expect(pickValues(seen.fifth?.[engine] ?? {})).toEqual(pickValues(live.fifth ?? {}))
  })

  it("has the comments of the warehouse, read by deltalake", () => {
    expect(pickComments(seen.fifth?.deltalake ?? {})).toEqual(pickComments(live.fifth ?? {}))
  })

  it("is named by the versions of its tables, read by deltalake", () => {
    expect(seen.fifth?.deltalake[prices]).toMatchObject({ generation: "larder-000005", version: 1 })
    expect(seen.fifth?.deltalake["branded_food.food"]).toMatchObject({ generation: "larder-000004", version: 0 })
  })
})

describe("an older generation of the lake", () => {
  it.each(["deltalake", "polars"] as const)("equals what was live then, read by %s", (engine) => {
    expect(pickValues(seen.fourth?.[engine] ?? {})).toEqual(pickValues(live.fourth ?? {}))
  })
})

describe("a lake after a rollback", () => {
  it.each(engines)("has the rows that are live again, in a new version, read by %s", (engine) => {
    expect(pickValues(seen["rolled back"]?.[engine] ?? {})).toEqual(pickValues(live["rolled back"] ?? {}))
    expect(live["rolled back"]?.[prices]?.digest).toBe(live.fourth?.[prices]?.digest)
    expect(readGenerations(lake(), prices).slice(0, 3)).toEqual(["larder-000004", "larder-000005", "larder-000006"])
  })
})

describe("a lake that is written later than its generation", () => {
  it.each(engines)("has the live rows after `larder-ingest lake`, read by %s", (engine) => {
    expect(pickValues(seen.later?.[engine] ?? {})).toEqual(pickValues(live.later ?? {}))
    expect(readGenerations(lake(), prices).slice(2, 4)).toEqual(["larder-000006", "larder-000008"])
  })
})

describe("a lake after a change of a comment", () => {
  it.each(engines)("has the same files in a new version, read by %s", (engine) => {
    expect(pickValues(seen["other comment"]?.[engine] ?? {})).toEqual(pickValues(live.later ?? {}))
    expect(seen["other comment"]?.deltalake[prices]?.comment).toMatch(/^In other words\./)
    const last = readCommits(lake(), prices).at(-1)
    expect(last?.map((action) => Object.keys(action)[0])).toEqual(["commitInfo", "protocol", "metaData"])
  })
})
