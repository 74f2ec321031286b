/** Bad input to the program: a clear error, the right exit code, no lost data. About twenty runs. */
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { gzipSync } from "node:zlib"
import { objectName } from "@larder/warehouse/depot/depot.ts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  aBlockRow,
  aClose,
  aRange,
  type Bodies,
  blocks,
  bodyOf,
  everyFeed,
  feedNamed,
  type Row,
  recordingOf,
  writeRecordings
} from "../support/pipelines/commodity-payloads.ts"
import { run } from "../support/programs.ts"
import { editLiveData } from "../support/warehouse/edit-published.ts"
import { listLeftoverFiles } from "../support/warehouse/leftover-files.ts"
import {
  copyForTest,
  generationOf,
  makeTestFolder,
  newestManifest,
  parseRunRecord,
  query,
  removeFolder,
  replay,
  replayFolder,
  temporaryFolder,
  valuesOf
} from "./ingesting.ts"

const closes = feedNamed("gov-mars/1603")
const runLarder = (home: string, ...args: ReadonlyArray<string>) => run("larder-ingest", args, { LARDER_HOME: home })
const removeField = (row: Row, field: string): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => name !== field))
const good: Bodies = { [closes.feed]: bodyOf(closes, [aClose()]), [blocks.feed]: bodyOf(blocks, [aBlockRow()]) }
/** The blocks would be loaded if the closes did not fail the run. */
const withCloses = (body: string): Bodies => ({
  [closes.feed]: body,
  [blocks.feed]: bodyOf(blocks, [aBlockRow({ "Week Ending Date": "09/05/2026", cheese_40_Price: "1.6121" })])
})

let home = ""
beforeAll(async () => {
  home = temporaryFolder()
  const { stderr, stdout } = await replay(home, good) // two reports of many: a quick, partial run
  if (parseRunRecord({ stdout }).outcome !== "partial") throw new Error(stderr)
})
afterAll(() => removeFolder(home))

/** Expects the old generation to be live with its values, and the failed run to have left no files. */
const expectOldGeneration = async (home: string) => {
  expect(generationOf(home, "commodities")).toBe("larder-000001")
  expect(await valuesOf(home, "cheese_block_sales_price_weekly")).toEqual(["2026-08-29 1.6140"])
  expect(listLeftoverFiles(home)).toEqual([])
  expect(readdirSync(path.join(home, "staging"))).toEqual([])
}

/** Reads the runs of a home, oldest first. */
const readRuns = async (home: string) => {
  const [runs] = await query(home, "select outcome, generation, rows_loaded, message from ingest.run order by run_id")
  return runs ?? []
}

describe("a payload that cannot be trusted", () => {
  const truncated = bodyOf(closes, [aClose()]).slice(0, -30)
  const reason = /gov-mars\/1603: The payload of \S+\/1603 is not complete JSON: /

  it("is left out, the other reports are published, and the run exits with 4", async () => {
    const copy = copyForTest(home)
    const run = await replay(copy, { ...everyFeed(), [closes.feed]: truncated })
    expect(run.code).toBe(4)
    expect(run.problems).toMatch(/1 feed of commodities left out; the others were published\./)
    expect(run.problems).toMatch(reason)
    expect(parseRunRecord(run)).toMatchObject({
      outcome: "partial",
      generation: "larder-000002",
      left_out: [{ feed: closes.feed, kind: "untrusted" }]
    })
    expect(await valuesOf(copy, "butter_exch_spot_close_daily")).toEqual(["2026-09-29 1.39"])
    expect(await valuesOf(copy, "lactose_us_central_and_west_price_min_weekly")).toEqual(["2026-09-25 0.59"])
  })

  it("fails the run with exit code 1 when more than a third of the payloads cannot be trusted", async () => {
    const copy = copyForTest(home)
    const run = await replay(copy, withCloses(truncated))
    expect(run.code).toBe(1)
    expect(parseRunRecord(run)).toMatchObject({ outcome: "failed", generation: null, rows_read: null })
    expect(run.problems).toMatch(/1 of 2 feeds that responded cannot be trusted, which is more than a third\./)
    expect(run.problems).toMatch(reason)
    expect(run.problems).toMatch(/This run published nothing; the previous generation stays live/)
    await expectOldGeneration(copy)
    expect(await readRuns(copy)).toMatchObject([
      { outcome: "partial" },
      { outcome: "failed", generation: null, rows_loaded: null, message: expect.stringMatching(reason) }
    ])
  })
})

