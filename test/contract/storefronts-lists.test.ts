/** Products and collections of a store: their fields, order and pages, and their changes when stores are read again. */
import { cursorScope, encodeCursor } from "@larder/serve/api/cursor.ts"
import { beforeAll, describe, expect, it } from "vitest"
import { administer } from "../support/api/operator.ts"
import { fetchPages } from "../support/api/pages.ts"
import { formatError, startOwnServer } from "../support/api/server.ts"
import { readNewestGeneration } from "../support/generations.ts"
import { waitUntilServed } from "../support/programs.ts"
import {
  aCollection,
  aProduct,
  aStore,
  aVariant,
  type CollectionRow,
  collectionRecord,
  makeHome,
  newestFirst,
  type ProductRow,
  publishReads,
  type Reads,
  summaryRecord
} from "../support/stores.ts"

const shop = "platform_store_shop"
const other = "platform_store_other"
const empty = "platform_store_empty"
const stores = [
  aStore({ store_id: shop, name: "Shop" }),
  aStore({ store_id: other, name: "Other" }),
  aStore({ store_id: empty, name: "Empty" })
]

/** Indexes in an order that differs from the API's. */
const shuffle = (count: number) => Array.from({ length: count }, (_, index) => (index * 101) % count)
const formatTime = (index: number) => new Date(Date.UTC(2026, 5, 6, 12) - index * 3_600_000).toISOString()
/** A third have a unique time, a third share theirs with nine others, and a third have none. */
const choosePublicationTime = (index: number) => {
  if (index % 3 === 0) return formatTime(index)
  return index % 3 === 1 ? formatTime(Math.floor(index / 30)) : null
}
const makeId = (kind: string, index: number) => `platform_${kind}_${String((index * 7919) % 100_003).padStart(6, "0")}`

const image = { src: "https://cdn.example.com/a.jpg?v=1", width: 640, height: 480 }
const rich: Partial<ProductRow> = {
  title: 'Käse "am Stück" \\ 100%',
  handle: "käse",
  vendor: "Sennerei",
  product_type: "Cheese",
  category: "food_beverages_and_tobacco",
  sub_category: "dairy_products",
  tags: ["raw milk", "allbirds::hue => grey", ""],
  images: [image, { src: "https://cdn.example.com/b.jpg", width: null, height: null }],
  price_min: "15.0000",
  price_max: "1200.5000",
  currency: "CHF",
  variants: [1, 2].map((position) =>
    aVariant({ variant_id: `platform_variant_${position}`, position, currency: "CHF" })
  ),
  published_at: "2026-06-06T12:41:05.007Z"
}
const makeProducts = (store_id: string, count: number, from: number) =>
  shuffle(count).map((index) => {
    const product_id = makeId("product", from + index)
    return aProduct({ store_id, product_id, title: `No. ${index}`, published_at: choosePublicationTime(index) })
  })
const products = [
  ...makeProducts(shop, 230, 0),
  aProduct({ store_id: shop, product_id: "platform_product_rich", ...rich }),
  ...makeProducts(other, 30, 1000)
]
const filterByStore = <A extends { readonly store_id: string }>(rows: ReadonlyArray<A>, store: string) =>
  rows.filter(({ store_id }) => store_id === store)
const listRecords = (rows: ReadonlyArray<ProductRow>, store: string) =>
  newestFirst(filterByStore(rows, store), ({ product_id }) => product_id).map(summaryRecord)

const first = products[0]?.product_id ?? ""
const productOfOther = filterByStore(products, other)[0]?.product_id ?? ""
const members: ReadonlyArray<readonly [ReadonlyArray<string>, number]> = [
  [["platform_product_rich", first], 2],
  [[first, first, "platform_product_rich", first], 2],
  [[first, "platform_product_nowhere"], 1],
  [[productOfOther], 0],
  [[], 0]
]
const describeCollection = (number: number): Partial<CollectionRow> =>
  number === 0
    ? { handle: "käse", description: "All <b>cheese</b>", image, updated_at: "2026-07-01T00:00:00.000Z" }
    : {}
const collections = [
  ...shuffle(203).map((index) => {
    const [product_ids] = members[index % members.length] ?? [[]]
    const collection_id = makeId("collection", index)
    return aCollection({
      store_id: shop,
      collection_id,
      product_ids,
      published_at: choosePublicationTime(index),
      ...describeCollection(index)
    })
  }),
  aCollection({ store_id: other, collection_id: "platform_collection_other", product_ids: [productOfOther] })
]
const countMembers = ({ product_ids }: CollectionRow) => members.find(([ids]) => ids === product_ids)?.[1] ?? 0
const shownCollections = newestFirst(filterByStore(collections, shop), ({ collection_id }) => collection_id).map(
  (row) => collectionRecord(row, countMembers(row))
)

const api = startOwnServer({ home: () => makeHome({ stores, products, collections }) })
beforeAll(() =>
  administer(api.home(), (ledger) =>
    ledger.creditAccount({ account_id: api.key().account_id, credits: 90_000, note: "pages" })
  )
)

