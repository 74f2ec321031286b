/** What `commodity.metric` says about the bundled samples, compared with their values and payloads. */
import { readFileSync } from "node:fs"
import path from "node:path"
import { gunzipSync } from "node:zlib"
import { catalog } from "@larder/pipelines/commodities/catalog.ts"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { Effect } from "effect"
import { describe, expect, inject, it } from "vitest"
import { recordingOf } from "../support/pipelines/commodity-payloads.ts"
import { queryDatabase } from "../support/warehouse/analyst.ts"

const query = async (sql: string) => {
  const file = path.join(inject("sampleHome"), "warehouse", "larder.duckdb")
  const [rows = []] = await Effect.runPromise(queryDatabase(file, sql))
  return rows
}

const { feedsByName, metrics } = catalog()

/** The cells of a payload in a column, in the rows that a metric selects. */
const cellsOf = (metric: (typeof metrics)[number]) => {
  const feed = feedsByName.get(metric.feeds[0] ?? "")
  if (feed === undefined) throw new Error(metric.metric_name)
  const file = new URL(`${recordingOf(feed).replaceAll("%", "%25")}.gz`, commodities.samples)
  const { results } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
    readonly results: ReadonlyArray<Readonly<Record<string, unknown>>>
  }
  const selected = results.filter((row) =>
    metric.where.every(({ field, values }) => values.includes(String(row[field])))
  )
  return selected.map((row) => row[metric.column.name])
}

describe("the metrics of the bundled samples", () => {
  it("have weeks that end on the weekday in their frequency, and months of their first day", async () => {
    const faults = await query(`
      select metric_name, frequency_text, observed_on::varchar as observed_on
      from commodity.observation join commodity.metric using (metric_name)
      where case
        when frequency in ('weekly', 'biweekly') then not ends_with(frequency_text, ', ending ' || dayname(observed_on))
        when frequency = 'monthly' then day(observed_on) <> 1
        else frequency_text <> 'Daily'
      end
      limit 5`)
    expect(faults).toEqual([])
  })

  it("have the first and last day of their values, and the time of their newest publication", async () => {
    const faults = await query(`
      from (
        select metric_name, first_observed_on, last_observed_on, last_updated, observations from commodity.metric
        where observations > 0)
      except
      select metric_name, min(observed_on), max(observed_on), max(last_published_at), count(*)
      from commodity.observation group by metric_name`)
    expect(faults).toEqual([])
  })

  it("are printed sometimes exactly if they skip periods of their report: daily closes skip up to 4 of 1,437", async () => {
    const wrong = await query(`
      with period as (select distinct feed, observed_on from commodity.observation join commodity.metric using (metric_name)),
      share as (
        select metric_name, printed, observations / count(*) as printed_share
        from commodity.metric join period using (feed)
        where observed_on >= coalesce(first_observed_on, date '0001-01-01')
          and observed_on <= coalesce(ended_on, date '9999-12-31')
        group by metric_name, printed, observations)
      select metric_name, printed, printed_share from share where (printed = 'sometimes') <> (printed_share < 0.98)`)
    expect(wrong).toEqual([])
  })

  it("lack values exactly if their reports print none, and say so", async () => {
    const silent = await query(
      "select metric_name, no_values_reason as reason from commodity.metric where observations = 0 order by metric_name"
    )
    expect(silent.length).toBeGreaterThan(10)
    expect(
      await query("select metric_name from commodity.metric where (no_values_reason is null) <> (observations > 0)")
    ).toEqual([])
    for (const { metric_name, reason } of silent) {
      const metric = metrics.find((metric) => metric.metric_name === metric_name)
      if (metric === undefined) throw new Error(String(metric_name))
      expect(reason).toBe(
        `${metric.feeds[0]} was read, but the rows of this metric have no usable number in ${metric.column.name}.`
      )
      const cells = cellsOf(metric)
      expect([metric_name, cells.length > 100]).toEqual([metric_name, true])
      expect([metric_name, ...new Set(cells)]).toEqual([metric_name, null])
    }
  })
})