describe("a run with many payloads that cannot be trusted", () => {
  const bodyFor = (slug: number, row: Row, counts: Row = {}) => bodyOf(feedNamed(`gov-mars/${slug}`), [row], counts)
  const renamed = { ...removeField(aRange(1038), "price_min"), lowest_price: 0.59 }
  /** The recording of a report, and the message about it. */
  const faults: ReadonlyArray<readonly [fault: string, feed: string, body: string, message: RegExp]> = [
    ["truncated JSON", closes.feed, "[", /gov-mars\/1603: The payload of \S+\/1603 is not complete JSON/],
    [
      "an HTML page",
      "gov-mars/1602",
      "<!DOCTYPE html><title>Maintenance</title>",
      /gov-mars\/1602: .* is an HTML or XML page, not JSON/
    ],
    ["0 bytes", "gov-mpr/2991/Detail", "", /gov-mpr\/2991\/Detail: The payload of \S+ is empty/],
    [
      "a recorded refusal",
      "gov-mars/1034",
      '{"errorCode":403,"message":"Access is denied"}',
      /gov-mars\/1034: .* instead of rows: "Access is denied"/
    ],
    [
      "a response at the row cap",
      "gov-mars/1035",
      bodyFor(1035, aRange(1035), { returnedRows: 100_000 }),
      /gov-mars\/1035: .* truncated at the row cap: 100000/
    ],
    [
      "a section with a different name",
      "gov-mars/1623",
      bodyFor(1623, {}).replace("CME Monthly", "CME Yearly"),
      /gov-mars\/1623: .* lacks the section "CME Monthly Averages"; it has: "CME Yearly Averages"/
    ],
    [
      "a column that vanished",
      "gov-mars/1038",
      bodyFor(1038, renamed),
      /gov-mars\/1038: The report has changed: the column price_min is missing\. The payload has: .*lowest_price/
    ],
    [
      "a column that was retyped",
      "gov-mars/1039",
      bodyFor(1039, aRange(1039, { price_min: "see note" })),
      /gov-mars\/1039: The report has changed: the column price_min of \w+ no longer contains numbers, but values like "see note"/
    ],
    [
      "dates that were retyped",
      "gov-mars/1041",
      bodyFor(1041, aRange(1041, { report_end_date: 20260929 })),
      /gov-mars\/1041: The report has changed: .* report_end_date is 20260929, which is not a date/
    ],
    [
      "a row selector's field that vanished",
      "gov-mars/1045",
      bodyFor(1045, removeField(aRange(1045), "quality")),
      /gov-mars\/1045: The report has changed: the field quality, .* is missing/
    ]
  ]
  const damaged = feedNamed("gov-mars/1042")
  let copy = ""
  let run: Awaited<ReturnType<typeof replayFolder>>
  beforeAll(async () => {
    copy = temporaryFolder()
    cpSync(home, copy, { recursive: true, verbatimSymlinks: true })
    const folder = temporaryFolder()
    writeRecordings(folder, Object.fromEntries(faults.map(([, feed, body]) => [feed, body])))
    writeFileSync(
      path.join(folder, `${recordingOf(damaged)}.gz`),
      gzipSync(bodyFor(1042, aRange(1042))).subarray(0, 60)
    )
    run = await replayFolder(copy, folder)
    removeFolder(folder)
  })
  afterAll(() => removeFolder(copy))

  it.each(faults)("reports each fault with its feed and field: %s", (_fault, _feed, _body, message) => {
    expect(run.problems).toMatch(message)
  })

  it("reports a damaged recording with its file", () => {
    expect(run.problems).toMatch(/gov-mars\/1042: The recording \S+1042\.gz cannot be read: unexpected end of file/)
  })

  it("exits with 1, leaves the old generation live and names the feeds that could not be fetched", async () => {
    expect(run.code).toBe(1)
    expect(run.problems).toMatch(/gov-mars\/1036: There is no recording of GET /)
    await expectOldGeneration(copy)
  })
})

