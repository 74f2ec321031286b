/** Rebuilds the warehouse only from the raw archive. Other tests rebuild stores. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { aLabel, ingestLabels } from "../support/label-releases.ts"
import { readGenerations } from "../support/lake/reading.ts"
import { aClose, bodyOf, everyFeed, feedNamed } from "../support/pipelines/commodity-payloads.ts"
import { filesIn } from "../support/pipelines/raw-archive.ts"
import { run, startServer, waitUntilServed } from "../support/programs.ts"
import { listLeftoverFiles } from "../support/warehouse/leftover-files.ts"
import { derivedOf, recordsOf } from "./branded-foods.ts"
import {
  copyForTest,
  copyHome,
  generationOf,
  newestManifest,
  parseRunRecord,
  query,
  removeFolder,
  replay,
  temporaryFolder
} from "./ingesting.ts"

const closes = feedNamed("gov-mars/1603")

const everything = `
  select 'version' as what, to_json(v)::varchar as row from commodity.observation_version v
  union all select 'metric', to_json(m)::varchar from commodity.metric m
  union all select 'food', to_json(f)::varchar from branded_food.food f
  union all select 'label', to_json(v)::varchar from branded_food.version v
  union all select 'raw file', to_json(r)::varchar from ingest.raw_file r
  union all select 'cursor', to_json(c)::varchar from ingest.cursor c
  union all select 'run', run_id || ' ' || origin || ' ' || outcome || ' ' || rows_read || ' ' || rows_loaded from ingest.run where outcome <> 'failed'
  order by all`

const readEverything = async (home: string) => (await query(home, everything))[0] ?? []

const rebuild = async (home: string, ...args: ReadonlyArray<string>) => {
  const ended = await run("larder-ingest", ["rebuild", ...args, "--json"], {
    LARDER_HOME: home,
    LARDER_SOURCES: "live"
  })
  const runs = ended.stdout.split("\n").filter((line) => line !== "")
  return { ...ended, runs: runs.map((line): Readonly<Record<string, unknown>> => JSON.parse(line)) }
}

describe("larder-ingest rebuild", () => {
  const home = temporaryFolder()
  let rebuiltHome = ""
  let runs: ReadonlyArray<Readonly<Record<string, unknown>>> = []
  beforeAll(async () => {
    expect((await replay(home, everyFeed())).code).toBe(0)
    const days = ["09/28/2026", "10/01/2026"].map((report_date) => aClose({ report_date, close_price: 1.4 }))
    const october = ["--from", "2026-10-01", "--to", "2026-10-31"] // without the first of the two days
    const partial = await replay(home, { [closes.feed]: bodyOf(closes, days) }, ...october)
    expect(parseRunRecord(partial)).toMatchObject({ outcome: "partial", rows_loaded: 1 })
    expect(parseRunRecord(await replay(home, everyFeed(), "--dry-run"))).toMatchObject({
      dry_run: true,
      generation: null
    })
    expect(parseRunRecord(await replay(home, everyFeed()))).toMatchObject({ outcome: "unchanged" })
    expect((await replay(home, { [closes.feed]: "<html>" })).code).toBe(1)
    await ingestLabels(home, "csv", [aLabel({ fdc_id: 4_000_000 }), aLabel({ fdc_id: 4_000_001 })])
    await ingestLabels(home, "json", [aLabel({ fdc_id: 4_000_000, footnote: "A note" })], "2026-08-31")
    rebuiltHome = copyHome(home)
    rmSync(path.join(rebuiltHome, "warehouse"), { recursive: true })
    const rebuilt = await rebuild(rebuiltHome)
    expect(rebuilt.code, rebuilt.stderr).toBe(0)
    expect(rebuilt.problems).toContain("storefronts is not loaded, and has no run to repeat\n")
    runs = rebuilt.runs
  })
  afterAll(() => [home, rebuiltHome].forEach(removeFolder))

  it("repeats every run that read its source, and fetches nothing", () => {
    expect(runs.map(({ outcome, pipeline }) => [pipeline, outcome])).toEqual([
      ["commodities", "published"],
      ["commodities", "partial"],
      ["commodities", "unchanged"],
      ["branded-foods", "published"],
      ["branded-foods", "published"]
    ])
    expect(readdirSync(path.join(rebuiltHome, "raw"), { recursive: true }).length).toBe(
      readdirSync(path.join(home, "raw"), { recursive: true }).length
    )
  })

  it("has the same rows and ids, read only from the archive", async () => {
    const [before, after] = [await readEverything(home), await readEverything(rebuiltHome)]
    expect(before.length).toBeGreaterThan(100)
    expect(after).toEqual(before)
  })

  it("has the same categories, nutrition and served records, with their original fetch times", async () => {
    expect(await derivedOf(rebuiltHome)).toEqual(await derivedOf(home))
    const records = await recordsOf(home, [4_000_000, 4_000_001])
    expect(records).toMatchObject([{ footnote: "A note" }, { footnote: null }])
    expect(await recordsOf(rebuiltHome, [4_000_000, 4_000_001])).toEqual(records)
  })

  it("rebuilds a live data set as one generation, with the same rows, and leaves the others as they are", async () => {
    const copy = copyForTest(home)
    const [before, { number }] = [await readEverything(copy), newestManifest(copy)]
    const { code, runs, stderr } = await rebuild(copy, "branded-foods")
    expect(code, stderr).toBe(0)
    expect(runs.map(({ pipeline }) => pipeline)).toEqual(["branded-foods", "branded-foods"])
    const live = generationOf(copy, "branded-foods")
    expect(runs.map(({ generation }) => generation)).toEqual([live, live])
    const { data_sets, event, number: now } = newestManifest(copy)
    expect([now, event.kind, data_sets["branded-foods"]?.published_in]).toEqual([number + 1, "rebuild", number + 1])
    expect(data_sets.commodities).toEqual(newestManifest(home).data_sets.commodities)
    expect(await readEverything(copy)).toEqual(before)
    expect(listLeftoverFiles(copy)).toEqual([])
  })

  it("leaves out rolled-back runs, which stay rolled back", async () => {
    const copy = copyForTest(home)
    const args = ["rollback", "--only", "branded-foods", "--note", "a bad release"]
    expect((await run("larder-ingest", args, { LARDER_HOME: copy })).code).toBe(0)
    const records = await recordsOf(copy, [4_000_000])
    expect(records).toMatchObject([{ footnote: null }])
    const { code, runs, stderr } = await rebuild(copy, "branded-foods")
    expect(code, stderr).toBe(0)
    expect(runs).toHaveLength(1)
    expect(await recordsOf(copy, [4_000_000])).toEqual(records)
    const [undone] = await query(
      copy,
      "select pipeline, rows_loaded::integer as rows_loaded from ingest.run where rolled_back_by is not null"
    )
    expect(undone).toEqual([{ pipeline: "branded-foods", rows_loaded: 1 }])
  })

  it("leaves out rolled-back runs even if their records and the file made from them are lost", async () => {
    const copy = copyForTest(home)
    const rolledBack = newestManifest(copy).data_sets["branded-foods"]?.published_in
    const args = ["rollback", "--only", "branded-foods"]
    expect((await run("larder-ingest", args, { LARDER_HOME: copy })).code).toBe(0)
    const lostPart = newestManifest(copy).ingest.parts.find(({ first }) => first === rolledBack)
    rmSync(path.join(copy, "warehouse/objects", `${lostPart?.sha256.slice(0, 2)}/${lostPart?.sha256}`))
    rmSync(path.join(copy, "warehouse/ingestion.duckdb"))
    const { code, runs, stderr } = await rebuild(copy, "branded-foods")
    expect(code, stderr).toBe(0)
    expect(runs).toHaveLength(1)
  })

  it("replaces a data set with other tables, which runs and servers refuse by name, without reading it", async () => {
    const copy = copyForTest(home)
    const before = await readEverything(copy)
    const { data_sets, number } = newestManifest(copy)
    const otherTables = "commodities was published by another version of Larder, with other tables or views"
    const advice = "npx larder-ingest rebuild commodities"
    const manifest = path.join(copy, `warehouse/generations/${String(number).padStart(9, "0")}.json`)
    const definition = data_sets.commodities?.definition ?? ""
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace(definition, "0".repeat(64)))
    const [database] = data_sets.commodities?.parts ?? []
    rmSync(path.join(copy, `warehouse/objects/${database?.sha256.slice(0, 2)}/${database?.sha256}`))

    const refused = await replay(copy, everyFeed())
    expect([refused.code, parseRunRecord(refused)]).toMatchObject([1, { outcome: "failed", generation: null }])
    expect(refused.stderr).toContain(otherTables)
    expect(refused.stderr).toContain(advice)
    expect(newestManifest(copy).data_sets.commodities?.changed_in).toBe(data_sets.commodities?.changed_in)

    const server = await startServer(copy)
    const readReadiness = async () => (await fetch(`${server.console}/readyz`)).json()
    try {
      const reason = `${otherTables}, and no version converts them. Rebuild it from the raw archive with: ${advice}`
      const fault = `commodities of ${generationOf(copy, "commodities")} cannot be served (${reason}): see the log`
      expect(await readReadiness()).toMatchObject({ status: "ready", fault, missing: ["commodities", "storefronts"] })
      expect(server.logs()).toContain(otherTables)
      expect(server.logs()).toContain(advice)

      const { code, stderr } = await rebuild(copy, "commodities")
      expect(code, stderr).toBe(0)
      await waitUntilServed(server, generationOf(copy, "commodities"))
      expect(await readReadiness()).toMatchObject({ status: "ready", missing: ["storefronts"] })
      expect(await readReadiness()).not.toHaveProperty("fault")
    } finally {
      await server.stop()
    }
    expect(await readEverything(copy)).toEqual(before)
    expect(parseRunRecord(await replay(copy, everyFeed()))).toMatchObject({ outcome: "unchanged" })
  })

  it("exits with 1 and names each live data set that has no run to repeat", async () => {
    const copy = copyForTest(home)
    const lists = path.join(copy, "raw/fetches")
    for (const list of readdirSync(lists)) rmSync(path.join(lists, list))
    const { code, runs, problems } = await rebuild(copy)
    expect([code, runs]).toEqual([1, []])
    expect(problems).toMatch(
      /has no run of commodities and branded-foods to repeat: .* The published data of .* was not changed\.$/m
    )
    expect(newestManifest(copy)).toEqual(newestManifest(home))
  })

  it("exits with 1, names a damaged payload, and leaves the live data unchanged", async () => {
    const damaged = copyForTest(home)
    const raw = path.join(damaged, "raw")
    const [firstList = ""] = readdirSync(path.join(raw, "fetches")).sort()
    const ofFirstRun = readFileSync(path.join(raw, "fetches", firstList), "utf8")
    const name = filesIn(raw).find((stored) => ofFirstRun.includes(path.basename(stored, ".zst"))) ?? ""
    const file = path.join(raw, name)
    writeFileSync(file, "other bytes")
    const before = newestManifest(damaged)
    const { code, problems } = await rebuild(damaged)
    expect(code).toBe(1)
    expect(problems).toContain(`The archived payload ${file} `)
    expect(problems).toContain("Restore it from a backup")
    expect(newestManifest(damaged)).toEqual(before)
    expect(listLeftoverFiles(damaged)).toEqual([])
    rmSync(path.join(damaged, "warehouse"), { recursive: true })
    expect((await rebuild(damaged)).code).toBe(1)
    expect(existsSync(path.join(damaged, "warehouse/generations"))).toBe(false)
  })

  it("writes the data sets before a failure into the lake", async () => {
    const copy = copyForTest(home)
    const lists = readdirSync(path.join(copy, "raw/fetches")).sort()
    const ofLastRun = readFileSync(path.join(copy, "raw/fetches", lists.at(-1) ?? ""), "utf8") // of branded foods
    const name = filesIn(path.join(copy, "raw")).find((stored) => ofLastRun.includes(path.basename(stored, ".zst")))
    writeFileSync(path.join(copy, "raw", name ?? ""), "other bytes")
    const { code, stdout } = await run("larder-ingest", ["rebuild"], { LARDER_HOME: copy, LARDER_LAKE: "yes" })
    expect(code).toBe(1)
    const [, generation] = /commodities: rebuilt .* live in (\S+)/.exec(stdout) ?? []
    expect(readGenerations(path.join(copy, "warehouse/lake"), "commodity.observation_version")).toEqual([generation])
  })
})

describe("the bundled release of branded foods", () => {
  it("is not loaded again into a home that already has it", async () => {
    const home = copyForTest(inject("sampleHome"))
    const before = generationOf(home, "branded-foods")
    const { code, stdout } = await run("larder-ingest", ["branded-foods", "--json"], { LARDER_HOME: home })
    const record = parseRunRecord({ stdout })
    expect([code, record]).toMatchObject([
      0,
      { outcome: "unchanged", generation: null, rows_loaded: 0, rows_rejected: 0 }
    ])
    expect(record.rows_read).toBe(record.rows_unchanged)
    expect(generationOf(home, "branded-foods")).toBe(before)
  })
})
