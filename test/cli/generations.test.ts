/** Listing generations, rolling back to one, and repairing a damaged part. */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { inject } from "vitest"
import { makeTestFolder, query } from "../end-to-end/ingesting.ts"
import { load } from "../end-to-end/small-releases.ts"
import { addGeneration } from "../support/more-generations.ts"
import { goodZip } from "../support/pipelines/small-releases.ts"
import { run } from "../support/programs.ts"
import { findViolationsIn } from "../support/warehouse/loaded-tables.ts"
import { findPart, findParts, queryRows, useSampleHome } from "./published.ts"

/** Hides times and sizes, which differ from run to run. */
const hideTimesAndSizes = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) =>
      line
        .replace(/ {2}\d{4}-\d\d-\d\d \d\d:\d\d UTC/, "")
        .replace(/, [\d,]+ KiB/, ", … KiB")
        .replace(/ \(\S+@\S+, Larder \d+\.\d+\.\d+\)/, " (somebody)")
    )

const published = [
  "* larder-000001  commodities: published, 40,188 new rows, … KiB",
  "* larder-000002  branded-foods: published, 49,918 new rows, … KiB",
  "* larder-000003  storefronts: published, 233 new rows, … KiB"
]

describe("larder-ingest generations", () => {
  it("names the command to run if there is none", async () => {
    const { code, stdout } = await run("larder-ingest", ["generations"], { LARDER_HOME: makeTestFolder() })
    assert.deepStrictEqual([code, stdout], [0, "No generation yet. Run: npx larder-ingest\n"])
  })

  it("lists a run without new data, which has no size and changes no live data", async () => {
    const { call } = useSampleHome()
    assert.strictEqual((await call("storefronts")).code, 0)
    assert.deepStrictEqual(hideTimesAndSizes((await call("generations")).stdout), [
      ...published,
      "  larder-000004  storefronts: unchanged, 0 new rows"
    ])
  })

  it("prints one JSON array with --json", async () => {
    const { json } = useSampleHome()
    const [first, ...others] = await json("generations")
    assert.lengthOf(others, 2)
    const { bytes, made_at, made_by, run_id, ...rest } = first
    assert.isAbove(bytes, 1_000_000)
    assert.match(made_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    assert.match(made_by, /^.+@.+, Larder \d/)
    assert.match(run_id, /^\d+T\d+Z-commodities-[0-9a-f]{6}$/)
    assert.deepStrictEqual(rest, {
      generation: "larder-000001",
      kind: "run",
      pipeline: "commodities",
      outcome: "published",
      rows: 40_188,
      live: true,
      kept: true,
      rolled_back_by: null,
      went_back_to: null,
      note: null
    })
  })
})

/** Keys and references of `ingest.table_constraint` are true of every row. */
const assertKeys = async (home: string, ...schemas: ReadonlyArray<string>) => {
  const { checked, found } = await findViolationsIn(home, ...schemas)
  assert.isAbove(checked, 35)
  assert.deepStrictEqual(found, [])
}

describe("larder-ingest rollback", () => {
  it("undoes the last publication, and the list and the runs record it, with the note", async () => {
    const { call, home } = useSampleHome()
    const { code, stderr, stdout } = await call("rollback", "--note", "wrong currency")
    assert.deepStrictEqual([code, stderr], [0, ""])
    assert.strictEqual(
      stdout,
      "larder-000004 is live: storefronts is no longer loaded. Servers switch to it immediately. The next run starts from there.\n"
    )
    assert.deepStrictEqual(hideTimesAndSizes((await call("generations")).stdout), [
      ...published.slice(0, 2),
      "  larder-000003  storefronts: published, 233 new rows, … KiB, rolled back by larder-000004",
      "  larder-000004  rollback of storefronts to before its first run (somebody), wrong currency"
    ])
    const [runs, [rollback] = [], tables] = await query(
      home,
      "select pipeline, generation, rolled_back_by from ingest.run order by generation",
      "select kind, pipeline, run_id, went_back_to, note from ingest.generation where generation = 'larder-000004'",
      "select distinct schema_name from duckdb_views() where database_name = 'larder' and not internal order by all"
    )
    assert.deepStrictEqual(runs, [
      { pipeline: "commodities", generation: "larder-000001", rolled_back_by: null },
      { pipeline: "branded-foods", generation: "larder-000002", rolled_back_by: null },
      { pipeline: "storefronts", generation: "larder-000003", rolled_back_by: "larder-000004" }
    ])
    assert.deepStrictEqual(rollback, {
      kind: "rollback",
      pipeline: "storefronts",
      run_id: null,
      went_back_to: null,
      note: "wrong currency"
    })
    assert.deepStrictEqual(
      tables?.map(({ schema_name }) => schema_name),
      ["branded_food", "commodity", "ingest"]
    )
    await assertKeys(home, "branded_food", "commodity", "ingest")
    assert.isFalse(existsSync(path.join(home, "warehouse/storefronts.duckdb")))
  })

  it("restores any kept generation, older or newer, in all data sets that differ from it", async () => {
    const { home, json } = useSampleHome()
    assert.deepStrictEqual(await json("rollback", "--to", "larder-000001"), {
      generation: "larder-000004",
      data_sets: { "branded-foods": null, storefronts: null }
    })
    assert.deepStrictEqual(await json("rollback", "--to", "3"), {
      generation: "larder-000005",
      data_sets: { "branded-foods": "larder-000002", storefronts: "larder-000003" }
    })
    const [runs, versions] = await query(
      home,
      "select generation, rolled_back_by from ingest.run order by generation",
      "select pipeline, generation from ingest.data_set order by generation"
    )
    assert.deepStrictEqual(
      runs?.map(({ rolled_back_by }) => rolled_back_by),
      [null, null, null],
      "the rolled back runs count again"
    )
    assert.deepStrictEqual(versions, [
      { pipeline: "commodities", generation: "larder-000001" },
      { pipeline: "branded-foods", generation: "larder-000005" },
      { pipeline: "storefronts", generation: "larder-000005" }
    ])
  })

  it("changes only one data set with --only, and the next run publishes its rows again", async () => {
    const { call, home, json } = useSampleHome()
    assert.deepStrictEqual(await json("rollback", "--only", "storefronts"), {
      generation: "larder-000004",
      data_sets: { storefronts: null }
    })
    const rerun = await json("storefronts")
    assert.deepInclude(rerun, { outcome: "published", generation: "larder-000005", rows_loaded: 233 })
    assert.deepStrictEqual(hideTimesAndSizes((await call("generations")).stdout), [
      ...published.slice(0, 2),
      "  larder-000003  storefronts: published, 233 new rows, … KiB, rolled back by larder-000004",
      "  larder-000004  rollback of storefronts to before its first run (somebody)",
      "* larder-000005  storefronts: published, 233 new rows, … KiB"
    ])
    const [counts] = await query(
      home,
      `select (select count(*) from ingest.raw_file where pipeline = 'storefronts')
         = 2 * (select count(*) from ingest.live_raw_file where pipeline = 'storefronts') as whole_history`
    )
    assert.deepStrictEqual(counts, [{ whole_history: true }])
    await assertKeys(home, "storefront", "ingest")
  })

  it.each<readonly [ReadonlyArray<string>, number, RegExp]>([
    [
      ["--to", "9"],
      1,
      /There is no generation larder-000009\. These are kept: larder-000001, larder-000002, larder-000003\.$/m
    ],
    [["--to", "3"], 1, /The live data is already that of larder-000003\.$/m],
    [["--to", "2", "--only", "commodities"], 1, /The live data of commodities is already that of larder-000002\.$/m],
    [["--to", "x"], 2, /--to cannot be "x": expected a generation, such as 41 or larder-000041$/m],
    [["--only", "nuts"], 2, /--only cannot be "nuts"/]
  ])("changes nothing with %j, and explains why", async (args, expected, message) => {
    const { call, home } = useSampleHome()
    const { code, problems, stdout } = await call("rollback", ...args)
    assert.deepStrictEqual([code, stdout], [expected, ""])
    assert.match(problems, message)
    assert.lengthOf(readdirSync(path.join(home, "warehouse/generations")), 3)
  })

  it("makes the next run read a payload of a rolled back run again", async () => {
    const { call, home } = useSampleHome()
    const countReadings = async () => {
      const butter = "metric_name = 'butter_exch_spot_close_daily' and observed_on = '2026-09-30'"
      const [rows] = await query(
        home,
        `select count(*)::integer as readings from commodity.observation where ${butter}`
      )
      return rows?.[0]?.readings
    }
    await addGeneration(home, ["2026-09-30"])
    assert.strictEqual((await call("rollback")).code, 0)
    assert.strictEqual(await countReadings(), 0)
    await addGeneration(home, ["2026-09-30"])
    assert.strictEqual(await countReadings(), 1)
  })

  it("reports that there is no generation yet", async () => {
    const { code, problems } = await run("larder-ingest", ["rollback"], { LARDER_HOME: makeTestFolder() })
    assert.strictEqual(code, 1)
    assert.match(problems, /There is no data in .+warehouse yet\. Run: npx larder-ingest$/m)
  })

  it("refuses a generation whose parts are damaged or no longer kept, and leaves the live data unchanged", async () => {
    const { call, home } = useSampleHome()
    await call("rollback", "--only", "storefronts")
    const part = findPart(home, 3, "storefronts")
    chmodSync(part, 0o644)
    writeFileSync(part, "no database")
    const damaged = await call("rollback", "--to", "3")
    assert.strictEqual(damaged.code, 1)
    assert.match(
      damaged.problems,
      /storefronts\.duckdb of storefronts \(.+\) has 11 bytes, but was published with \d+\./
    )
    rmSync(part)
    const removed = await call("rollback", "--to", "3")
    assert.strictEqual(removed.code, 1)
    assert.match(
      removed.problems,
      /The data of storefronts in larder-000003 is no longer kept\. .*larder-ingest generations$/m
    )
    assert.lengthOf(readdirSync(path.join(home, "warehouse/generations")), 4)
  })
})

describe("the file of a data set", () => {
  it.each([
    [1, "commodities"],
    [2, "branded-foods"],
    [3, "storefronts"]
  ])("for users is a hard link to the part of generation %i of %s", (number, pipeline) => {
    const home = inject("sampleHome")
    const opened = statSync(path.join(home, "warehouse", `${pipeline}.duckdb`))
    const part = statSync(findPart(home, number, pipeline))
    assert.deepStrictEqual([opened.dev, opened.ino], [part.dev, part.ino])
  })
})

describe("a damaged part", () => {
  it("fails only the run that needs it, which is recorded immediately; a rebuild repairs the part", async () => {
    const home = makeTestFolder()
    const release = path.join(home, "release.zip")
    writeFileSync(release, goodZip())
    assert.strictEqual((await load(home, release)).code, 0)
    const damaged = [...findParts(home, 1, "branded-foods").values()]
    assert.isAbove(damaged.length, 5) // with the search's files
    for (const part of damaged) {
      chmodSync(part, 0o644)
      writeFileSync(part, "damaged")
    }
    const stopped = await load(home, release)
    assert.strictEqual(stopped.code, 1)
    assert.match(
      stopped.problems,
      /branded-foods\.duckdb of branded-foods \(.+\) has 7 bytes, .+ larder-ingest rebuild branded-foods; or .+ rollback --only branded-foods$/m
    )
    assert.notInclude(stopped.problems, "the record of this run is lost")
    await addGeneration(home, ["2026-09-30"])
    const runsQuery = "select pipeline, outcome, generation from ingest.run order by run_id"
    assert.deepStrictEqual(await queryRows(path.join(home, "warehouse/ingestion.duckdb"), runsQuery), [
      { pipeline: "branded-foods", outcome: "published", generation: "larder-000001" },
      { pipeline: "branded-foods", outcome: "failed", generation: null },
      { pipeline: "commodities", outcome: "partial", generation: "larder-000003" }
    ])
    const rebuilt = await run("larder-ingest", ["rebuild", "branded-foods"], { LARDER_HOME: home })
    assert.strictEqual(rebuilt.code, 0, rebuilt.stderr)
    assert.match(rebuilt.stdout, /^branded-foods: rebuilt from 1 run, live in larder-000004$/m)
    assert.match(rebuilt.stdout, /^branded-foods: repeated \S+-branded-foods-\S+$/m)
    assert.notInclude(rebuilt.stdout, "larder-000001", "the generation of the rebuild's own warehouse")
    const listed = hideTimesAndSizes((await run("larder-ingest", ["generations"], { LARDER_HOME: home })).stdout)
    assert.strictEqual(listed.at(-1), "* larder-000004  rebuild of branded-foods (somebody), … KiB")
    for (const part of findParts(home, 4, "branded-foods").values()) {
      assert.notStrictEqual(readFileSync(part, "latin1"), "damaged", "even if the rebuild makes the same bytes")
    }
    const [labels] = await query(home, "select count(*)::integer as labels from branded_food.food")
    assert.deepStrictEqual(labels, [{ labels: 3 }])
  })
})