describe("a failing check", () => {
  const bodies = withCloses(bodyOf(closes, [aClose()]))
  const change = (home: string, sql: string) => editLiveData(home, "commodities", sql)
  /** A value without its metric, which no payload can cause. */
  const orphan = `
    insert into commodity.observation_version
    select * replace ('butter_close' as metric_name) from commodity.observation_version limit 1`

  it("publishes nothing, exits with 3 and shows the bad rows", async () => {
    const copy = copyForTest(home)
    await change(copy, orphan)
    const run = await replay(copy, bodies)
    expect(run.code).toBe(3)
    expect(run.problems).toMatch(/values_have_metrics: 1 bad rows, such as .*"butter_close"/)
    await expectOldGeneration(copy)
  })

  it("is recorded with its results, and a failed run with its message", async () => {
    const copy = copyForTest(home)
    await change(copy, orphan)
    await replay(copy, bodies)
    await change(copy, "delete from commodity.observation_version where metric_name = 'butter_close'")
    await replay(copy, withCloses("<html>"))
    await replay(copy, bodies)
    const runs = await readRuns(copy)
    const [results] = await query(
      copy,
      "select name, bad_rows::integer as bad_rows from ingest.check_result join ingest.run using (run_id) where outcome = 'checks_failed'"
    )
    expect(runs.map(({ generation, outcome }) => ({ generation, outcome }))).toEqual([
      { outcome: "partial", generation: "larder-000001" },
      { outcome: "checks_failed", generation: null },
      { outcome: "failed", generation: null },
      { outcome: "partial", generation: "larder-000004" }
    ])
    expect(runs[2]?.message).toMatch(/gov-mars\/1603: .* HTML/)
    expect(results).toContainEqual({ name: "values_have_metrics", bad_rows: 1 })
  })
})

describe("a command with wrong options", () => {
  it("exits with 2 and names a folder of recordings that does not exist", async () => {
    const copy = makeTestFolder()
    const run = await replayFolder(copy, path.join(copy, "no-such-folder"))
    expect(run.code).toBe(2)
    expect(run.problems).toContain("no-such-folder")
    expect(readdirSync(copy)).toEqual([])
  })

  it.each([
    ["a day that does not exist", ["--from", "2026-02-30", "--to", "2026-03-01"], /2026-02-30|real calendar day/],
    ["a day in another format", ["--from", "09/01/2026", "--to", "2026-09-30"], /calendar day/],
    [
      "a window that ends before it begins",
      ["--from", "2026-09-30", "--to", "2026-09-01"],
      /--from 2026-09-30 is after --to 2026-09-01/
    ],
    [
      "a file, which this pipeline does not read",
      ["--file", import.meta.filename],
      /--file does not apply to commodities/
    ],
    [
      "a file that does not exist",
      ["--file", "no-such.zip"],
      /--file does not apply to commodities: use it with larder-ingest branded-foods/
    ],
    ["half a window", ["--from", "2026-09-01"], /--from and --to must be given together/]
  ])("exits with 2 and names the fault: %s", async (_, args, message) => {
    const copy = makeTestFolder()
    const folder = makeTestFolder()
    const run = await replayFolder(copy, folder, ...args)
    expect(run.code).toBe(2)
    expect(run.problems).toMatch(message)
    expect(readdirSync(copy)).toEqual([])
  })
})

