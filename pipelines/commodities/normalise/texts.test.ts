/** What rows say about their goods, and what they may not say. */
import { assert, describe, it } from "@effect/vitest"
import { aRange, feedNamed, type Row, readRows } from "@larder/test/support/pipelines/commodity-payloads.ts"

const [west, concentrate, central] = [
  feedNamed("gov-mars/1046"),
  feedNamed("gov-mars/1053"),
  feedNamed("gov-mars/1045")
]
/** A row of an older publication, which is rejected alone. */
const older = { report_begin_date: "09/14/2026", published_date: "09/17/2026 12:20:53" }
const rejectionOf = (feed: typeof west, report: number, row: Row) => {
  const { rejects } = readRows(feed, [aRange(report, { quality: "Edible" }), aRange(report, { ...older, ...row })])
  return rejects[0]?.reason
}

describe("a row that contradicts its metric", () => {
  it.each<[string, Row, string]>([
    ["feed-grade whey", { quality: "Non-Edible" }, 'quality is "Non-Edible", which contradicts dry-whey'],
    ["whey for animals", { application: "Animal Feed" }, 'application is "Animal Feed", which contradicts dry-whey'],
    ["whey by another word", { grade: "Feed Grade" }, 'grade is "Feed Grade", which contradicts dry-whey'],
    ["milk replacer", { lot_Desc: "Animal Feed - Milk Replacer" }, "which contradicts dry-whey"],
    ["whey for animals in one word", { quality: "Feedgrade" }, "which contradicts dry-whey"],
    ["whey unfit for people", { quality: "Not for Human Consumption" }, "which contradicts dry-whey"],
    ["another grade in its own column", { other_Grades: "Feed Grade" }, "which contradicts dry-whey"],
    ["another freight", { freight: "F.O.B. Plant" }, 'freight is "F.O.B. Plant", but Delivered or None was expected']
  ])("is rejected: %s", (_, row, reason) => assert.include(rejectionOf(west, 1046, row), reason))

  it.each(["WPC 80%", "80%", "Isolate", "wpc-80", "WPC80", "Whey Protein 80pct", "WPI90"])(
    "is rejected: a concentrate of grade %s",
    (grade) => assert.include(rejectionOf(concentrate, 1053, { grade }), "which contradicts whey-protein-concentrate")
  )

  it("is published if it is known, or in neither list, which is reported once", () => {
    const weeks = { "09/21/2026": "Extra Grade", "09/14/2026": "Grade Z", "09/07/2026": "Grade Z", "08/31/2026": "N/A" }
    const rows = Object.entries(weeks).map(([report_begin_date, grade]) =>
      aRange(1046, { grade, freight: "Delivered", quality: "Edible", report_begin_date })
    )
    const { odd_values, readings, rejects } = readRows(west, rows)
    assert.deepStrictEqual([readings.length, rejects.length], [16, 0])
    assert.deepStrictEqual(odd_values, [{ kind: "unlisted", field: "grade", said: "Grade Z", rows: 2 }])
  })
})

describe("feed whey", () => {
  const feedWhey = { quality: "Non-Edible", lot_Desc: "Animal Feed - Milk Replacer" }
  it("has its own metrics, which food contradicts", () => {
    const { readings, rejects } = readRows(central, [aRange(1045, { quality: "Edible" }), aRange(1045, feedWhey)])
    assert.deepStrictEqual([readings.length, rejects.length], [8, 0])
    const human = rejectionOf(central, 1045, { ...feedWhey, application: "Human Consumption" })
    assert.include(human, "which contradicts dry-whey-feed")
  })
})
