import { assert, describe, it } from "@effect/vitest"
import { barChart } from "./bar-chart.ts"
import type { Html } from "./html.ts"

const render = async (html: Html) => String(await html)
const readTicks = (chart: string) => [...chart.matchAll(/<span>([^<]*)<\/span>/g)].map(([, tick]) => tick)

const draw = (values: ReadonlyArray<number>) =>
  barChart({
    id: "calls",
    title: "Calls & more",
    description: "Most on <Monday>.",
    bars: values.map((value, index) => ({ label: `day ${index + 1}`, value })),
    noun: "call",
    columns: ["Day", "Calls"]
  })

describe("a bar chart", () => {
  it("has a title, a description and the same numbers as a table", async () => {
    const chart = await render(draw([1, 0, 4]))
    assert.include(chart, '<title id="calls-title">Calls &amp; more</title>')
    assert.include(chart, '<desc id="calls-about">Most on &lt;Monday&gt;.</desc>')
    assert.include(chart, 'aria-labelledby="calls-title calls-about"')
    assert.match(chart, /<th scope="row"[^>]*>day 3<\/th><td class="numeric">4 calls<\/td>/)
  })
  it("draws bars from zero, no bar for a zero, and labels every value", async () => {
    const chart = await render(draw([1, 0, 4]))
    assert.strictEqual(chart.match(/class="bar"/g)?.length, 2)
    assert.include(chart, 'y="0" width="233.33" height="100"')
    assert.include(chart, 'y="75" width="233.33" height="25"')
    assert.include(chart, 'data-text="day 2: 0 calls"')
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
    [[100_000], ["100,000", "50,000", "0"]]
  ])("chooses round ticks without fractions for the values %j", async (values, expected) => {
    const [svg = ""] = (await render(draw(values))).split("</svg>")
    assert.deepStrictEqual(readTicks(svg), expected)
  })
  it("draws an empty chart without bars", async () => {
    assert.include(await render(draw([])), "<svg")
  })
})
