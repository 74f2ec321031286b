/** Small inputs after public reports about other loaders of the same reports: what a run publishes, rejects and tells. */
import { cpSync, existsSync } from "node:fs"
import path from "node:path"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { replayOrigin } from "@larder/pipelines/run/origins/replay.ts"
import { afterAll, expect, it } from "vitest"
import { type EndedInProcess, runInProcess } from "../support/pipelines/in-process.ts"
import { casesOf, describeCases } from "../support/shared-samples.ts"
import { copyHome, makeTestFolder, query, removeFolder, temporaryFolder, valuesOf } from "./ingesting.ts"

const cases = casesOf("prices")
const base = path.join(cases, "base")

const replayInto = (home: string, recordings: string) => runInProcess(commodities, home, replayOrigin(recordings))

let plain: Promise<string> | undefined
/** A home with the base alone. */
const plainHome = () => {
  plain ??= (async () => {
    const home = temporaryFolder()
    await replayInto(home, base)
    return home
  })()
  return plain
}
afterAll(async () => plain && removeFolder(await plain))

/** The base with the files of several cases over it, each of other reports. */
const runCases = async (...names: ReadonlyArray<string>) => {
  const [home, recordings] = [makeTestFolder(), makeTestFolder()]
  for (const folder of [base, ...names.map((name) => path.join(cases, name))]) {
    cpSync(folder, recordings, { recursive: true })
  }
  return { home, ...(await replayInto(home, recordings)) }
}

/** A case with a second part is replayed over a home with the base. */
const runCase = async (name: string) => {
  const second = path.join(cases, name, "2")
  if (!existsSync(second)) return runCases(name)
  const [home, recordings] = [copyHome(await plainHome(), makeTestFolder()), makeTestFolder()]
  for (const folder of [base, second]) cpSync(folder, recordings, { recursive: true })
  return { home, ...(await replayInto(home, recordings)) }
}

const feedsOf = ({ left_out }: EndedInProcess) => left_out.map(({ feed }) => feed)
const block = "cheese_block_sales_price_weekly"
const blocks = "gov-mpr/2993/40 Pound Block Cheddar Cheese Prices and Sales"
const whey = "dry_whey_us_west_price_min_weekly"

describeCases("prices", "a report", () => {
  it("of another number is left out", async () => {
    const ended = await runCase("g00-another-report")
    expect([ended.code, ended.left_out]).toMatchObject([4, [{ feed: "gov-mars/1047", kind: "untrusted" }]])
  })

  it("whose newest publication contradicts itself is left out", async () => {
    const ended = await runCase("g20-newest-contradicts-itself")
    expect([ended.code, ended.left_out]).toMatchObject([4, [{ feed: blocks, kind: "untrusted" }]])
  })

  it("that is gzip under a plain name is left out as such", async () => {
    const ended = await runCase("g08-gzip-without-gz")
    expect([ended.code, ended.left_out[0]?.reason]).toEqual([4, expect.stringContaining("gzip")])
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
      expect(feedsOf(ended)).toContain("gov-mars/1603")
      const { reason } = ended.left_out.find(({ feed }) => feed === "gov-mars/1603") ?? {}
      expect(reason).toContain('"Cheese, 40 lb. Block" match no metric, and cheese_block_exch_spot_close_daily')
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
    expect(ended.left_out).toMatchObject([{ feed, kind: "partial", reason: expect.stringContaining(text) }])
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
    expect(ended.left_out).toMatchObject([{ feed: "gov-mars/1046", kind: "partial" }])
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
    const [ended, plain] = [await runCases(...Object.keys(metrics)), await plainHome()]
    expect([ended.code, ended.left_out]).toEqual([0, []])
    for (const metric of Object.values(metrics)) {
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
    const ended = await runCases("r1-old-regions", "r1b-us-imports")
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
