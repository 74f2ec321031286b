/** What runs tell about the prices of stores as a whole, over several stores at once. */
import { describe, expect, it } from "vitest"
import { makeTestFolder } from "./ingesting.ts"
import { replayList } from "./store-cases.ts"
import { type Files, type Listed, rowsOf, shopifyPages, writeFiles } from "./storefronts.ts"

const google = (name: string, currency?: string): Listed => ({
  domain: `${name}.example`,
  name,
  kind: "google-merchant",
  location: `${name}.tsv`,
  ...(currency === undefined ? {} : { currency })
})
const table = (name: string, columns: string, rows: ReadonlyArray<string>): Files => ({
  [`${name}.tsv`]: [`id\ttitle\t${columns}`, ...rows.map((row, index) => `${index}\tTea ${index}\t${row}`), ""].join(
    "\n"
  )
})

/** Replays these files into a home. The paths of a list are looked up in its folder. */
const replay = (home: string, stores: ReadonlyArray<Listed>, files: Files) => {
  const folder = writeFiles(makeTestFolder(), { "stores.json": stores, ...files })
  return replayList(home, `${folder}/stores.json`, folder)
}
const warningsOf = (logs: ReadonlyArray<string>, text: string) => logs.filter((line) => line.includes(text))

describe("a second read with prices of another magnitude", () => {
  const names = ["third", "fifth", "converted", "usual"]
  const stores = names.map((name) => google(name))
  const tenPrices = (name: string, changed: number, price: string) =>
    table(
      name,
      "price",
      Array.from({ length: 10 }, (_, index) => (index < changed ? price : "5.00 EUR"))
    )
  const before = Object.assign({}, ...names.map((name) => tenPrices(name, 0, "")))
  const after = {
    ...tenPrices("third", 3, "500 EUR"),
    ...tenPrices("fifth", 2, "0.50 EUR"),
    ...tenPrices("converted", 10, "60000 IDR"),
    ...tenPrices("usual", 10, "49.99 EUR")
  }
  it("is one warning that names the store, if more than a fifth of its prices changed tenfold or more", async () => {
    const home = makeTestFolder()
    const first = await replay(home, stores, before)
    expect(warningsOf(first.logs, "prices_keep_their_magnitude")).toEqual([])
    const second = await replay(home, stores, after)
    expect(second.left_out).toEqual([])
    const [warning, ...others] = warningsOf(second.logs, "prices_keep_their_magnitude")
    expect(others).toEqual([])
    expect(warning).toContain("third.example (3 of 10 prices)")
    for (const name of ["fifth", "converted", "usual"]) expect(warning).not.toContain(name)
    const prices = await rowsOf(
      home,
      "select price::double as price from storefront.variant join storefront.store using (store_id) where domain = 'third.example' and price > 5"
    )
    expect(prices).toEqual([{ price: 500 }, { price: 500 }, { price: 500 }])
  })
})

describe("a currency in the store list that its store contradicts", () => {
  const product = { id: 1, title: "Jam", variants: [{ id: 10, price: "1.00" }] }
  const minor = { price: "100", currency_code: "PLN", currency_minor_unit: 2 }
  const page = (number: number) => `woo.example/wp-json/wc/store/v1/products?per_page=100&page=${number}`
  const shop = (name: string, kind: Listed["kind"]): Listed => ({
    ...google(name, "EUR"),
    kind,
    location: `https://${name}.example`
  })
  const stores = [google("table", "EUR"), google("plain", "EUR"), shop("shop", "shopify"), shop("woo", "woocommerce")]
  const files: Files = {
    ...table("table", "price\tcurrency", ["1.00\tUSD", "2.00\tUSD", "3.00 USD\tUSD"]),
    ...table("plain", "price", ["1.00", "2.00 EUR"]),
    ...shopifyPages("shop.example", [{ products: [product] }]),
    "shop.example/meta.json": { id: 1, name: "Shop", currency: "NOK" },
    [page(1)]: [{ id: 1, name: "Jam", prices: minor }],
    [page(2)]: [],
    [page(3)]: []
  }
  it("gives way to it, with one warning for each store", async () => {
    const home = makeTestFolder()
    const { logs } = await replay(home, stores, files)
    const currencies = await rowsOf(home, "select domain, currency from storefront.store order by domain")
    expect(currencies).toEqual([
      { domain: "plain.example", currency: "EUR" },
      { domain: "shop.example", currency: "NOK" },
      { domain: "table.example", currency: "USD" },
      { domain: "woo.example", currency: "PLN" }
    ])
    const conflict = /currencies of (\S+) conflict: its prices are in (\w+), .*EUR/
    const found = warningsOf(logs, " conflict: ").map((line) => conflict.exec(line)?.slice(1))
    expect(found.toSorted()).toEqual([
      ["shop.example", "NOK"],
      ["table.example", "USD"],
      ["woo.example", "PLN"]
    ])
  })
})

describe("the sales that a feed states", () => {
  it("are recorded with the time when the first one after the read begins or ends, beside the times of the schedule", async () => {
    const home = makeTestFolder()
    const sales = ["2019-01-01/2019-02-01", "2098-01-01T00:00Z/2099-01-01T00:00Z", "2000-01-01/2097-12-31"]
    const rows = sales.map((period) => `9 EUR\t8 EUR\t${period}`)
    await replay(home, [google("sales"), google("plain")], {
      ...table("sales", "price\tsale_price\tsale_price_effective_date", rows),
      ...table("plain", "price", ["1.00 EUR"])
    })
    const changes = `
      select feed, sale_changes_at::varchar as changes, due_from between started_at and read_at as soon, (due_by - due_from)::varchar as wait
      from ingest.store_read join ingest.run using (run_id) order by feed`
    expect(await rowsOf(home, changes)).toEqual([
      { feed: "store/plain.example", changes: null, soon: true, wait: "7 days" },
      { feed: "store/sales.example", changes: "2098-01-01 00:00:00", soon: true, wait: "7 days" }
    ])
  })
})
