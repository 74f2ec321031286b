/** What the API itself names, as a client learns it: ids, slugs, metrics and cursors. */
import type { Reply } from "../support/api/judge.ts"

/** By operation and parameter, `getStore id`; cursors also by the id that they belong to. */
export type Known = ReadonlyMap<string, ReadonlyArray<string>>

interface Row {
  readonly id: string
  readonly slug: string
  readonly metric_name: string
  readonly series: ReadonlyArray<Row>
  readonly metrics: ReadonlyArray<Row>
}

export const learn = async (get: (target: string) => Promise<Reply>): Promise<Known> => {
  const known = new Map<string, ReadonlyArray<string>>()
  const rows = async (target: string) => {
    const { json, status, text } = await get(target)
    if (status !== 200) throw new Error(`${target} answered ${status}: ${text}`)
    const { data } = json as { readonly data: ReadonlyArray<Row> }
    return data
  }
  const ids = async (target: string) => (await rows(target)).map(({ id }) => id)

  const groups = await rows("/v1/commodities")
  known.set(
    "getCommodityPrices series",
    groups.flatMap(({ series }) => series.map(({ slug }) => slug))
  )
  const products = await rows("/v1/commodities?limit=500")
  known.set(
    "getCommodityMetricValues metrics",
    products.flatMap(({ metrics }) => metrics.map(({ metric_name }) => metric_name))
  )
  known.set("getBrandedFood id", await ids("/v1/branded-foods?limit=20"))
  const stores = await ids("/v1/stores")
  for (const id of ["getStore id", "getStoreProducts id", "getStoreCollections id"]) known.set(id, stores)
  known.set("getProduct id", (await Promise.all(stores.map((id) => ids(`/v1/stores/${id}/products?limit=5`)))).flat())

  const learnCursor = async (operation: string, path: string, id = "") => {
    const { next_cursor } = (await get(`${path}?limit=1`)).json as { readonly next_cursor: string | null }
    if (next_cursor === null) return
    known.set(`${operation} cursor ${id}`, [next_cursor])
    known.set(`${operation} cursor`, [...(known.get(`${operation} cursor`) ?? []), next_cursor])
  }
  await learnCursor("searchCommodities", "/v1/commodities")
  await learnCursor("searchBrandedFoods", "/v1/branded-foods")
  await learnCursor("searchStores", "/v1/stores")
  for (const id of stores) {
    await learnCursor("getStoreProducts", `/v1/stores/${id}/products`, id)
    await learnCursor("getStoreCollections", `/v1/stores/${id}/collections`, id)
  }
  return known
}