interface Page {
  readonly data: ReadonlyArray<{ readonly id: string }>
  readonly next_cursor: string | null
}
const productsAt = `/v1/stores/${shop}/products`
const collectionsAt = `/v1/stores/${shop}/collections`
const getPage = async (target: string) => {
  const reply = await api.get(target)
  expect(reply.status).toBe(200)
  return reply.json as Page
}
const getAllRows = async (path: string, limit: number) => (await fetchPages(api.get, `${path}?limit=${limit}`)).flat()

describe("products of a store", () => {
  it("lists all products, newest publication first, unpublished last, equal ones by id", async () => {
    expect(await getAllRows(productsAt, 200)).toEqual(listRecords(products, shop))
    expect(await getAllRows(`/v1/stores/${other}/products`, 200)).toEqual(listRecords(products, other))
  })

  it("returns every field, and prices without trailing zeros", async () => {
    const { data } = (await getPage(`${productsAt}?limit=1`)) as { readonly data: ReadonlyArray<object> }
    expect(data).toEqual([
      {
        id: "platform_product_rich",
        title: 'Käse "am Stück" \\ 100%',
        handle: "käse",
        vendor: "Sennerei",
        product_type: "Cheese",
        category: "food_beverages_and_tobacco",
        sub_category: "dairy_products",
        tags: ["raw milk", "allbirds::hue => grey", ""],
        image,
        price: { min: 15, max: 1200.5, currency: "CHF" },
        variant_count: 2,
        published_at: "2026-06-06T12:41:05.007Z",
        source: "platform"
      }
    ])
    expect(Object.keys(data[0] ?? {})).toEqual(Object.keys(summaryRecord(aProduct({ store_id: "", product_id: "" }))))
    expect((await api.get(`${productsAt}?limit=1`)).text).toContain('"price":{"min":15,"max":1200.5,"currency":"CHF"}')
  })
})

describe("collections of a store", () => {
  it("lists all collections in the order of products, and counts only members that the store lists", async () => {
    expect(await getAllRows(collectionsAt, 200)).toEqual(shownCollections)
    expect(await getAllRows(`/v1/stores/${other}/collections`, 200)).toEqual([
      expect.objectContaining({ id: "platform_collection_other", product_count: 1 })
    ])
  })

  it("returns every field", async () => {
    const [newest] = shownCollections
    expect(newest).toMatchObject({ description: "All <b>cheese</b>", image, updated_at: "2026-07-01T00:00:00.000Z" })
    const { data } = await getPage(`${collectionsAt}?limit=1`)
    expect(data).toEqual([newest])
    expect(Object.keys(data[0] ?? {})).toEqual(Object.keys(newest ?? {}))
  })
})

describe.each([
  ["products", productsAt, listRecords(products, shop)],
  ["collections", collectionsAt, shownCollections]
] as const)("pages of %s", (kind, path, whole) => {
  it.each([19, 101, 200])("returns the whole list in pages of %i, each row once", async (limit) => {
    const pages = await fetchPages(api.get, `${path}?limit=${limit}`)
    expect(pages.flat()).toEqual(whole)
    expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
  })

  it("returns 50 rows by default, and 200 for any larger `limit`", async () => {
    expect((await getPage(path)).data).toEqual(whole.slice(0, 50))
    const largestPage = await getPage(`${path}?limit=200`)
    expect(largestPage.data).toEqual(whole.slice(0, 200))
    for (const limit of ["201", "203", "1000000", "9".repeat(400)]) {
      expect(await getPage(`${path}?limit=${limit}`)).toEqual(largestPage)
    }
  })

  it("ends with a null cursor, even if the last page is exactly full", async () => {
    const rest = whole.length - 200
    const { next_cursor } = await getPage(`${path}?limit=200`)
    const last = await getPage(`${path}?limit=${rest}&cursor=${next_cursor}`)
    expect([last.data.length, last.next_cursor]).toEqual([rest, null])
    expect((await getPage(`${path}?limit=${rest - 1}&cursor=${next_cursor}`)).next_cursor).not.toBeNull()
  })

  it("starts at the first row with an empty cursor, and repeats a page for the same cursor", async () => {
    const page = await getPage(`${path}?limit=3`)
    expect(await getPage(`${path}?limit=3&cursor=`)).toEqual(page)
    const next = `${path}?limit=3&cursor=${page.next_cursor}`
    expect((await getPage(next)).data).toEqual(whole.slice(3, 6))
    expect(await getPage(next)).toEqual(await getPage(next))
  })

  it("rejects a cursor of another store or another list", async () => {
    const { next_cursor } = await getPage(`${path}?limit=1`)
    const foreign = [`/v1/stores/${other}/${kind}`, path === productsAt ? collectionsAt : productsAt, "/v1/stores"]
    for (const target of foreign) {
      const reply = await api.get(`${target}?cursor=${next_cursor}`)
      expect(formatError(reply)).toMatch(/^400 invalid_request: cursor /)
      expect(reply.headers["x-credits-charged"]).toBe("0")
    }
  })

  it("rejects positions that the API never issued", async () => {
    const scope = cursorScope(kind === "products" ? "getStoreProducts" : "getStoreCollections", shop, {})
    for (const position of [
      ["2026-06-06T12:41:05.000Z", "x"],
      ["", "x"],
      ["1e5", "x"],
      ["9".repeat(30), "x"],
      ["0", null]
    ]) {
      const reply = await api.get(`${path}?cursor=${encodeCursor(scope, position)}`)
      expect(formatError(reply)).toMatch(/^400 invalid_request: cursor /)
      expect(reply.headers["x-credits-charged"]).toBe("0")
    }
  })

  it("returns an empty page for a store that lists nothing, and charges it", async () => {
    const { headers, status, text } = await api.get(`/v1/stores/${empty}/${kind}`)
    expect([status, text, headers["x-credits-charged"]]).toEqual([200, '{"data":[],"next_cursor":null}', "100"])
  })

  it("responds with 404 for an unknown store, and charges nothing", async () => {
    for (const id of ["platform_store_none", `${shop}%20`, shop.toUpperCase(), first]) {
      const reply = await api.get(`/v1/stores/${id}/${kind}`)
      expect(formatError(reply)).toBe(`404 not_found: Unknown store: ${decodeURIComponent(id)}`)
      expect(reply.headers["x-credits-charged"]).toBe("0")
    }
  })
})

