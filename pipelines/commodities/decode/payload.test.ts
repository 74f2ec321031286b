import { assert, describe, it } from "@effect/vitest"
import { PublishedNumber } from "@larder/schemas"
import {
  aBlockRow,
  aClose,
  aMonthlyAverage,
  blocks,
  feedNamed,
  finalBlocks,
  marsBody,
  mprBody,
  n,
  sectionsBody
} from "@larder/test/support/pipelines/commodity-payloads.ts"
import { decodeText, findField, isScalar, listFields, normaliseKey, parseRows, readCell } from "./payload.ts"

const closes = feedNamed("gov-mars/1603")
const months = feedNamed("gov-mars/1623")
const url = "https://example.test/report"
const read = (feed: typeof blocks, text: string, content_type: string | null = null, isRecorded = false) =>
  parseRows(feed, { url, text, content_type, isRecorded })
const rows = (count: number) => Array.from({ length: count }, () => ({ slug_id: "2993" }))

describe("a response", () => {
  it("has rows with numbers as printed", () => {
    const [row] = read(closes, marsBody([aClose({ close_price: n("1.6140") })]), "application/json").rows
    const price = typeof row === "object" && row !== null ? Reflect.get(row, "close_price") : undefined
    assert.deepStrictEqual(price, new PublishedNumber("1.6140"))
  })

  it("fails at the row cap, counted under returnedRows or under returnedRows: with a colon", () => {
    const allowed = { returnedRows: 100_000 }
    assert.throws(
      () => read(closes, marsBody([aClose()], allowed)),
      /truncated at the row cap: 100000 rows returned, 100000 allowed/
    )
    const colons = { "returnedRows:": 100_000, "totalRows:": 100_000 }
    assert.throws(
      () => read(blocks, mprBody(blocks.section, [aBlockRow()], colons)),
      /100000 rows returned, 99999 allowed/
    )
  })

  it("fails at the row cap even if it states no counts", () => {
    assert.throws(() => read(closes, JSON.stringify({ results: rows(100_000) })), /truncated at the row cap/)
    assert.throws(() => read(blocks, JSON.stringify({ results: rows(99_999) })), /truncated at the row cap/)
    assert.strictEqual(read(blocks, JSON.stringify({ results: rows(99_998) })).rows.length, 99_998)
  })

  it("fails when it returned fewer rows than the total", () => {
    assert.throws(() => read(closes, marsBody([aClose()], { totalRows: 7178 })), /truncated: 1 of 7178 rows returned/)
    const counts = { "totalRows:": "3,785", "returnedRows:": "3,000" }
    assert.throws(() => read(blocks, mprBody(blocks.section, [], counts)), /truncated: 3000 of 3785 rows returned/)
  })

  it("fails if it contains fewer rows than it states, unless it is a recording", () => {
    const body = mprBody(blocks.section, [aBlockRow()], { "totalRows:": 3785, "returnedRows:": 3785 })
    assert.throws(() => read(blocks, body), /states 3785 rows and contains 1/)
    const recorded = read(blocks, body, null, true)
    assert.strictEqual(recorded.rows.length, 1)
    assert.strictEqual(recorded.remark, "states 3785 rows and contains 1")
    assert.isUndefined(read(blocks, mprBody(blocks.section, [aBlockRow()])).remark)
  })
})

describe("the bytes of a response", () => {
  it("are read as UTF-8, with or without a byte order mark, and fail in another encoding", () => {
    assert.strictEqual(decodeText(url, Buffer.from('\ufeff{"a":"é"}')), '{"a":"é"}')
    assert.throws(() => decodeText(url, Buffer.from('{"a":"é"}', "latin1")), /report is not valid UTF-8/)
  })
})

