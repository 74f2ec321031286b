/**
 * Small inputs after public reports about other loaders of the same reports: what a run publishes, rejects and tells. Cases of
 * different reports share a run.
 */
import { cpSync, existsSync } from "node:fs"
import path from "node:path"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { replayOrigin } from "@larder/pipelines/run/origins/replay.ts"
import { afterAll, expect, it } from "vitest"
import { type EndedInProcess, runInProcess } from "../support/pipelines/in-process.ts"
import { casesOf, describeCases } from "../support/shared-samples.ts"
import { copyHome, query, removeFolder, temporaryFolder, valuesOf } from "./ingesting.ts"

const cases = casesOf("prices")
const base = path.join(cases, "base")

type Ended = EndedInProcess & { readonly home: string }

/** Runs once for each list of cases, and keeps their homes until the last test. */
const runs = new Map<string, Promise<Ended>>()
const runOnce = (name: string, make: (home: string) => Promise<Ended>) => {
  const made = runs.get(name) ?? make(temporaryFolder())
  runs.set(name, made)
  return made
}
afterAll(async () => {
  for (const run of await Promise.allSettled(runs.values()))
    if (run.status === "fulfilled") removeFolder(run.value.home)
})

const replayOver = async (home: string, folders: ReadonlyArray<string>): Promise<Ended> => {
  const recordings = temporaryFolder()
  try {
    for (const folder of [base, ...folders]) cpSync(folder, recordings, { recursive: true })
    return { home, ...(await runInProcess(commodities, home, replayOrigin(recordings))) }
  } finally {
    removeFolder(recordings)
  }
}

/** A home with the base alone. */
const plainHome = async () => (await runOnce("base", (home) => replayOver(home, []))).home

/** Cases that share a run: each is of other reports. The last ones are second parts, replayed over a home with the base. */
const shared = [
  ["g00-another-report", "g08-gzip-without-gz", "g10-feed-grade-west", "g20-newest-contradicts-itself"],
  ["g11-wpc80-beside", "r3-old-contradiction"],
  ["g01-mixed-key-case", "g02-dollar-sign", "g29-dash-in-unused-column"],
  ["g28-all-but-one-rejected", "r5-weeks-that-end-on-monday"],
  ["g30-newest-half-rejected", "g03-dash-for-nothing"],
  ["g27-old-names", "g13b-decimal-slip"],
  ["r1-old-regions", "r1b-us-imports"],
  ["g22-year-typo"],
  ["r4-stops-answering", "g09-label-drift"],
  ["g09c-label-drift-everywhere"]
]
const runCase = (name: string) => {
  const names = shared.find((names) => names.includes(name)) ?? expect.fail(name)
  const folderOf = (name: string) => path.join(cases, name)
  return runOnce(names.join(), async (home) => {
    const isLater = existsSync(path.join(folderOf(name), "2"))
    if (isLater) copyHome(await plainHome(), home)
    return replayOver(
      home,
      names.map(folderOf).map((folder) => (isLater ? path.join(folder, "2") : folder))
    )
  })
}

/** What a run left out of a feed. */
const leftOut = ({ left_out }: EndedInProcess, feed: string) => left_out.filter((left) => left.feed === feed)

const block = "cheese_block_sales_price_weekly"
const blocks = "gov-mpr/2993/40 Pound Block Cheddar Cheese Prices and Sales"
const butter = "gov-mpr/2993/Butter Prices and Sales"
const whey = "dry_whey_us_west_price_min_weekly"

describeCases("prices", "a report", () => {
  it("of another number is left out", async () => {
    const ended = await runCase("g00-another-report")
    expect([ended.code, leftOut(ended, "gov-mars/1047")]).toMatchObject([4, [{ kind: "untrusted" }]])
  })

  it("whose newest publication contradicts itself is left out", async () => {
    const ended = await runCase("g20-newest-contradicts-itself")
    expect([ended.code, leftOut(ended, blocks)]).toMatchObject([4, [{ kind: "untrusted" }]])
  })

  it("that is gzip under a plain name is left out as such", async () => {
    const ended = await runCase("g08-gzip-without-gz")
    const [left] = leftOut(ended, butter)
    expect([ended.code, left?.reason]).toEqual([4, expect.stringContaining("gzip")])
  })

  it("leaves out no other report", async () => {
    const feedsOf = async (name: string) => (await runCase(name)).left_out.map(({ feed }) => feed).sort()
    expect(await feedsOf("g00-another-report")).toEqual(["gov-mars/1046", "gov-mars/1047", blocks, butter])
    expect(await feedsOf("g11-wpc80-beside")).toEqual(["gov-mars/1046", "gov-mars/1053"])
  })

  it("that stops answering is reported", async () => {
    const ended = await runCase("r4-stops-answering")
    expect(ended.output).toMatch(/the response has no row, although prices of 10 .*gov-mpr\/2989\/Detail/)
    expect(await valuesOf(ended.home, "milk_class_i_price_monthly")).toHaveLength(10)
  })

  it.each(["g09-label-drift", "g09c-label-drift-everywhere"])(
    "that spells a product in a new way names the text: %s",
    async (name) => {
      const ended = await runCase(name)
      expect(ended.code).toBe(4)
      const [left] = leftOut(ended, "gov-mars/1603")
      expect(left?.reason).toContain('"Cheese, 40 lb. Block" match no metric, and cheese_block_exch_spot_close_daily')
    }
  )
})