/** Publishes a read of stores, and waits until the server uses it. */
const publish = async (reads: Reads) => {
  await publishReads(api.home(), reads)
  await waitUntilServed(api.server(), readNewestGeneration(api.home()))
}

describe("stores that are read again", () => {
  const [shopStore, ...otherStores] = stores
  const before = listRecords(products, shop)
  /** The last row of the first page, a row of the next page, and another row of the first page. */
  const withdrawn = new Set([before[49]?.id, before[60]?.id, before[10]?.id])
  const added = [
    aProduct({ store_id: shop, product_id: "platform_product_new", published_at: "2026-09-01T00:00:00.000Z" }),
    aProduct({ store_id: shop, product_id: "platform_product_zzz" })
  ]
  const kept = products.filter(({ product_id }) => !withdrawn.has(product_id))
  const shopProducts = [...filterByStore(kept, shop), ...added]

  it("returns every row that exists throughout exactly once, in order, to a client that follows cursors", async () => {
    if (shopStore === undefined) throw new Error("the first store is missing")
    let isPublished = false
    const pages = await fetchPages(api.get, `${productsAt}?limit=50`, async () => {
      if (isPublished) return
      isPublished = true
      await publish({
        stores: [shopStore],
        products: shopProducts,
        collections: filterByStore(collections, shop),
        read_at: "2026-10-02T00:00:00.000Z"
      })
    })
    const after = listRecords(shopProducts, shop)
    expect(pages[0]).toEqual(before.slice(0, 50))
    // new rows behind the cursor are returned, withdrawn rows are not
    const seen = new Set(before.slice(0, 50).map(({ id }) => id))
    expect(pages.slice(1).flat()).toEqual(after.slice(1).filter(({ id }) => !seen.has(id)))
    expect(await getAllRows(productsAt, 200)).toEqual(after)
  })

  it("removes products that a complete read no longer finds from lists, ids and counts", async () => {
    for (const id of withdrawn) {
      expect(formatError(await api.get(`/v1/products/${id}`))).toBe(`404 not_found: Unknown product: ${id}`)
    }
    expect((await api.get(`/v1/stores/${shop}`)).json).toMatchObject({
      data: { product_count: before.length - withdrawn.size + added.length, collection_count: 203 }
    })
    expect(await getAllRows(`/v1/stores/${other}/products`, 200)).toEqual(listRecords(products, other))
  })

  it("keeps the products of a store when the read was partial or failed", async () => {
    const [otherStore] = otherStores
    if (shopStore === undefined || otherStore === undefined) throw new Error("the stores are missing")
    await publish({
      stores: [
        { ...shopStore, fetch_status: "partial", outcome: "window" },
        { ...otherStore, fetch_status: "failed", outcome: "blocked", fetched_at: null }
      ],
      products: shopProducts.slice(0, 3),
      read_at: "2026-10-03T00:00:00.000Z"
    })
    expect(await getAllRows(productsAt, 200)).toEqual(listRecords(shopProducts, shop))
    expect(await getAllRows(`/v1/stores/${other}/products`, 200)).toEqual(listRecords(products, other))
    const { data } = (await getPage("/v1/stores")) as { readonly data: ReadonlyArray<object> }
    expect(data).toMatchObject([
      { id: empty, fetch_status: "complete" },
      { id: other, fetch_status: "failed", product_count: 30, fetched_at: "2026-10-01T13:04:36.000Z" },
      { id: shop, fetch_status: "partial" }
    ])
  })
})
