/** Shopify product exports as files: unreadable records and files, other formats, and any size. */
import { assert, describe, it } from "@effect/vitest"
import { bytesOf, manyRows, readOneBatch, readWhole, yieldAll } from "@larder/test/support/pipelines/file-feeds.ts"
import { csvHeader as header, csvRow as row } from "@larder/test/support/pipelines/large-feeds.ts"
import { aProduct, csvOf, read } from "@larder/test/support/pipelines/shopify-csv-rows.ts"
import fc from "fast-check"
import { FeedStats } from "../feed-stats.ts"
import { readGoogleMerchant } from "../google/google-merchant.ts"
import { readShopifyCsv } from "./shopify-csv.ts"

describe("records that cannot be used", () => {
  it("are rejected one by one, with their lines and their text", async () => {
    const payload = csvOf([
      aProduct(),
      aProduct({ Handle: "" }),
      aProduct({ Handle: "jam", "Variant Price": "free" }),
      aProduct({ Handle: "tea", "Variant Compare At Price": "12,5,0" }),
      aProduct({ Handle: "rice" })
    ])
    const { rejects, rows, problem } = await readWhole(readShopifyCsv, payload)
    assert.deepStrictEqual([rows, problem], [["oat-bar", "rice"], null])
    assert.deepStrictEqual(
      rejects.map(({ position, reason }) => [position, reason]),
      [
        [3, "it has no handle"],
        [4, 'its variant price is "free", which is not an amount'],
        [5, 'its variant compare at price is "12,5,0", which is not an amount']
      ]
    )
    assert.strictEqual(rejects[0]?.payload, `${payload.split("\n")[2]}\n`)
  })

  it.each(["-", "NA", "n/a", "NULL"])("include one whose handle is %j: products would be combined", async (Handle) => {
    const { rejects, rows } = await read(aProduct({ Handle }), aProduct())
    assert.deepStrictEqual(
      [rejects.map(({ native_id, reason }) => [native_id, reason]), rows],
      [[[null, "it has no handle"]], ["oat-bar"]]
    )
  })

  it.each([
    ["Handle", "3.32E+13"],
    ["Variant SKU", "4,76E+12"],
    ["Variant SKU", "'4.76E+12"]
  ])("include one whose %s is %j, as a spreadsheet abbreviates numbers", async (column, cell) => {
    const { rejects, rows } = await read(aProduct({ [column]: cell }), aProduct({ Handle: "rye-bar" }))
    const reason = `its ${column.toLowerCase()} is "${cell}", a number that a spreadsheet abbreviated, so digits are lost: export the file again with this column as text`
    assert.deepStrictEqual([rejects.map((reject) => reject.reason), rows], [[reason], ["rye-bar"]])
  })

  it("are quoted up to 10,000 characters", async () => {
    const { rejects } = await read(aProduct({ Handle: "", "Body (HTML)": "x".repeat(50_000) }))
    assert.strictEqual(rejects[0]?.payload.length, 10_000)
  })

  it.each([
    ["Published", "maybe", 'its published is "maybe", which is not a boolean'],
    ["Status", "aktiv", 'its status is "aktiv", which is not a status']
  ])("include one whose %s is %j: it may be a draft", async (column, cell, reason) => {
    const { rejects, rows } = await read(aProduct({ [column]: cell }), aProduct({ Handle: "rye-bar" }))
    assert.deepStrictEqual([rejects.map((reject) => reject.reason), rows], [[reason], ["rye-bar"]])
  })

  it.each([
    ["Variant Grams", "heavy"],
    ["Variant Inventory Qty", "many"],
    ["Variant Inventory Policy", "ask"],
    ["Variant Requires Shipping", "2"],
    ["Variant Requires Shipping", "constructor"],
    ["Variant Barcode", "8.90E+12"],
    ["Image Position", "first"],
    ["Image Src", "oat.jpg"]
  ])("do not include one whose %s is %j, which is recorded", async (column, said) => {
    const { odd_values, rejects, rows } = await read(aProduct({ [column]: said }), aProduct({ Handle: "rye-bar" }))
    assert.deepStrictEqual(
      [odd_values, rejects, rows],
      [[{ field: column.toLowerCase(), said }], [], ["oat-bar", "rye-bar"]]
    )
  })

  it.each([
    { Status: "draft", "Variant Price": "on request" },
    { Published: "FALSE", "Variant Compare At Price": "12,5" },
    { Status: "archived", Published: "maybe" },
    { Status: "aktiv", Published: "no" }
  ])("do not include a product that is left out anyway: %j", async (changes) => {
    const { products, rejects, rows, variants } = await read(aProduct(changes))
    assert.deepStrictEqual([rejects, rows, variants], [[], ["oat-bar"], []])
    assert.isFalse(products[0]?.is_published)
  })

  it("include one with bytes that are not text", async () => {
    const bytes = Buffer.concat([
      bytesOf("Handle,Title,Variant Price\na,Gr"),
      Buffer.from([0xfc]),
      bytesOf("n,1\nb,Blau,2\n")
    ])
    const { rejects, rows } = await readWhole(readShopifyCsv, bytes)
    assert.deepStrictEqual(rows, ["b"])
    assert.include(rejects[0]?.reason, "bytes that are not text")
  })
})

