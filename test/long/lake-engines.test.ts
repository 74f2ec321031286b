/**
 * ClickHouse and Spark read the lake of real programs, and other engines read one in a bucket: the newest generation and the
 * one before. The engines of `test:all` read a long log. Tests of missing programs are skipped.
 */
import { rm } from "node:fs/promises"
import path from "node:path"
import { assert } from "@effect/vitest"
import { recordFailedRun, writeLake } from "@larder/warehouse"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { startFromGo, versitygw } from "../depots/go.ts"
import { copyHome, makeTestFolder, removeFolder } from "../end-to-end/ingesting.ts"
import {
  downloadSparkJars,
  installPython,
  pickComments,
  pickValues,
  readWarehouse,
  readWithEngines,
  type Tables
} from "../lake/engines.ts"
import { environmentOf } from "../support/depots/shared-depot.ts"
import { itLive } from "../support/it-live.ts"
import { lakeOf } from "../support/lake/homes.ts"
import { commitFileOf, readCommits, versionsIn } from "../support/lake/reading.ts"
import { addGeneration } from "../support/more-generations.ts"
import { isInstalled } from "../support/tools.ts"
import { publishPrices } from "../support/warehouse/every-data-set.ts"
import { aLayout, aRun } from "../support/warehouse/example-data-set.ts"

const lakes = { LARDER_LAKE: "yes" }
let home = ""
const versionsBefore = () => versionsIn(lake(), "larder-000004")
const lake = () => path.join(home, "warehouse/lake")
const live: Record<string, Tables> = {}
const kinds = ["as they are", "never null"] as const

beforeAll(async () => {
  home = copyHome(inject("sampleHome"))
  await addGeneration(home, ["2026-09-30"], lakes)
  for (const kind of kinds) live[`4 ${kind}`] = await readWarehouse(home, kind)
  await addGeneration(home, ["2026-09-30", "2026-10-01"], lakes)
  for (const kind of kinds) live[`5 ${kind}`] = await readWarehouse(home, kind)
})
afterAll(() => removeFolder(home))

describe("ClickHouse", () => {
  it("reads the same as the warehouse, in the newest generation and the one before", async () => {
    const python = await installPython("clickhouse")
    const request = { engines: ["clickhouse"], lake: lake() } as const
    const [newest, before] = await readWithEngines(python, [request, { ...request, versions: versionsBefore() }])
    expect(pickValues(newest?.clickhouse ?? {})).toEqual(pickValues(live["5 never null"] ?? {}))
    expect(pickValues(before?.clickhouse ?? {})).toEqual(pickValues(live["4 never null"] ?? {}))
  })
})

describe.skipIf(!isInstalled("java") || !isInstalled("mvn"))("Spark, if Java and Maven are installed", () => {
  it("reads the same as the warehouse, with its comments, in the newest generation and the one before", async () => {
    const [python, LAKE_JARS] = [await installPython("spark"), await downloadSparkJars()]
    const request = { engines: ["spark"], lake: lake() } as const
    const requests = [request, { ...request, versions: versionsBefore() }]
    const [newest, before] = await readWithEngines(python, requests, { LAKE_JARS })
    expect(pickValues(newest?.spark ?? {})).toEqual(pickValues(live["5 as they are"] ?? {}))
    expect(pickComments(newest?.spark ?? {})).toEqual(pickComments(live["5 as they are"] ?? {}))
    expect(newest?.spark["commodity.observation_version"]?.generation).toBe("larder-000005")
    expect(pickValues(before?.spark ?? {})).toEqual(pickValues(live["4 as they are"] ?? {}))
  })
})

describe.skipIf(!isInstalled("go"))("DuckDB, deltalake and Polars, if Go is installed", () => {
  it("read the same as the warehouse from a bucket", async () => {
    const { settings, stop } = await startFromGo(versitygw)
    try {
      const environment = environmentOf({ ...settings, prefix: "larder" }, "1 second")
      const publisher = copyHome(home, makeTestFolder())
      await addGeneration(publisher, ["2026-10-02"], { ...environment, ...lakes })
      const newest = pickValues(await readWarehouse(publisher))
      const lakeUrl = `${environment.LARDER_DEPOT}/lake`
      const python = await installPython("duckdb-polars")
      const engines = ["deltalake", "polars", "delta"] as const
      const [seen] = await readWithEngines(python, [{ engines, lake: lakeUrl }], environment)
      for (const engine of engines) expect(pickValues(seen?.[engine] ?? {}), engine).toEqual(newest)
    } finally {
      stop()
    }
  })
})

describe("a log that becomes long", () => {
  itLive("gets a checkpoint, and engines read it without the earlier commits", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishPrices(layout, "milk")
      yield* writeLake(layout)
      for (let at = 2; at <= 14; at++) {
        const run = aRun({ pipeline: "commodities", outcome: "failed", message: `failure ${at}` })
        yield* recordFailedRun(layout, { run, checks: [], leftOut: [] })
        yield* writeLake(layout)
      }
      const lake = lakeOf(layout)
      assert.strictEqual(readCommits(lake, "ingest.run").length, 14)
      const byEngine = yield* Effect.promise(async () => {
        for (let version = 0; version < 10; version++) await rm(commitFileOf(lake, "ingest.run", version))
        const request = { engines: ["deltalake", "polars", "delta"], lake }
        return readWithEngines(await installPython("duckdb-polars"), [request])
      })
      assert.lengthOf(Object.keys(byEngine[0] ?? {}), 3)
      for (const [engine, seen] of Object.entries(byEngine[0] ?? {}))
        assert.strictEqual(seen["ingest.run"]?.rows, 14, engine)
    })
  )
})