describe("a response without rows", () => {
  it.each([
    ["empty results", closes, '{"stats":{"returnedRows":0,"userAllowedRows":100000,"totalRows":0},"results":[]}'],
    ["a message and null results", blocks, '{"message":"No Results Found","results":null}'],
    ["only a message", blocks, '{"message":"No Results Found for the query"}'],
    ["null results and a count of 0", blocks, '{"stats":{"returnedRows:":0},"results":null}'],
    ["a section with a message", months, '[{"reportSection":"CME Monthly Averages","message":"No Results Found"},null]']
  ])("returns no rows and does not fail: %s", (_, feed, text) => assert.deepStrictEqual(read(feed, text).rows, []))
})

describe("the content type of a response", () => {
  it.each([
    ["text/plain; charset=utf-8", "has the content type text/plain; charset=utf-8, but is JSON"],
    ["text/html", "has the content type text/html, but is JSON"],
    ["application/json", undefined],
    ["application/vnd.api+json", undefined],
    [null, undefined]
  ])("is %s for JSON, which is read, with the warning: %s", (type, warning) => {
    const { otherType, rows } = read(closes, marsBody([aClose()]), type)
    assert.lengthOf(rows, 1)
    assert.strictEqual(otherType, warning)
  })
})

describe("a response that cannot be trusted", () => {
  it.each([
    ["is empty", "", null, /^The payload of https:\/\/example\.test\/report is empty\.$/],
    ["is whitespace", " \n", null, /is empty/],
    ["is an HTML page", "<!DOCTYPE html><html><title>Maintenance</title>", null, /is an HTML or XML page, not JSON/],
    ["is an HTML page after whitespace", "\n  <html>", "text/html", /is an HTML or XML page/],
    ["is XML", '<?xml version="1.0"?><results/>', null, /is an HTML or XML page/],
    ["is truncated", marsBody([aClose()]).slice(0, -20), null, /is not complete JSON/],
    ["is a string", '"soon"', null, /does not have the shape/],
    ["has rows that are not a list", '{"results":{"0":{}}}', null, /does not have the shape/],
    ["is a list of rows without an envelope", JSON.stringify([aClose()]), null, /has neither results nor a message/],
    ["is an empty object", "{}", null, /has neither results nor a message/],
    ["has an empty list of rows without a message", '{"results":[]}', null, /has no row, and does not state/],
    [
      "has an empty list of rows and a message",
      '{"message":"Under maintenance","results":[]}',
      null,
      /contains a message instead of rows: "Under maintenance"/
    ],
    ["is null", "null", null, /has no section: it is null/],
    ["is an empty list", "[]", null, /has no section: it is \[\]/],
    ["is a list of nulls", "[null, null]", null, /has no section: it is \[null, null\]/],
    ["is a number", "7", null, /has neither results nor a message/],
    ["is true", "true", null, /does not have the shape/],
    ["has two sections, where the report has none", `[${marsBody([])},${marsBody([])}]`, null, /several sections/],
    [
      "is the first section of several, where the report has none",
      JSON.stringify({ reportSections: ["Report Header", "Report Details"], ...JSON.parse(marsBody([])) }),
      null,
      /has several sections, but the report has none: "Report Header", "Report Details"/
    ],
    [
      "is a refusal with status 200",
      '{"status":"403 - Forbidden","errorCode":403,"message":"Access is denied"}',
      null,
      /contains a message instead of rows: "Access is denied"/
    ]
  ])("fails when it %s", (_, text, type, message) => {
    assert.throws(() => read(closes, text, type), message)
  })
})