describe("files that cannot be read", () => {
  it("include one that lacks a required column", async () => {
    const { problem, rows } = await readWhole(readShopifyCsv, "Handle,Name\na,A\n")
    assert.strictEqual(
      problem,
      'This is not a product export of Shopify: line 1 should contain the names of the columns, but lacks "title", "variant price" or "price". It begins with "Handle,Name".'
    )
    assert.deepStrictEqual(rows, [])
  })

  it("include an export of Matrixify, although it has all columns that are required", async () => {
    const { problem, rows } = await read(aProduct({ Command: "MERGE", "Row #": "1", "Top Row": "TRUE" }))
    assert.strictEqual(
      problem,
      'This is an export of Matrixify (it has the columns "command", "row #", "top row"), which has other columns than Shopify\'s. Export the products with Shopify itself: Products > Export.'
    )
    assert.deepStrictEqual(rows, [])
    assert.match((await read(aProduct({ "Body HTML": "<p>a</p>" }))).problem ?? "", /^This is an export of Matrixify/)
  })

  it("do not include an export of Shopify with a column named Command", async () => {
    assert.isNull((await read(aProduct({ Command: "none" }))).problem)
  })

  it.each(["#Row,Handle,Title,Variant Price\n1,a,A,5\n", "# Handle;Title;Variant Price\na;A;5\n"])(
    "do not include one whose header begins with a number sign: %j",
    async (text) => {
      const { problem, rows } = await readWhole(readShopifyCsv, `# Prices in euros\n${text}`)
      assert.deepStrictEqual([problem, rows], [null, ["a"]])
    }
  )

  it.each(["", "\n \n", "\uFEFF"])("include an empty one: %j", async (text) => {
    assert.strictEqual((await readWhole(readShopifyCsv, text)).problem, "The file is empty.")
  })

  it.each([
    [readShopifyCsv, "ID\ttitle\tLink\tprice", "google-merchant"],
    [readGoogleMerchant, "Handle,Title,Variant Price", "shopify-csv"],
    [readGoogleMerchant, '"Title","URL handle","Price"', "shopify-csv"]
  ] as const)("include a table of another kind, which is named (case %#)", async (read, header, kind) => {
    const { problem } = await readWhole(read, `${header}\n`)
    assert.include(problem, `A table with its columns has the kind "${kind}" in the store list.`)
  })

  it("include a page of HTML", async () => {
    const { problem } = await readWhole(readShopifyCsv, "<!doctype html>\n<html><body>Just a moment</body></html>")
    assert.include(problem, "It is XML or HTML instead of a table.")
  })

  it("include one that ends within a record; the records before it are read", async () => {
    const whole = csvOf([aProduct(), aProduct({ Handle: "jam" })])
    const { problem, rows } = await readWhole(readShopifyCsv, whole.slice(0, -30))
    assert.deepStrictEqual(rows, ["oat-bar"])
    assert.include(problem, "line 3")
  })
})

describe("an export in another format", () => {
  it("may have a byte order mark, semicolons, CRLF, names in a different case and unknown columns", async () => {
    const text = "\uFEFFHANDLE;Fancy;title;VARIANT  PRICE\r\na;x;A;1.5\r\nb;y;B;2\r\n"
    const { products, variants } = await readWhole(readShopifyCsv, text)
    assert.deepStrictEqual(
      products.map(({ native_id, title }) => [native_id, title]),
      [
        ["a", "A"],
        ["b", "B"]
      ]
    )
    assert.deepStrictEqual(
      variants.map(({ price }) => price),
      ["1.5", "2"]
    )
  })

  it("contains each product once, even with line breaks, quotes and commas in its cells", async () => {
    const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r\n", "é", " "), maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 20 }), async (titles) => {
        const rows = titles.map((title, number) =>
          aProduct({ Handle: `h${number}`, Title: `t${title}`, "Body (HTML)": title })
        )
        const { products, problem, rejects } = await read(...rows)
        const tidied = titles.map((title) => `t${title}`.replace(/\s+/g, " ").trim())
        assert.deepStrictEqual([products.map(({ title }) => title), problem, rejects], [tidied, null, []])
      })
    )
  })
})

describe("an export of any size", () => {
  it("is read only as fast as its rows are consumed, and closed when reading stops", async () => {
    const { isClosed, pulled, rows } = await readOneBatch(readShopifyCsv, manyRows(20, header, row, ""))
    assert.isAtMost(rows, 500)
    assert.isAtMost(pulled, 40) // of about 330
    assert.isTrue(isClosed)
  })
})

describe("the columns that a file has", () => {
  it("do not include one that is only asked for: its loss is a fault", async () => {
    const stats = new FeedStats()
    const rows = readShopifyCsv(() => yieldAll(bytesOf("Handle,Title,Variant Price\na,A,1\n")), {
      currency: null,
      stats
    })
    for await (const _ of rows);
    assert.notInclude([...stats.fieldsSeen], "barcode")
    assert.notInclude([...stats.fieldsSeen], "image")
    assert.include([...stats.fieldsSeen], "variant price")
  })
})
