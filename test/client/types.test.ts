/** Errors and inferred types of the client. `tsc` checks them: a missing expected error is an error. */
import { Larder } from "@larder/schemas/client/larder.ts"
import type { ProductId, StoreId } from "@larder/schemas/client/records.ts"
import { describe, expect, expectTypeOf, it } from "vitest"

const larder = new Larder({ key: `svc_data_${"k".repeat(64)}`, url: "http://127.0.0.1:9" })
const store: StoreId = "platform_store_x"
const product: ProductId = "platform_product_x"

/** Compiled, never run. */
const mistakes = [
  // @ts-expect-error misspelt
  () => larder.searchBrandedFoods({ nmae: "gum" }),
  // @ts-expect-error misspelt
  () => larder.searchBrandedFoods.all({ ingredients: "salt" }),
  // @ts-expect-error a parameter of another endpoint
  () => larder.getStoreProducts(store, { country: "US" }),
  // @ts-expect-error required
  () => larder.getCommodityPrices({ from: "2026-01-01" }),
  // @ts-expect-error a text is not a list of names
  () => larder.getCommodityMetricValues({ metrics: "butter_sales_price_weekly" }),
  // @ts-expect-error must be a number
  () => larder.searchStores({ limit: "20" }),
  // @ts-expect-error a parameter of the paged catalog
  () => larder.searchCommodities({ category: "dairy" }),
  // @ts-expect-error a parameter of the grouped catalog
  () => larder.searchCommodityProducts({ commodity: "butter" }),
  // @ts-expect-error the id of a product, not of a store
  () => larder.getStore(product),
  // @ts-expect-error a barcode, not an id
  () => larder.getBrandedFood("059642932491"),
  // @ts-expect-error has no query
  () => larder.getProduct(product, { limit: 1 }),
  // @ts-expect-error no key
  () => new Larder({ url: "http://127.0.0.1:9" })
]

describe("the types of the client", () => {
  it("reject calls at compile time that the API would reject", () => {
    expect(mistakes).toHaveLength(12)
  })
  it("declare exactly the fields of the API's records", () => {
    const grouped = () => larder.searchCommodities({ commodity: "butter" }).then(({ data }) => data[0]?.series[0]?.unit)
    expectTypeOf(grouped).returns.resolves.toEqualTypeOf<"USD/lb" | "USD/cwt" | undefined>()
    const products = () => larder.searchCommodityProducts().then((page) => page.data[0]?.metrics[0]?.metric_name)
    expectTypeOf(products).returns.resolves.toEqualTypeOf<string | undefined>()
    const calories = () => larder.getBrandedFood("data_branded_food_x").then(({ data }) => data.nutrition.calories)
    expectTypeOf(calories).returns.resolves.toEqualTypeOf<number | undefined>()
    const cursor = () => larder.searchStores().then((page) => page.next_cursor)
    expectTypeOf(cursor).returns.resolves.toEqualTypeOf<string | null>()
  })
  it("accept ids that other methods return", () => {
    const readAll = async () => {
      for await (const { id } of larder.searchStores.all({ country: undefined })) {
        for await (const { id: product } of larder.getStoreProducts.all(id)) {
          const { data } = await larder.getProduct(product)
          expectTypeOf(data.store_id).toEqualTypeOf<StoreId>()
        }
      }
    }
    expectTypeOf(readAll).returns.resolves.toBeVoid()
  })
})
