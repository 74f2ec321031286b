import { assert, describe, it } from "@effect/vitest"
import { type PriceLine, priceChart } from "./price-chart.ts"

const draw = async (lines: ReadonlyArray<PriceLine>) =>
  String(
    await priceChart({ id: "prices", title: "Butter & cheese", description: "Up <again>.", unit: "USD per lb", lines })
  )
const point = (day: string, digits: string) => ({ day, digits })
/** The rows of the table, which the script draws. */
const readRows = (chart: string) =>
  [...chart.matchAll(/<tr><th scope="row"[^>]*><time datetime="([^"]+)">([^<]+)<\/time><\/th>(.*?)<\/tr>/g)].map(
    ([, iso, day, cells = ""]) => [iso, day, ...[...cells.matchAll(/<td[^>]*>([^<]*)</g)].map(([, cell]) => cell)]
  )

describe("a price chart", () => {
  it("has a title and a description for screen readers", async () => {
    const chart = await draw([{ name: "Butter", points: [point("2026-01-01", "1.0000")] }])
    assert.include(chart, '<figcaption id="prices-title">Butter &amp; cheese</figcaption>')
    assert.include(chart, '<p id="prices-about">Up &lt;again&gt;.</p>')
    assert.match(chart, /role="img" aria-labelledby="prices-title" aria-describedby="prices-about"/)
  })
  it("lists each day once, in order, with the published digits, and an empty cell where a line has no reading", async () => {
    const chart = await draw([
      { name: "Butter", points: [point("2026-01-02", "1.4500"), point("2026-01-05", "1.0")] },
      { name: "Cheese", points: [point("2026-01-01", "-0.0100"), point("2026-01-02", "2")] }
    ])
    assert.deepStrictEqual(readRows(chart), [
      ["2026-01-01", "1 Jan 2026", "", "-0.0100"],
      ["2026-01-02", "2 Jan 2026", "1.4500", "2"],
      ["2026-01-05", "5 Jan 2026", "1.0", ""]
    ])
    assert.include(chart, ">Butter, USD per lb</th>")
  })
  it("names two lines in a legend, and a single line only in the title", async () => {
    const butter = { name: "Butter", points: [point("2026-01-01", "1")] }
    assert.match(
      await draw([butter, { name: "Cheese", points: [] }]),
      /<li><svg class="sample"[^>]*><path class="line line-2"[^>]*\/><\/svg>Cheese<\/li>/
    )
    assert.notInclude(await draw([butter]), "legend")
  })
})