describe("a run with an unusable LARDER_HOME", () => {
  it("exits with 1 and names a folder below a regular file, which cannot be created", async () => {
    const folder = makeTestFolder()
    writeFileSync(path.join(folder, "file"), "")
    const below = path.join(folder, "file", "home")
    const run = await replay(below, good)
    expect(run.code).toBe(1)
    expect(run.problems).toContain(`${path.join(below, "warehouse")} cannot be created or written`)
    expect(run.problems).toMatch(/Set LARDER_HOME to a folder/)
  })

  it("exits with 1 if the warehouse has an earlier format, explains the remedy, and leaves it as it is", async () => {
    const folder = makeTestFolder()
    const file = path.join(folder, "warehouse/larder-000001.duckdb")
    mkdirSync(path.dirname(file))
    writeFileSync(file, "a generation in one file")
    const run = await replay(folder, good)
    expect(run.code).toBe(1)
    expect(run.problems).toMatch(
      /contains a warehouse in an earlier format \(larder-000001\.duckdb\).*larder-ingest rebuild/
    )
    expect(readdirSync(path.dirname(file))).toEqual(["larder-000001.duckdb"])
    expect(readFileSync(file, "utf8")).toBe("a generation in one file")
  })
})

describe("a list of generations that an earlier version wrote", () => {
  it("exits with 1, and says that the warehouse is rebuilt", async () => {
    const copy = copyForTest(home)
    const folder = path.join(copy, "warehouse", "generations")
    for (const name of readdirSync(folder)) {
      const manifest: object = JSON.parse(readFileSync(path.join(folder, name), "utf8"))
      chmodSync(path.join(folder, name), 0o644)
      writeFileSync(path.join(folder, name), JSON.stringify({ ...manifest, format: 1 }))
    }
    const { code, stderr } = await run("larder-ingest", ["generations"], { LARDER_HOME: copy })
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /was written by an earlier version of Larder, and no version converts it.*larder-ingest rebuild/
    )
  })
})

describe("a run on a part that was modified", () => {
  it("exits with 1, names the part and the remedy, copies nothing from it, and a rebuild repairs it", async () => {
    const copy = copyForTest(home)
    const [before, prices] = [newestManifest(copy), await valuesOf(copy, "cheese_block_sales_price_weekly")]
    const [part] = before.data_sets.commodities?.parts ?? []
    const file = path.join(copy, "warehouse", objectName(part?.sha256 ?? ""))
    chmodSync(file, 0o644)
    const bytes = readFileSync(file)
    const middle = bytes.length >> 1
    bytes[middle] = (bytes[middle] ?? 0) ^ 1
    writeFileSync(file, bytes)
    const run = await replay(copy, withCloses(bodyOf(closes, [aClose()])))
    expect(run.code).toBe(1)
    expect(run.problems).toContain(`commodities.duckdb of commodities (${file}) was changed after it was published`)
    expect(run.problems).toContain("npx larder-ingest rebuild commodities")
    expect(newestManifest(copy).data_sets).toEqual(before.data_sets)
    const rebuilt = await runLarder(copy, "rebuild", "commodities")
    expect(rebuilt.code, rebuilt.stderr).toBe(0)
    expect(await valuesOf(copy, "cheese_block_sales_price_weekly")).toEqual(prices)
  })
})

describe("a run that can read nothing", () => {
  it("exits with 1, names every report and leaves the old generation live", async () => {
    const copy = copyForTest(home)
    const run = await replayFolder(copy, makeTestFolder())
    expect(run.code).toBe(1)
    expect(run.problems).toMatch(/Nothing could be read, so nothing was published\./)
    for (const feed of Object.keys(everyFeed())) expect(run.problems).toContain(`${feed}: `)
    await expectOldGeneration(copy)
    expect(parseRunRecord(run)).toMatchObject({ outcome: "failed", generation: null, rows_read: null })
    expect(parseRunRecord(run).left_out).toHaveLength(Object.keys(everyFeed()).length)
  })
})
