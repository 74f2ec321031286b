/**
 * Stores of which a run rejects a part: four runs over the same stores. Some of their rows cannot be read from the start,
 * some from the second run on, and the fourth run reads all of them. Takes about 20 s.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeTestFolder, parseRunRecord, removeFolder, temporaryFolder } from "./ingesting.ts"
import { expectSameStoresRebuilt } from "./rebuilt-stores.ts"
import { type Files, type Listed, outcomesOf, replayStores, rowsOf, shopifyPages, writeFiles } from "./storefronts.ts"

const onRequest = "on request"
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

const google = (domain: string): Listed => ({
  domain,
  name: domain,
  kind: "google-merchant",
  location: `https://${domain}/feed.tsv`,
  currency: "EUR"
})
const feed = (domain: string, rows: ReadonlyArray<string>): Files => ({
  [`${domain}/feed.tsv`]: ["id\ttitle\tprice\tavailability", ...rows, ""].join("\n")
})
const row = (id: number | string, price = "1.00 EUR", availability = "in stock") =>
  `${id}\tTea ${id}\t${price}\t${availability}`

const shop: Listed = { domain: "shop.example", name: "Shop", kind: "shopify", location: "https://shop.example" }
const shopFiles = (
  ids: ReadonlyArray<number>,
  shelves: ReadonlyArray<number>,
  price: (id: number) => string
): Files => ({
  ...shopifyPages(
    shop.domain,
    [{ products: ids.map((id) => ({ id, title: `Jam ${id}`, variants: [{ id: id * 10, price: price(id) }] })) }],
    { collections: shelves.map((id) => ({ id, title: `Shelf ${id}`, handle: `shelf-${id}` })) }
  ),
  ...Object.fromEntries(
    shelves.flatMap((id) => [
      [`${shop.domain}/collections/shelf-${id}/products.json?limit=250&page=1`, { products: [{ id: 1 }, { id: 2 }] }],
      [`${shop.domain}/collections/shelf-${id}/products.json?limit=250&page=2`, { products: [] }]
    ])
  )
})

const domains = ["hundred", "quarter", "nameless", "single"].map((name) => `${name}.example`)

/** The same in the first three runs: one price of a hundred, and one of forty that is not a price. */
const steady: Files = {
  "stores.json": [...domains.map(google), shop],
  ...feed(
    "hundred.example",
    numbers(100).map((id) => row(id, id === 1 ? undefined : onRequest))
  ),
  ...feed(
    "single.example",
    numbers(40).map((id) => row(id, id === 40 ? onRequest : undefined))
  )
}
const first: Files = {
  ...steady,
  ...feed(
    "quarter.example",
    numbers(40).map((id) => row(id))
  ),
  ...feed(
    "nameless.example",
    numbers(40).map((id) => row(id))
  ),
  ...shopFiles(numbers(50), [1, 2], () => "1.00")
}
/** Product 40 of the feeds, product 50 and shelf 2 of the shop are gone. */
const second: Files = {
  ...steady,
  ...feed(
    "quarter.example",
    numbers(39).map((id) => row(id, id <= 10 ? onRequest : "2.00 EUR"))
  ),
  ...feed(
    "nameless.example",
    numbers(39).map((id) => row(id <= 2 ? "" : id, "2.00 EUR"))
  ),
  ...shopFiles(numbers(49), [1], (id) => (id === 2 || id === 3 ? onRequest : "2.00"))
}
const fourth: Files = {
  ...first,
  ...feed(
    "hundred.example",
    numbers(100).map((id) => row(id))
  )
}

const shares = {
  hundred:
    '99 of 100 products were rejected (99.0 %), most often because its price is "on request", which is not an amount',
  quarter:
    '10 of 39 products were rejected (25.6 %), most often because its price is "on request", which is not an amount',
  nameless: "2 of 39 products were rejected (5.1 %), most often because it has no id",
  shop: '2 of 49 products were rejected (4.1 %), most often because the price of its variant 1 is "on request", which is not a price'
}
const partly = (share: string) =>
  `Everything that the store lists was read, but rejected products keep their known data (${share}).`

const priceOfProducts = `
  select domain, count(*)::integer as products, list_sort(list(distinct price_min::double)) as prices
  from storefront.listing join storefront.store using (store_id) group by domain order by domain`

