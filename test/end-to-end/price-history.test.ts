/** A first run over a made history of every feed, from 2000 to 2026. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeHistory, metricsWithoutHistory } from "../support/pipelines/price-history.ts"
import { parseRunRecord, query, removeFolder, replay, temporaryFolder } from "./ingesting.ts"

const { bodies, prices } = makeHistory()
let home = ""
let ended: Awaited<ReturnType<typeof replay>>
beforeAll(async () => {
  home = temporaryFolder()
  ended = await replay(home, bodies)
})
afterAll(() => removeFolder(home))

describe("a history of 26 years", () => {
  it("is published from every feed", () => {
    expect(parseRunRecord(ended)).toMatchObject({ outcome: "published", left_out: [] })
    expect(ended.code, ended.stderr).toBe(0)
    expect(Object.keys(bodies)).toHaveLength(39)
  })

  it("has every price of every metric on its day, as printed", async () => {
    const [rows = []] = await query(
      home,
      "select metric_name, observed_on::varchar as day, value_text from commodity.observation order by all"
    )
    const published = new Map<string, Map<string, string>>()
    for (const { day, metric_name, value_text } of rows) {
      const days = published.get(String(metric_name)) ?? new Map<string, string>()
      published.set(String(metric_name), days.set(String(day), String(value_text)))
    }
    expect([...published.keys()].sort()).toEqual([...prices.keys()].sort())
    for (const [metric, expected] of prices) expect(published.get(metric), metric).toEqual(expected)
    expect(metricsWithoutHistory(prices)).toHaveLength(6) // columns of 2991 that may be missing
  })

  it("rejects only the rows that contradict each other, and warns of nothing else", async () => {
    const [rejects = [], odd, checks] = await query(
      home,
      "select distinct reason from ingest.reject",
      "from ingest.odd_value",
      "select name from ingest.check_result where bad_rows > 0 and name not in ('metrics_have_values', 'weekly_average_is_mean_of_closes')"
    )
    expect(rejects.length).toBeGreaterThan(0)
    for (const { reason } of rejects)
      expect(reason).toMatch(/^row \d+ contradicts row \d+: \w+_price_min_weekly of 200/)
    expect(odd).toEqual([])
    expect(checks).toEqual([])
  })
})
