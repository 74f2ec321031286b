import { assert, describe, it } from "@effect/vitest"
import { barChart, type LineChart, lineChart } from "./chart.ts"
import type { Html } from "./html.ts"

const text = async (html: Html) => String(await html)
const ticks = (chart: string) => [...chart.matchAll(/<span>([^<]*)<\/span>/g)].map(([, tick]) => tick)

const bars = (values: ReadonlyArray<number>) =>
  barChart({
    id: "calls",
    title: "Calls & more",
    description: "Most on <Monday>.",
    bars: values.map((value, index) => ({ label: `day ${index + 1}`, value })),
    say: (value) => `${value} calls`,
    tick: String,
    columns: ["Day", "Calls"]
  })

const prices = (lines: LineChart["lines"], fromZero = false): LineChart => ({
  id: "prices",
  title: "Prices",
  description: "Up.",
  lines,
  say: (value) => `$${value}`,
  tick: String,
  fromZero
})
const lines = (given: LineChart["lines"], fromZero = false) => lineChart(prices(given, fromZero))

describe("a bar chart", () => {
  it("has a title, a description and the same numbers as a table", async () => {
    const chart = await text(bars([1, 0, 4]))
    assert.include(chart, '<title id="calls-title">Calls &amp; more</title>')
    assert.include(chart, '<desc id="calls-about">Most on &lt;Monday&gt;.</desc>')
    assert.include(chart, 'aria-labelledby="calls-title calls-about"')
    assert.match(chart, /<th scope="row"[^>]*>day 3<\/th><td class="numeric">4 calls<\/td>/)
  })
  it("draws bars from zero, nothing for zero, and says every value", async () => {
    const chart = await text(bars([1, 0, 4]))
    assert.strictEqual(chart.match(/class="bar"/g)?.length, 2)
    assert.include(chart, 'y="0" width="233.33" height="100"')
    assert.include(chart, 'y="75" width="233.33" height="25"')
    assert.include(chart, 'data-say="day 2: 0 calls"')
  })
  it.each([
    [[1], ["1", "0"]],
    [[2], ["2", "1", "0"]],
    [[3], ["3", "2", "1", "0"]],
    [[7], ["8", "6", "4", "2", "0"]],
    [[14], ["15", "10", "5", "0"]],
    [
      [0, 0],
      ["1", "0"]
    ],
    [[100_000], ["100000", "50000", "0"]]
  ])("of %j has round ticks, and no half of a call", async (values, expected) => {
    const [drawn = ""] = (await text(bars(values))).split("</svg>")
    assert.deepStrictEqual(ticks(drawn), expected)
  })
  it("without bars is still a chart", async () => {
    assert.include(await text(bars([])), "<svg")
  })
})

describe("a line chart", () => {
  const point = (day: string, value: number) => ({ day, value })

  it("puts points where their days are, also where days are missing", async () => {
    const chart = await text(
      lines([{ name: "a", points: [point("2026-01-01", 1), point("2026-01-02", 2), point("2026-01-05", 3)] }])
    )
    assert.include(chart, 'd="M0 100L250 50L1000 0"')
  })
  it("spans the values, or begins at zero", async () => {
    const given = [{ name: "a", points: [point("2026-01-01", 100), point("2026-01-02", 104)] }]
    assert.deepStrictEqual(ticks(await text(lines(given))).slice(0, 5), ["104", "103", "102", "101", "100"])
    assert.strictEqual(ticks(await text(lines(given, true)))[0], "150")
  })
  it("tells how many decimals its ticks need", async () => {
    const given = [{ name: "a", points: [point("2026-01-01", 1.29), point("2026-01-02", 1.94)] }]
    const chart = lineChart({ ...prices(given), tick: (value, decimals) => value.toFixed(decimals) })
    assert.deepStrictEqual(ticks(await text(chart)).slice(0, 5), ["2.0", "1.8", "1.6", "1.4", "1.2"])
  })
  it("names several lines in a legend, and each value under one day", async () => {
    const chart = await text(
      lines([
        { name: "Butter", points: [point("2026-01-01", 1)] },
        { name: "Cheese", points: [point("2026-01-01", 2), point("2026-01-02", 3)] }
      ])
    )
    assert.match(chart, /<li><svg class="sample"[^>]*><path class="line line-2"[^>]*\/><\/svg>Cheese<\/li>/)
    assert.include(chart, 'data-say="1 Jan 2026: Butter $1, Cheese $2"')
    assert.include(chart, 'data-say="2 Jan 2026: Cheese $3"')
  })
  it.each([[[]], [[{ name: "a", points: [] }]], [[{ name: "a", points: [point("2026-01-01", 5)] }]]])(
    "of hardly anything has no broken number: %j",
    async (given) => {
      assert.notMatch(await text(lines(given)), /NaN|Infinity|undefined/)
    }
  )
  it("of equal values has no broken number", async () => {
    const flat = [{ name: "a", points: [point("2026-01-01", 0), point("2026-01-02", 0)] }]
    assert.notMatch(await text(lines(flat)), /NaN|Infinity|undefined/)
  })
})
