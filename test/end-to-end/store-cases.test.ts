/** Small inputs after public reports about feeds of stores: what a run publishes, rejects and tells. Takes about 5 s. */
import { readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ingestLive } from "../support/pipelines/live-runs.ts"
import { startUpstream } from "../support/pipelines/upstream.ts"
import { describeCases } from "../support/shared-samples.ts"
import { makeTestFolder, removeFolder, temporaryFolder } from "./ingesting.ts"
import {
  caseFile,
  columnOf,
  expectComplete,
  listWithEncoding,
  pricesOf,
  type Results,
  readResults,
  replayList,
  replayTogether
} from "./store-cases.ts"
import { outcomesOf, rowsOf } from "./storefronts.ts"

describeCases("stores", "a store", () => {
  const [home, recordings] = [temporaryFolder(), temporaryFolder()]
  let resultOf: Results
  beforeAll(async () => {
    resultOf = await readResults(await replayTogether(home, recordings))
  })
  afterAll(() => {
    removeFolder(home)
    removeFolder(recordings)
  })

  /** The result of a store that is read completely, without a reject. */
  const readWhole = (name: string) => {
    const result = resultOf(name)
    expectComplete(result)
    return result
  }
  /** Warnings about a store that name all these texts. */
  const warningsWith = (name: string, ...texts: ReadonlyArray<string>) =>
    resultOf(name).logs.filter((line) => line.includes('"level":"WARN"') && texts.every((text) => line.includes(text)))

  describe("a separator in an amount", () => {
    it.each([
      [
        "before three digits is a thousands separator in a currency without decimals in practice",
        "g02-zero-decimal-dot",
        { 1: "12990 CLP", 2: "2490 ISK", 3: "45000 VND", 4: "1500 JPY", 5: "89000 KRW", 6: "5990 PYG" }
      ],
      [
        "before three digits is a decimal separator in a currency with three decimals",
        "g04-three-decimals",
        { 1: "1234567.89 KWD", 2: "12.5 KWD", 3: "0.75 BHD" }
      ],
      [
        "of another kind than those before it is the decimal one, even if rows of a feed differ",
        "g02b-european-thousands",
        { 1: "1299 EUR", 2: "1299000 EUR", 3: "1234.5 EUR", 4: "10 EUR" }
      ],
      [
        "may begin the amount, as the decimal one",
        "g03-leading-separator",
        { 1: "0.89 USD", 2: "0.89 EUR", 3: "0.89 USD", 4: "5 EUR" }
      ],
      [
        "that is a comma is the decimal one in a Shopify export with semicolons",
        "c01-comma-decimals",
        { mug: "9.9 EUR, was 12.5", cup: "1299 EUR", jar: "3 EUR" }
      ],
      [
        "in the JSON of Shopify is the decimal one in every currency",
        "j01-jpy",
        { 1: "1200 JPY", 2: "1200 JPY, was 1500" }
      ]
    ])("%s", (_, name, prices) => {
      expect(pricesOf(readWhole(name))).toEqual(prices)
    })
  })

  describe("the currency", () => {
    it("of an amount without one is that of the list", () => {
      expect(pricesOf(readWhole("g05-no-currency"))).toEqual({ 1: "10.2 EUR", 2: "25 EUR" })
    })

    it("of a dollar sign is the dollar of the list", () => {
      expect(pricesOf(readWhole("g01-dollar-sign"))).toEqual({ 1: "2030 CAD", 2: "633 CAD", 3: "11395 CAD" })
    })

    it("of a symbol is its own; a symbol that the list's currency cannot mean rejects its row", () => {
      const result = resultOf("g06-symbols")
      expect(pricesOf(result)).toEqual({
        ...{ 1: "12.34 EUR", 2: "12.34 EUR", 3: "9.99 GBP", 4: "20 USD", 5: "1299 CZK", 6: "1999 INR" },
        ...{ 7: "11.19 BRL", 9: "49.9 PLN", 10: "45000 VND", 11: "89000 KRW", 12: "10 USD" }
      })
      expect(result.rejects).toEqual([expect.stringContaining("12.99 $")])
    })

    it("of a symbol is read in a feed that also has codes", () => {
      const prices = Object.values(pricesOf(readWhole("h14-many-symbols")))
      expect(prices).toEqual(Array(40).fill("10 EUR"))
    })

    it("of a column beats that of the list, and the conflict is one warning", () => {
      expect(pricesOf(readWhole("i01-currency-column"))).toEqual({ 1: "9 USD", 2: "8 USD" })
      expect(warningsWith("i01-currency-column", "USD", "EUR")).toHaveLength(1)
    })

    it("of a column is read where the list states none, without a warning", () => {
      expect(pricesOf(readWhole("i01b-currency-column-no-list"))).toEqual({ 1: "9 USD", 2: "8 USD" })
      expect(warningsWith("i01b-currency-column-no-list")).toEqual([])
    })

    it("of the store itself beats that of the list, and the conflict is one warning", () => {
      const result = readWhole("h13-list-currency-and-meta")
      expect([pricesOf(result), result.currency]).toEqual([{ 1: "10 NOK" }, "NOK"])
      expect(warningsWith("h13-list-currency-and-meta", "NOK", "USD")).toHaveLength(1)
    })
  })

  describe("the price", () => {
    it("is that of a sale only between its stated dates", () => {
      expect(pricesOf(readWhole("g08-sale-dates"))).toEqual({
        past: "100 EUR",
        future: "100 EUR",
        now: "70 EUR, was 100",
        undated: "70 EUR, was 100",
        equal: "100 EUR"
      })
    })

    it("of a sale replaces a price of 0, which is not the price before it", () => {
      const prices = { 1: "7.5 EUR", 2: "6 EUR, was 8", 3: "5 EUR" }
      expect(pricesOf(readWhole("i05a-zero-price-with-sale"))).toEqual(prices)
    })

    it("is null for 0 where the product cannot be bought, and 0 for a gift", () => {
      const prices = { 1: null, 2: null, 3: "0 EUR", 4: "10 EUR" }
      expect(pricesOf(readWhole("w01-empty-price-is-zero"))).toEqual(prices)
    })

    it("is null for 0 beside a positive price, and 0 alone", () => {
      const prices = { "mug S": null, "mug M": "9.9 EUR", free: "0 EUR", nop: null }
      expect(pricesOf(readWhole("c13-zero-prices"))).toEqual(prices)
    })

    it("that is no amount rejects its product, and many of them make the read partial, with the share", () => {
      const result = resultOf("h14b-price-on-request")
      expect(Object.values(pricesOf(result))).toEqual(Array(30).fill("10 EUR"))
      expect(result).toMatchObject({ fetch_status: "partial", exit: 4 })
      expect(result.reason).toMatch(/10 of 40 products were rejected \(25\.0 %\), most often because .*"on request"/)
      expect(result.rejects).toHaveLength(10)
    })
  })

  it("that writes €10.00 from its second day on keeps no old price", async () => {
    const home = makeTestFolder()
    const stores = caseFile("two-days", "stores.json")
    const pricesAfter = async (day: string) => {
      const results = await readResults(await replayList(home, stores, caseFile("two-days", day)))
      expectComplete(results("two-days"))
      return Object.values(pricesOf(results("two-days")))
    }
    expect(await pricesAfter("1")).toEqual(Array(40).fill("20 EUR"))
    expect(await pricesAfter("2")).toEqual(Array(40).fill("10 EUR"))
  })

  describe("an identifier", () => {
    it("that a spreadsheet rounded is refused as such, and nothing is published under it", () => {
      const result = resultOf("g11-excel-ids")
      expect(result).toMatchObject({ fetch_status: "failed", exit: 4, variants: [] })
      expect(result.reason).toMatch(/spreadsheet/i)
    })

    it("that a spreadsheet rounded is no barcode", () => {
      const barcodes = { mug: null, cup: "8901234567894", jar: null }
      expect(columnOf(readWhole("c04-excel-barcodes"), "barcode")).toEqual(barcodes)
    })

    it("that another product has rejects its product, which gives no picture to the first", () => {
      const result = resultOf("g10-duplicate-pictures")
      expect(result.variants).toMatchObject([
        { native_id: "1", title: "Red mug", price: 5, pictures: ["https://s.example/red.jpg"] }
      ])
      expect(result.rejects).toEqual([expect.stringContaining("duplicate id 1")])
    })

    it("in the query of an address is the handle", () => {
      const result = readWhole("g13-slug-in-query")
      expect(columnOf(result, "handle")).toEqual({ "4-10": "yen-a", "4-30": "yen-b" })
      expect(pricesOf(result)).toEqual({ "4-10": "350000 VND", "4-30": "900000 VND" })
    })
  })

  describe("the encoding", () => {
    it.each([
      ["is UTF-8 if the bytes are, whatever is declared", "g19-utf8-declared-latin1", { 1: "Café crème — naïve" }],
      ["that is declared as ISO-8859-1 is windows-1252", "g21-cp1252-declared-latin1", { 1: "Café “quote” €5" }],
      ["may be declared after blank lines", "h01-blank-lines-before-cp1251", { 1: "Кафе Арабика", 2: "Чай" }]
    ])("%s", (_, name, titles) => {
      expect(columnOf(readWhole(name), "title")).toEqual(titles)
    })

    it("that the list states is that of the file", async () => {
      const stores = caseFile(listWithEncoding, "stores.json")
      const run = await replayList(makeTestFolder(), stores, caseFile(listWithEncoding, "replay"))
      const result = (await readResults(run))(listWithEncoding)
      expectComplete(result)
      expect(columnOf(result, "title")).toEqual({ 1: "Кафе Арабика", 2: "Чай" })
      expect(pricesOf(result)).toEqual({ 1: "12.5 BGN", 2: "8 BGN" })
      expect(columnOf(result, "available")).toEqual({ 1: true, 2: false })
    })
  })

  describe("an entity", () => {
    it("in a cell or an address of a table is decoded", () => {
      const [first, second] = readWhole("i02-escaped-cells").variants.toSorted(({ native_id }) =>
        native_id === "G" ? -1 : 1
      )
      expect(first).toMatchObject({
        ...{ title: "Salt & Pepper", handle: "p", vendor: "B & C", option1: "S & M", option2: "Black & White" },
        pictures: ["https://s.example/i?a=1&w=2"]
      })
      expect(second).toMatchObject({ native_id: "2", title: "Salt", handle: "p2" })
    })

    it("in a title of Shopify is decoded, and is no word for the category", () => {
      const result = readWhole("j08a-entities-in-titles")
      const titles = { 1: "Tom & Anna 'mug'", 2: "Fish & Chips bowl", 3: "Plain & simple" }
      expect(columnOf(result, "title")).toEqual(titles)
      expect(Object.values(columnOf(result, "category"))).not.toContain("electronics")
      expect(Object.values(columnOf(result, "category_evidence"))).not.toContain("amp")
    })

    it("in a name, an SKU or a tag of WooCommerce is decoded", () => {
      const result = readWhole("w05-entities")
      expect(columnOf(result, "title")).toEqual({ 1: 'Fish & Chips – 5"', 2: "W2", 3: "W3" })
      expect(columnOf(result, "sku")).toEqual({ 1: "S1", 2: "A&B-1", 3: "S3" })
      expect(columnOf(result, "tags")).toMatchObject({ 3: ["T & U"] })
    })
  })

  describe("a list of pictures", () => {
    const [a, b, c] = ["a", "b", "c"].map((name) => `https://s.example/${name}.jpg`)

    it("in one element of a feed is separated; an address with a comma stays whole", () => {
      const main = (name: string) => `https://shop.example/i/${name}.jpg`
      expect(columnOf(readWhole("g12-picture-list-in-one-element"), "pictures")).toEqual({
        comma: [main("comma"), a, b, c],
        many: [main("many"), a, b, c],
        semicolon: [main("semicolon"), a, b],
        bar: [main("bar"), a, b],
        one: [main("one"), "https://s.example/w_300,h_200/a.jpg"]
      })
    })

    it("in one cell of a Shopify export is separated", () => {
      const pictures = { b: [a, b], e: [a, b], f: ["https://s.example/f.jpg"] }
      expect(columnOf(readWhole("c16-picture-lists"), "pictures")).toEqual(pictures)
    })
  })

  describe("an optional field that is not understood", () => {
    it("costs no product: an availability is null", () => {
      const result = readWhole("g09-availability")
      expect(result.variants).toHaveLength(29)
      const isAvailable = [1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 18, 20, 26, 28, 29] // `in stock`, `backordered`, `1`, `few left`
      const isUnavailable = [5, 6, 13, 14, 15, 16, 19, 21] // `out of stock`, `coming soon`, `0`
      const isUnknown = [17, 22, 23, 24, 25, 27] // `special order`, `auf Lager`, `available soon`
      expect(columnOf(result, "available")).toEqual({
        ...Object.fromEntries(isAvailable.map((id) => [id, true])),
        ...Object.fromEntries(isUnavailable.map((id) => [id, false])),
        ...Object.fromEntries(isUnknown.map((id) => [id, null]))
      })
    })

    it("costs no product: a weight is null", () => {
      const result = readWhole("i04-weights")
      expect(result.variants).toHaveLength(11)
      const weights = { 1: 500, 3: null, 4: null, 6: 1500, 7: 340, 8: null, 11: null }
      expect(columnOf(result, "grams")).toMatchObject(weights)
    })

    it("costs no product: `Published` is read as 1, yes, 0 and no", () => {
      expect(Object.keys(pricesOf(readWhole("c06-flags"))).toSorted()).toEqual(["p0", "p1", "p2", "p3"])
    })
  })

  describe("a file", () => {
    it("of Google's template may have a line of remarks before its header", () => {
      const result = readWhole("g26-template-comment")
      expect(pricesOf(result)).toEqual({ 1: "9 EUR", 2: "7 EUR" })
      expect(columnOf(result, "available")).toEqual({ 1: true, 2: false })
    })

    it.each([
      ["that repeats the prefix in each name", "g14-double-prefix", { 1: "Thing", 2: "Thing" }],
      ["that binds a prefix on each element", "g17-prefix-on-each-element", { 1: "Own prefix" }]
    ])("%s is read", (_, name, titles) => {
      const result = readWhole(name)
      expect(columnOf(result, "title")).toEqual(titles)
      expect(new Set(Object.values(pricesOf(result)))).toEqual(new Set(["10 EUR"]))
    })

    it("of Matrixify is refused by name", () => {
      const result = resultOf("c07-matrixify")
      expect(result).toMatchObject({ fetch_status: "failed", exit: 4, variants: [] })
      expect(result.reason).toContain("Matrixify")
    })
  })

  describe("a page of WooCommerce", () => {
    it.each([
      ["with markup of a theme before its JSON", "w04-theme-markup"],
      ["with a comment after its JSON", "w04c-trailing-comment"]
    ])("%s is read", (_, name) => {
      const result = readWhole(name)
      expect([columnOf(result, "title"), pricesOf(result)]).toEqual([{ 1: "W1" }, { 1: "10 EUR" }])
    })

    it("that does not exist, after all listed products were found, ends a complete read", async () => {
      const [first, second] = ["page-1.json", "page-2.json"].map((file) =>
        JSON.parse(readFileSync(caseFile("n16-error-beyond-the-end", "http", file), "utf8"))
      )
      const home = makeTestFolder()
      const stores = path.join(makeTestFolder(), "stores.json")
      const list = readFileSync(caseFile("n16-error-beyond-the-end", "stores.json"), "utf8")
      const ended = await Effect.gen(function* () {
        const { port } = yield* startUpstream((response, _, { url }) => {
          const { pathname, searchParams } = new URL(url, "http://shop.test")
          if (!pathname.endsWith("/products")) return void response.writeHead(404).end() // such as robots.txt
          const { body, headers, status } = Number(searchParams.get("page") ?? 1) === 1 ? first : second
          response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
        })
        writeFileSync(stores, list.replace("PORT", String(port)))
        const environment = { LARDER_PRIVATE_HOSTS: "127.0.0.1" }
        return yield* Effect.promise(() => ingestLive(storefronts, { home, stores, environment }))
      }).pipe(Effect.scoped, Effect.runPromise)
      expect(ended).toMatchObject({ run: { outcome: "published" }, problem: "" })
      expect(await outcomesOf(home)).toEqual({ "n16-error-beyond-the-end.example": "complete complete" })
      const products = await rowsOf(home, "select title from storefront.listing order by title")
      expect(products).toEqual([{ title: "W1" }, { title: "W2" }, { title: "W3" }])
    })
  })
})