describe("a section", () => {
  const average = aMonthlyAverage()

  it("is found by its name among others", () => {
    const body = sectionsBody({ "Report Header": [{ report_narrative: "…" }], "CME Monthly Averages": [average] })
    assert.strictEqual(read(months, body).rows.length, 1)
  })

  it("fails if it is missing, and names the existing sections", () => {
    const body = sectionsBody({ "Report Header": [], "Report Details": [average] })
    assert.throws(
      () => read(months, body),
      /lacks the section "CME Monthly Averages"; it has: "Report Header", "Report Details"/
    )
  })

  it("is read if it is the only one, with or without its name", () => {
    assert.strictEqual(read(months, marsBody([average])).rows.length, 1)
    assert.strictEqual(read(months, sectionsBody({ "CME Monthly Averages": [average] })).rows.length, 1)
  })

  it("fails if a rolling section replaces the final one", () => {
    const rolling = mprBody(blocks.section, [aBlockRow()])
    assert.throws(() => read(finalBlocks, rolling), /lacks the section "Final 40 Pound Block/)
    assert.strictEqual(read(blocks, rolling).rows.length, 1)
  })

  it("is found by its name in any case", () => {
    const classes = feedNamed("gov-mpr/2991/Detail")
    assert.strictEqual(read(classes, mprBody("detail", [{ slug_id: "2991" }])).rows.length, 1)
  })

  it("fails when it is of a report that does not have the section of the feed", () => {
    const body = JSON.stringify({
      reportSections: ["Summary", "Detail"],
      stats: { returnedRows: 1 },
      results: [aBlockRow()]
    })
    assert.throws(
      () => read(blocks, body),
      /is of a report without the section "40 Pound Block .*"; it has: "Summary", "Detail"/
    )
  })

  it("is the first one of the payload when the feed names none", () => {
    assert.strictEqual(read(closes, JSON.stringify([{ results: [aClose()] }])).rows.length, 1)
  })
})

describe("a field", () => {
  it.each([
    ["weekly Av", "weekly_av"],
    ["published_Date", "published_date"],
    ["lot_Desc", "lot_desc"],
    ["Week Ending Date", "week_ending_date"]
  ])("%s is looked up as %s", (key, expected) => assert.strictEqual(normaliseKey(key), expected))

  it("is found in a different case or with spaces, and is undefined if no key matches", () => {
    assert.deepStrictEqual(findField(["slug_id", "published_Date"], "published_date"), { field: "published_Date" })
    assert.deepStrictEqual(findField(["weekly Av"], "weekly_av"), { field: "weekly Av" })
    assert.isUndefined(findField(["slug_id"], "published_date"))
  })

  it("prefers the exact name to one that normalises to it", () => {
    const both = ["week_ending_date", "Week Ending Date"]
    assert.deepStrictEqual(findField(both, "Week Ending Date"), { field: "Week Ending Date" })
    assert.deepStrictEqual(findField(both, "week_ending_date"), { field: "week_ending_date" })
  })

  it("is ambiguous when two keys normalise to it", () => {
    const both = ["Week Ending Date", "week ending date"]
    assert.deepStrictEqual(findField(both, "week_ending_date"), { ambiguous: both })
  })

  it("is listed if any row has it, in order of appearance", () => {
    assert.deepStrictEqual(listFields([{ a: 1 }, { b: 2, a: 1 }, { c: null }]), ["a", "b", "c"])
  })
})

describe("a cell", () => {
  it.each([[null], [undefined], [""], ["  "], ["N/A"], ["n/a"], [" N/A "]])("has no text when it is %j", (cell) => {
    assert.isUndefined(readCell(cell))
  })

  it("keeps the digits of a number as printed", () => {
    assert.strictEqual(readCell(new PublishedNumber("1.6140")), "1.6140")
    assert.strictEqual(readCell(" 13,594,473 "), "13,594,473")
    assert.strictEqual(readCell(new PublishedNumber("0")), "0")
  })

  it.each([
    [[], "[]"],
    [["N/A"], '["N/A"]'],
    [{}, "{}"],
    [false, "false"]
  ])("has its JSON as text when it is %j", (cell, text) => {
    assert.strictEqual(readCell(cell), text)
  })

  it.each([[[1]], [{ a: 1 }], [true]])("is not a scalar when it is %j", (cell) => {
    assert.isFalse(isScalar(cell))
  })
})
