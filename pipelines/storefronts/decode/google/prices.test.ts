import { assert, describe, it } from "@effect/vitest"
import { bytesOf, collectUntilFault, yieldAll } from "@larder/test/support/pipelines/file-feeds.ts"
import type { Batch } from "../feed.ts"
import { FeedStats } from "../feed-stats.ts"
import { readGoogleMerchant } from "./google-merchant.ts"

const readAt = "2026-03-10T12:00:00Z"

/** Reads a table with the columns id, title and these. */
const readRows = async (columns: string, rows: ReadonlyArray<string>, currency: string | null = null) => {
  const stats = new FeedStats()
  const lines = [`id\ttitle\t${columns}`, ...rows.map((row, index) => `${index + 1}\tTea\t${row}`), ""]
  const open = () => yieldAll(bytesOf(lines.join("\n")))
  const batches: Array<Batch> = []
  for await (const batch of readGoogleMerchant(open, { currency, read_at: Date.parse(readAt), stats }))
    batches.push(batch)
  const variants = batches.flatMap((batch) => batch.variants)
  return {
    prices: variants.map(({ compare_at_price, price }) => [price, compare_at_price]),
    currencies: variants.map((variant) => variant.currency),
    reasons: batches.flatMap(({ rejects }) => rejects.map(({ reason }) => reason)),
    said: batches.flatMap(({ odd_values }) => odd_values.map(({ said }) => said)),
    stats
  }
}

describe("a sale", () => {
  const onSale = (period: string) => `100 EUR\t70 EUR\t${period}`
  const readSales = (...periods: ReadonlyArray<string>) =>
    readRows("price\tsale_price\tsale_price_effective_date", periods.map(onSale))

  it.each([
    "",
    "-",
    "2026-03-01T00:00+0100/2026-04-01T00:00+0100",
    "2026-03-01T00:00Z / 2026-04-01T00:00Z",
    "2026-03-10T12:00:00/2026-03-10T12:00:01",
    "2026-03-10T13:00:00+01:00/2026-03-11",
    "2026-03-01/2026-03-10",
    "2026-03-10/2026-03-10",
    "/2026-03-11",
    "2026-03-10/"
  ])("takes place at the time of the read with the period %j", async (period) => {
    const { prices, said } = await readSales(period)
    assert.deepStrictEqual([prices, said], [[["70", "100"]], []])
  })

  it.each([
    "2019-01-01T00:00+0100/2019-02-01T00:00+0100",
    "2099-01-01T00:00Z/2099-02-01T00:00Z",
    "2026-03-10T12:00:01Z/2026-03-11T00:00Z",
    "2026-03-01T00:00Z/2026-03-10T12:00:00Z",
    "2026-03-01/2026-03-09"
  ])("does not take place then with the period %j", async (period) => {
    const { prices, said } = await readSales(period)
    assert.deepStrictEqual([prices, said], [[["100", null]], []])
  })

  it.each(["always", "2026-03-01", "2026-03-20/2026-03-01", "2026-02-30/2026-03-20", "/"])(
    "does not take place with the period %j, which is kept as an odd value",
    async (period) => {
      const { prices, said } = await readSales(period)
      assert.deepStrictEqual([prices, said], [[["100", null]], [period]])
    }
  )

  it("tells when the first one after the read begins or ends", async () => {
    const { stats } = await readSales("2026-01-01/2026-06-01", "2026-04-01/2026-05-01", "2019-01-01/2019-02-01")
    assert.deepStrictEqual(stats.saleChange, new Date("2026-04-01T00:00:00Z"))
    assert.isNull((await readSales("2019-01-01/2019-02-01", "")).stats.saleChange)
  })

  it("in another currency than the price is no sale; if one of them names a currency, the other is in it", async () => {
    const { currencies, prices } = await readRows(
      "price\tsale_price",
      ["10 EUR\t8 USD", "10\t8 USD", "10 USD\t8"],
      "EUR"
    )
    assert.deepStrictEqual(prices, [
      ["10", null],
      ["8", "10"],
      ["8", "10"]
    ])
    assert.deepStrictEqual(currencies, ["EUR", "USD", "USD"])
  })

  it("without a lower price tells nothing", async () => {
    const { prices, stats } = await readRows("price\tsale_price\tsale_price_effective_date", [
      "70 EUR\t70 EUR\t2026-04-01/2026-05-01"
    ])
    assert.deepStrictEqual([prices, stats.saleChange], [[["70", null]], null])
  })
})