describeCases("prices", "an odd row", () => {
  it.each([
    ["g10-feed-grade-west", "gov-mars/1046", "Non-Edible"],
    ["g11-wpc80-beside", "gov-mars/1053", "WPC 80%"]
  ])("that contradicts its metric is rejected alone: %s", async (name, feed, text) => {
    const ended = await runCase(name)
    expect(ended.code).toBe(4)
    expect(leftOut(ended, feed)).toMatchObject([{ kind: "partial", reason: expect.stringContaining(text) }])
    const [rejects] = await query(ended.home, `select reason from ingest.reject where feed = '${feed}'`)
    expect(rejects).toHaveLength(1)
  })

  it("of an older publication under an unknown name is rejected alone", async () => {
    const ended = await runCase("g27-old-names")
    expect(ended.code).toBe(0)
    const [rejects] = await query(ended.home, "select feed from ingest.reject order by feed")
    expect(rejects).toEqual([{ feed: "gov-mars/1050" }, { feed: "gov-mars/1053" }])
  })

  it("that contradicts another in an older publication is rejected with it, and reported", async () => {
    const ended = await runCase("r3-old-contradiction")
    expect(leftOut(ended, "gov-mars/1046")).toMatchObject([{ kind: "partial" }])
    const values = await valuesOf(ended.home, whey)
    expect(values).toContain("2021-01-15 0.56")
    expect(values.filter((value) => value.startsWith("2021-01-08"))).toEqual([])
  })

  it.each(["g13b-decimal-slip", "g22-year-typo"])("is named by a check: %s", async (name) => {
    const { code, output } = await runCase(name)
    expect(code).toBe(0)
    if (name === "g13b-decimal-slip") expect(output).toMatch(/new_values_are_near_their_neighbours.*14\.411/)
    else
      expect(output).toMatch(/new_years_fit_their_publication.*2006-09-29|2006-09-29.*new_years_fit_their_publication/)
  })
})

describeCases("prices", "an odd cell", () => {
  it.each([
    {
      "g01-mixed-key-case": "butter_exch_spot_close_daily",
      "g02-dollar-sign": block,
      "g29-dash-in-unused-column": "dry_whole_milk_us_price_min_weekly"
    },
    { "g28-all-but-one-rejected": "cheese_block_exch_spot_close_daily" },
    { "g30-newest-half-rejected": "dry_whey_exch_spot_close_daily" }
  ])("costs no price: %j", async (metrics) => {
    const plain = await plainHome()
    for (const [name, metric] of Object.entries(metrics)) {
      const ended = await runCase(name)
      expect([ended.code, ended.left_out]).toEqual([0, []])
      expect(await valuesOf(ended.home, metric), metric).toEqual(await valuesOf(plain, metric))
    }
  })

  it("that says nothing costs only its own price", async () => {
    const [ended, plain] = [await runCase("g03-dash-for-nothing"), await plainHome()]
    expect(ended.code).toBe(0)
    for (const name of ["ii", "iii", "iv"]) {
      const metric = `milk_class_${name}_price_monthly`
      expect(await valuesOf(ended.home, metric)).toEqual(await valuesOf(plain, metric))
    }
    const averages = await valuesOf(plain, "dry_whey_survey_average_monthly")
    expect(await valuesOf(ended.home, "dry_whey_survey_average_monthly")).toHaveLength(averages.length - 1)
  })
})

describeCases("prices", "an older era", () => {
  it("is read under its own names", async () => {
    const ended = await runCase("r1-old-regions")
    expect([ended.code, ended.left_out]).toEqual([0, []])
    const [rejects] = await query(ended.home, "from ingest.reject")
    expect(rejects).toEqual([])
  })

  it("has its weeks on the weekday of the series", async () => {
    const { code, home } = await runCase("r5-weeks-that-end-on-monday")
    expect(code).toBe(0)
    const [weekdays] = await query(
      home,
      "select distinct dayname(observed_on) as day from commodity.observation where metric_name like 'lactose_%'"
    )
    expect(weekdays).toEqual([{ day: "Friday" }])
  })
})
