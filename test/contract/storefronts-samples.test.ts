/** The bundled stores, one of each kind of feed, as a client sees them after `npm start`. Every response is checked. */
import { beforeAll, describe, expect, it } from "vitest"
import { administer } from "../support/api/operator.ts"
import { fetchPages } from "../support/api/pages.ts"
import { useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()
beforeAll(() =>
  administer(api.home(), (ledger) =>
    ledger.creditAccount({ account_id: api.key().account_id, credits: 90_000, note: "stores" })
  )
)

interface Store {
  readonly id: string
  readonly domain: string
  readonly product_count: number
  readonly collection_count: number
  readonly categories: ReadonlyArray<{ readonly category: string; readonly product_count: number }>
}
interface Product {
  readonly id: string
  readonly category: string
  readonly price: { readonly min: number | null; readonly max: number | null; readonly currency: string | null }
  readonly variant_count: number
}
interface Detail extends Product {
  readonly variants: ReadonlyArray<{ readonly price: number | null; readonly position: number }>
}
const getAll = async <A>(path: string) => (await fetchPages(api.get, `${path}?limit=200`)).flat() as ReadonlyArray<A>
const getData = async <A>(path: string) => ((await api.get(path)).json as { readonly data: A }).data

describe("the bundled stores", () => {
  it("list as many products and collections as each complete store counts", async () => {
    const stores = await getAll<Store>("/v1/stores")
    expect(stores.map(({ domain }) => domain)).toEqual([
      "harbour-bakery.example",
      "meadow-dairy.example",
      "orchard-pantry.example"
    ])
    for (const store of stores) {
      expect(await getData(`/v1/stores/${store.id}`)).toEqual(store)
      expect(store).toMatchObject({ fetch_status: "complete" })
      const products = await getAll<Product>(`/v1/stores/${store.id}/products`)
      expect(products.length).toBe(store.product_count)
      expect(products.length).toBeGreaterThan(0)
      expect((await getAll(`/v1/stores/${store.id}/collections`)).length).toBe(store.collection_count)
      for (const { category, product_count } of store.categories) {
        expect(products.filter((product) => product.category === category).length).toBe(product_count)
      }
      expect(store.categories.reduce((sum, { product_count }) => sum + product_count, 0)).toBe(store.product_count)
    }
  })

  it("return the same products by id, priced from their variants", async () => {
    for (const { id } of await getAll<Store>("/v1/stores")) {
      for (const product of (await getAll<Product>(`/v1/stores/${id}/products`)).slice(0, 20)) {
        const detail = await getData<Detail>(`/v1/products/${product.id}`)
        expect(detail).toMatchObject({ ...product, store_id: id })
        const prices = detail.variants.flatMap(({ price }) => (price === null ? [] : [price]))
        expect([detail.price.min, detail.price.max]).toEqual(
          prices.length === 0 ? [null, null] : [Math.min(...prices), Math.max(...prices)]
        )
        expect(detail.variants.map(({ position }) => position)).toEqual(detail.variants.map((_, index) => index + 1))
        expect(detail.variant_count).toBe(detail.variants.length)
      }
    }
  })
})