describe("a price of 0", () => {
  it("is none beside a sale price, and a price alone", async () => {
    const { prices } = await readRows("price\tsale_price\tsale_price_effective_date", [
      "0 EUR\t7.50 EUR\t",
      "0 EUR\t7.50 EUR\t2099-01-01/2099-02-01",
      "0 EUR\t\t"
    ])
    assert.deepStrictEqual(prices, [
      ["7.5", null],
      [null, null],
      ["0", null]
    ])
  })
})

describe("the currency of a price", () => {
  it("is its own, else that of its row, else the store's", async () => {
    const { currencies } = await readRows("price\tcurrency", ["9.00 CHF\tUSD", "9.00\tUSD", "9.00\t"], "EUR")
    assert.deepStrictEqual(currencies, ["CHF", "USD", null])
  })

  it("decides how a price is read that names none", async () => {
    const { prices } = await readRows("price\tcurrency", ["45.000\tVND", "12.500\tKWD"])
    assert.deepStrictEqual(prices, [
      ["45000", null],
      ["12.5", null]
    ])
  })

  it("tells a conflict within a row", async () => {
    const { stats } = await readRows("price\tcurrency", ["9.00 CHF\tUSD", "9.00 EUR\tUSD"], "EUR")
    assert.strictEqual(stats.currencyConflict, "a price is in CHF, and its item states USD as its currency")
    assert.isNull((await readRows("price\tcurrency", ["9.00 USD\tUSD", "9.00\t"])).stats.currencyConflict)
  })

  it("rejects its row if it cannot be read", async () => {
    const { reasons } = await readRows("price\tcurrency", ["9.00\tcoins", "9.00\tEuro"])
    assert.deepStrictEqual(reasons, ['its currency is "coins", which is not a currency'])
  })
})

describe("prices whose separator is unclear", () => {
  const xml = (...prices: ReadonlyArray<string>) => {
    const items = prices.map(
      (price, id) => `<item><g:id>${id}</g:id><g:title>Tea</g:title><g:price>${price}</g:price></item>`
    )
    return `<rss><channel>${items.join("\n")}</channel></rss>`
  }
  const readXml = async (text: string) => {
    const batches = readGoogleMerchant(() => yieldAll(bytesOf(text)), { currency: null })
    const { found } = await collectUntilFault(
      (async function* () {
        for await (const batch of batches) yield [batch]
      })()
    )
    return {
      prices: found.flatMap(({ variants }) => variants.map(({ price }) => price)),
      rejected: found.flatMap(({ rejects }) => rejects.map(({ position }) => position))
    }
  }

  it("are read as all prices of the file show, also those after them", async () => {
    const filler = Array.from({ length: 3000 }, () => "5 EUR")
    const { prices } = await readXml(xml("1.299 EUR", "2,500 EUR", ...filler, "9,90 EUR"))
    assert.deepStrictEqual([prices[0], prices[1], prices.at(-1)], ["1299", "2.5", "9.9"])
    const table = await readRows("price", ["1.299 EUR", "2,500 EUR", ...filler, "9.90 EUR"])
    assert.deepStrictEqual([table.prices[0]?.[0], table.prices[1]?.[0]], ["1.299", "2500"])
  })

  it("are rejected with a point, and thousands with a comma, if the others show nothing or both", async () => {
    for (const others of [["5 EUR"], ["9.90 EUR", "9,90 EUR"]]) {
      const { prices, rejected } = await readXml(xml("1.299 EUR", "1,299 EUR", ...others))
      assert.deepStrictEqual([rejected, prices[0]], [[1], "1299"])
    }
  })

  it("are read from a feed that is cut off, up to its end", async () => {
    const { prices } = await readXml(xml("1.299 EUR", "9,90 EUR").replace("</channel></rss>", "<item><g:id>"))
    assert.deepStrictEqual(prices, ["1299", "9.9"])
  })
})
