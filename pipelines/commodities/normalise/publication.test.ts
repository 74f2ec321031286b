import { assert, describe, it } from "@effect/vitest"
import { fieldsOf, type PayloadRow } from "../decode/field.ts"
import { publicationReader } from "./publication.ts"

const published = (row: PayloadRow) => publicationReader(fieldsOf([row]), [])(row, "2026-08-29")

describe("the publication of a row", () => {
  it("is the row's own stamp, in either spelling of the key", () => {
    assert.deepStrictEqual(published({ published_date: "09/30/2026 13:04:36" }), { moment: "2026-09-30 13:04:36" })
    assert.deepStrictEqual(published({ published_Date: "09/30/2026 13:04:36" }), { moment: "2026-09-30 13:04:36" })
  })

  it("is the end of its day where the stamp has no time", () => {
    assert.deepStrictEqual(published({ published_date: "09/30/2026" }), { moment: "2026-09-30 23:59:59" })
  })

  it("has a stand-in without a stamp: the end of the newest day that the row states about its report, told by its microseconds", () => {
    const row = { published_date: null, week_ending_date: "09/26/2026", created_date: "09/30/2026" }
    assert.deepStrictEqual(published(row), { moment: "2026-09-30 23:59:59.999999" })
    assert.deepStrictEqual(published({ week_ending_date: "09/26/2026" }), { moment: "2026-09-26 23:59:59.999999" })
  })

  it("has the day of the reading in its stand-in when the row states no other day", () => {
    assert.deepStrictEqual(published({ close_price: "1" }), { moment: "2026-08-29 23:59:59.999999" })
  })

  it("is a fault, not a guess, when its stamp cannot be read", () => {
    const fault = 'published_date is "this morning", which is no date and time'
    assert.deepStrictEqual(published({ published_date: "this morning" }), { fault })
  })

  it("fails when two fields could be the stamp", () => {
    assert.throws(
      () => published({ "Published Date": "09/30/2026", published_Date: "09/29/2026" }),
      /published_date could be Published Date or published_Date/
    )
  })
})
