import { assert, describe, it } from "@effect/vitest"
import { explainPart } from "./parts.ts"

const reject = (position: number, is_newest = false) => ({
  position,
  reason: `close_price is "€${position}", which is not a price`,
  payload: "{}",
  is_newest
})
const explain = (rows_judged: number, rejects: ReadonlyArray<ReturnType<typeof reject>>, ...faults: Array<string>) =>
  explainPart({ faults, rows_judged, rejects })

describe("a feed that is left out in part", () => {
  it("says its share and the commonest reason", () => {
    assert.deepStrictEqual(explain(10, [reject(1), reject(2)]), [
      '2 of 10 rows were rejected (20.0 %), most often because close_price is "€1", which is not a price.'
    ])
    assert.deepStrictEqual(explain(10, [reject(1)]), [], "one row")
    assert.deepStrictEqual(explain(100, [reject(1), reject(2)]), [], "2 %")
  })
  it("names every rejected row of the newest publication, whatever the share", () => {
    assert.deepStrictEqual(explain(1000, [reject(1), reject(7, true)]), [
      '1 row of its newest publication was rejected, at 7: close_price is "€7", which is not a price.'
    ])
    assert.match(explain(1000, [reject(7, true), reject(8, true)])[0] ?? "", /^2 rows of its newest publication were/)
  })
  it("says what else is wrong, as sentences", () => {
    assert.deepStrictEqual(explain(10, [], "rows match no metric"), ["Rows match no metric."])
  })
})
