/** The raw archive alone gives the warehouse back. Stores are rebuilt in tests of their own. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { aLabel, ingestLabels } from "../support/label-releases.ts"
import { aClose, bodyOf, everyFeed, feedNamed } from "../support/pipelines/commodity-payloads.ts"
import { run } from "../support/programs.ts"
import { derivedOf, recordsOf } from "./branded-foods.ts"
import { copyOf, generationOf, recordOf, removeFolder, replay, temporaryFolder } from "./ingesting.ts"

const closes = feedNamed("gov-mars/1603")

const everything = `
  select 'version' as what, to_json(v)::varchar as row from commodity.price_version v
  union all select 'metric', to_json(m)::varchar from commodity.metric m
  union all select 'food', to_json(f)::varchar from branded_food.food f
  union all select 'label', to_json(v)::varchar from branded_food.version v
  union all select 'raw file', to_json(r)::varchar from ingest.raw_file r
  union all select 'cursor', to_json(c)::varchar from ingest.cursor c
  union all select 'run', run_id || ' ' || origin || ' ' || outcome || ' ' || rows_read || ' ' || rows_loaded from ingest.run
  order by all`

const rowsOf = (home: string) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(DuckDb.memory, (db) =>
        Effect.andThen(
          db.run(`attach '${path.join(home, "warehouse", "larder.duckdb")}' as kept (read_only); use kept`),
          db.rows(everything)
        )
      )
    )
  )

describe("larder-ingest rebuild", () => {
  const [home, into] = [temporaryFolder(), temporaryFolder()]
  let runs: ReadonlyArray<Readonly<Record<string, unknown>>> = []
  beforeAll(async () => {
    expect((await replay(home, everyFeed())).code).toBe(0)
    const days = ["09/28/2026", "10/01/2026"].map((report_date) => aClose({ report_date, close_price: 1.4 }))
    const october = ["--from", "2026-10-01", "--to", "2026-10-31"] // without the first of the two days
    const partial = await replay(home, { [closes.feed]: bodyOf(closes, days) }, ...october)
    expect(recordOf(partial)).toMatchObject({ outcome: "partial", rows_loaded: 1 })
    expect(recordOf(await replay(home, everyFeed(), "--dry-run"))).toMatchObject({ dry_run: true, generation: null })
    await ingestLabels(home, "csv", [aLabel({ fdc_id: 4_000_000 }), aLabel({ fdc_id: 4_000_001 })])
    await ingestLabels(home, "json", [aLabel({ fdc_id: 4_000_000, footnote: "A note" })], "2026-08-31")
    const { code, stderr, stdout } = await run("larder-ingest", ["rebuild", "--into", into, "--json"], {
      LARDER_HOME: home,
      LARDER_SOURCES: "live"
    })
    expect(code, stderr).toBe(0)
    runs = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
  })
  afterAll(() => [home, into].forEach(removeFolder))

  it("repeats every run that published, and copies no archive", () => {
    expect(runs.map(({ outcome, pipeline }) => [pipeline, outcome])).toEqual([
      ["commodities", "published"],
      ["commodities", "partial"],
      ["branded-foods", "published"],
      ["branded-foods", "published"]
    ])
    expect(readdirSync(into).sort()).toEqual([".staging.lock", "staging", "warehouse"])
  })

  it("gives the same rows and ids from the archive alone", async () => {
    const [before, after] = [await rowsOf(home), await rowsOf(into)]
    expect(before.length).toBeGreaterThan(100)
    expect(after).toEqual(before)
  })

  it("gives the same categories, nutrition and served records, with their original fetch times", async () => {
    expect(await derivedOf(into)).toEqual(await derivedOf(home))
    const records = await recordsOf(home, [4_000_000, 4_000_001])
    expect(records).toMatchObject([{ footnote: "A note" }, { footnote: null }])
    expect(await recordsOf(into, [4_000_000, 4_000_001])).toEqual(records)
  })

  it("exits with 1 and names a payload that is not what was fetched, and its pack", async () => {
    const name = readdirSync(path.join(home, "raw/packs")).sort()[0] ?? ""
    const pack = path.join(home, "raw/packs", name)
    const bytes = readFileSync(pack)
    const firstMember = bytes.toString("latin1", 30, 94) // behind the head of the first entry, before its bytes
    writeFileSync(pack, bytes.fill(0, 100, 110))
    const damaged = path.join(into, "damaged")
    const { code, stderr } = await run("larder-ingest", ["rebuild", "--into", damaged], { LARDER_HOME: home })
    expect(code).toBe(1)
    expect(stderr).toContain(`The archived payload ${firstMember} in ${pack} cannot be read`)
    expect(stderr).toContain("Restore it from a backup")
    expect(existsSync(path.join(damaged, "warehouse/larder.duckdb"))).toBe(false)
  })

  it("exits with 2 for a folder that holds a warehouse already", async () => {
    const { code, stderr } = await run("larder-ingest", ["rebuild", "--into", home], { LARDER_HOME: home })
    expect(code).toBe(2)
    expect(stderr).toContain("holds a warehouse already")
  })
})

describe("the bundled release of branded foods", () => {
  it("is not loaded again into a home that holds it", async () => {
    const home = copyOf(inject("sampleHome"))
    const before = generationOf(home)
    const { code, stdout } = await run("larder-ingest", ["branded-foods", "--json"], { LARDER_HOME: home })
    const record = recordOf({ stdout })
    expect([code, record]).toMatchObject([
      0,
      { outcome: "unchanged", generation: null, rows_loaded: 0, rows_rejected: 0 }
    ])
    expect(record.rows_read).toBe(record.rows_unchanged)
    expect(generationOf(home)).toBe(before)
  })
})