describe("four runs over stores with rows that cannot be read", () => {
  const home = temporaryFolder()
  const folder = temporaryFolder()
  const ends: Array<Awaited<ReturnType<typeof replayStores>>> = []
  const listings: Array<unknown> = []
  const outcomes: Array<Readonly<Record<string, string>>> = []
  beforeAll(async () => {
    for (const files of [first, second, second, fourth]) {
      const end = await replayStores(home, writeFiles(folder, files))
      ends.push(end)
      listings.push(
        Object.fromEntries((await rowsOf(home, priceOfProducts)).map(({ domain, ...rest }) => [domain, rest]))
      )
      outcomes.push(await outcomesOf(home))
    }
  })
  afterAll(() => {
    removeFolder(home)
    removeFolder(folder)
  })
  const leftOut = (run: number) => {
    const end = ends[run]
    return end === undefined ? [] : parseRunRecord(end).left_out
  }

  it("exit with 4 for rejects that are new, and with 0 for the same rejects again", () => {
    expect(ends.map(({ code }) => code)).toEqual([4, 4, 0, 0])
  })

  it("name each store with its share and the commonest reason, whether it is new or known", () => {
    const part = (name: keyof typeof shares, is_known: boolean) => ({
      feed: `store/${name}.example`,
      kind: "partial",
      reason: partly(shares[name]),
      is_known
    })
    const unclear = (is_known: boolean) => ({
      ...part("nameless", is_known),
      reason: `Some of the listed products or collections could not be read, and it is unknown which (there are 2 such rows; ${shares.nameless}).`
    })
    expect(leftOut(0)).toEqual([part("hundred", false)])
    expect(leftOut(1)).toEqual([part("hundred", true), part("quarter", false), unclear(false), part("shop", false)])
    expect(leftOut(2)).toEqual([part("hundred", true), part("quarter", true), unclear(true), part("shop", true)])
    expect(leftOut(3)).toEqual([])
  })

  it("record every read as partial while it has these rejects, but not for one product of 40", async () => {
    const partial = {
      "hundred.example": "partial rejected",
      "quarter.example": "partial rejected",
      "nameless.example": "partial unclear",
      "shop.example": "partial rejected"
    }
    const complete = Object.fromEntries([...domains, shop.domain].map((domain) => [domain, "complete complete"]))
    expect(outcomes).toEqual([
      { ...complete, "hundred.example": "partial rejected" },
      { ...complete, ...partial },
      { ...complete, ...partial },
      complete
    ])
    const [{ runs } = { runs: null }] = await rowsOf(
      home,
      "select count(distinct run_id)::integer as runs from ingest.left_out where feed = 'store/quarter.example'"
    )
    expect(runs).toBe(2)
  })

  it("publish the good rows, withdraw what the store no longer lists, and keep what was rejected", () => {
    expect(listings[0]).toMatchObject({
      "hundred.example": { products: 1, prices: [1] },
      "single.example": { products: 39 }
    })
    expect(listings[1]).toMatchObject({
      "quarter.example": { products: 39, prices: [1, 2] },
      "nameless.example": { products: 40, prices: [1, 2] }, // any of them may be in the rows without an id
      "shop.example": { products: 49, prices: [1, 2] }
    })
    expect(listings[2]).toEqual(listings[1])
    expect(listings[3]).toMatchObject({
      "hundred.example": { products: 100, prices: [1] },
      "quarter.example": { products: 40, prices: [1] },
      "nameless.example": { products: 40, prices: [1] },
      "shop.example": { products: 50, prices: [1] }
    })
  })

  it("withdraw the collections that the store no longer lists, and keep members that were rejected", async () => {
    const shelves = await rowsOf(
      home,
      `select shelf.title, s.is_listed, s.last_seen_at is not null as was_withdrawn, len(product_ids)::integer as members
       from storefront.collection shelf join storefront.sighting s on s.id = collection_id order by title`
    )
    expect(shelves).toEqual([
      { title: "Shelf 1", is_listed: true, was_withdrawn: false, members: 2 },
      { title: "Shelf 2", is_listed: true, was_withdrawn: false, members: 2 } // listed again by the fourth run
    ])
    const [{ back } = { back: null }] = await rowsOf(
      home,
      "select (listed_since > first_seen_at) as back from storefront.sighting join storefront.collection on id = collection_id where title = 'Shelf 2'"
    )
    expect(back).toBe(true)
  })

  it("give the same stores when they are rebuilt from the archive", async () => {
    await expectSameStoresRebuilt(home)
  })
})

describe("25,000 products whose availability is not understood", () => {
  it("are published without it, and what it said is kept once", async () => {
    const [home, folder] = [makeTestFolder(), makeTestFolder()]
    const rows = numbers(25_000).map((id) => row(id, undefined, "ask the shop"))
    writeFiles(folder, { "stores.json": [google("flood.example")], ...feed("flood.example", rows) })
    const runs = [await replayStores(home, folder), await replayStores(home, folder)]
    expect(runs.map(({ code }) => code)).toEqual([0, 0])
    expect(runs.map(({ stderr }) => stderr.includes("values of optional fields were not understood"))).toEqual([
      true,
      false
    ])
    expect(
      await rowsOf(
        home,
        `select feed, kind, field, said, rows::integer as rows,
           (select count(*) from storefront.variant where available is null)::integer as variants
         from ingest.odd_value where pipeline = 'storefronts'`
      )
    ).toEqual([
      {
        feed: "store/flood.example",
        kind: "unreadable",
        field: "availability",
        said: "ask the shop",
        rows: 25_000,
        variants: 25_000
      }
    ])
  })
})
