import { assert, describe, it } from "@effect/vitest"
import {
  aBlockRow,
  aClose,
  aRange,
  blocks,
  bodyOf,
  everyFeed,
  feedNamed,
  type Row,
  readRows
} from "@larder/test/support/pipelines/commodity-payloads.ts"
import { catalog } from "../catalog.ts"
import { rowsOf } from "./payload.ts"

const { feeds } = catalog()

const [closes, west, east] = [feedNamed("gov-mars/1603"), feedNamed("gov-mars/1046"), feedNamed("gov-mars/1047")]

describe("a payload that says of itself what it is", () => {
  it("is refused when it is of another report with the same columns", () => {
    assert.throws(
      () => readRows(east, [aRange(1046)]),
      /is not of the report that was asked for: row 1 states slug_id 1046, where 1047 was asked for/
    )
    assert.strictEqual(readRows(west, [aRange(1046)]).readings.length, 4)
  })

  it("is refused for every other feed of the catalog", () => {
    const bodies = everyFeed()
    const report = (feed: string) => feed.split("/").slice(0, 2).join("/")
    for (const asked of feeds) {
      for (const came of feeds) {
        if (report(asked.feed) === report(came.feed)) continue
        const answered = { url: "", text: bodies[came.feed] ?? "", content_type: null, recorded: false }
        assert.throws(
          () => rowsOf(asked, answered),
          /is not of the report|lacks the section|several sections/,
          undefined
        )
      }
    }
  })

  it.each<[string, Row, RegExp]>([
    ["the name of the report", { slug_name: "AMS_1046" }, /slug_name "AMS_1046", where AMS_1047 was asked for/],
    [
      "its title",
      { report_title: "Dry Whey - West U.S." },
      /report_title "Dry Whey - West U\.S\.", where Dry Whey - East U\.S\. was/
    ],
    ["the region", { region: "West" }, /region "West", where East or Eastern was asked for/],
    ["the commodity", { commodity: "Butter" }, /commodity "Butter", where Dry Whey was asked for/]
  ])("is refused for one row that differs in %s alone", (_, row, message) => {
    assert.throws(() => readRows(east, [aRange(1047), aRange(1047, row)]), message)
  })

  const nameless = { slug_id: null, slug_name: "", report_title: "N/A" }

  it.each<[string, Row]>([
    ["nothing of itself", { ...nameless, region: null, commodity: null }],
    ["its region and commodity alone", nameless]
  ])("is refused when no row says more than %s, and read when another does", (_, row) => {
    assert.throws(
      () => readRows(east, [aRange(1047, row)]),
      /is not of the report that was asked for: no row states the number, the name or the title of its report/
    )
    const { slug_id: _id, slug_name: _name, report_title: _title, ...gone } = aRange(1047)
    assert.throws(() => readRows(east, [gone]), /no row states the number/)
    assert.strictEqual(readRows(east, [aRange(1047), aRange(1047, row)]).readings.length, 8)
  })

  it.each<[string, Row]>([
    ["its number as a text", { slug_id: "1047" }],
    ["its title with a remark", { report_title: "DRY WHEY - EAST US (AMS_1047)" }],
    ["its region in other words", { region: "Eastern United States" }]
  ])("is read when it says %s", (_, row) => {
    assert.strictEqual(readRows(east, [aRange(1047, row)]).readings.length, 4)
  })

  it("may name two regions in any order and with any sign between", () => {
    const powder = feedNamed("gov-mars/1049")
    const row = (region: string) => aRange(1049, { region, lot_Desc: "High Heat" })
    assert.strictEqual(readRows(powder, [row("Central/East US")]).readings.length, 4)
    assert.throws(() => readRows(powder, [row("Central")]), /region "Central"/)
  })

  it("is compared for Datamart, too", () => {
    assert.throws(() => readRows(blocks, [aBlockRow({ slug_id: "2991" })]), /slug_id "2991", where 2993 was asked for/)
    assert.throws(() => readRows(blocks, [aBlockRow({ slug_name: "DYMCLASSPRICES" })]), /slug_name "DYMCLASSPRICES"/)
  })

  it("is refused before the number of its columns matters", () => {
    const { close_price: _, ...row } = aClose({ slug_id: 1602 })
    const answered = { url: "", text: bodyOf(closes, [row]), content_type: null, recorded: true }
    assert.throws(() => rowsOf(closes, answered), /slug_id 1602/)
  })
})
