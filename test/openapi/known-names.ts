/** Names that the API itself returns, as a client finds them: ids, slugs, metrics and cursors. */
import type { Reply } from "../support/api/check-response.ts"

/** By operation and parameter, such as `getStore id`; cursors also by the id that they belong to. */
export type KnownNames = ReadonlyMap<string, ReadonlyArray<string>>

interface Row {
  readonly id: string
  readonly slug: string
  readonly metric_name: string
  readonly series: ReadonlyArray<Row>
  readonly metrics: ReadonlyArray<Row>
}

export const fetchKnownNames = async (get: (target: string) => Promise<Reply>): Promise<KnownNames> => {
  const known = new Map<string, ReadonlyArray<string>>()
  const fetchRows = async (target: string) => {
    const { json, status, text } = await get(target)
    if (status !== 200) throw new Error(`${target} returned ${status}: ${text}`)
    const { data } = json as { readonly data: ReadonlyArray<Row> }
    return data
  }
  const fetchIds = async (target: string) => (await fetchRows(target)).map(({ id }) => id)

  const groups = await fetchRows("/v1/commodities")
  known.set(
    "getCommodityPrices series",
    groups.flatMap(({ series }) => series.map(({ slug }) => slug))
  )
  const products = await fetchRows("/v1/commodities?limit=500")
  known.set(
    "getCommodityMetricValues metrics",
    products.flatMap(({ metrics }) => metrics.map(({ metric_name }) => metric_name))
  )
  known.set("getBrandedFood id", await fetchIds("/v1/branded-foods?limit=20"))
  const stores = await fetchIds("/v1/stores")
  for (const id of ["getStore id", "getStoreProducts id", "getStoreCollections id"]) known.set(id, stores)
  const productIds = await Promise.all(stores.map((id) => fetchIds(`/v1/stores/${id}/products?limit=5`)))
  known.set("getProduct id", productIds.flat())

  const fetchCursor = async (operation: string, path: string, id = "") => {
    const { next_cursor } = (await get(`${path}?limit=1`)).json as { readonly next_cursor: string | null }
    if (next_cursor === null) return
    known.set(`${operation} cursor ${id}`, [next_cursor])
    known.set(`${operation} cursor`, [...(known.get(`${operation} cursor`) ?? []), next_cursor])
  }
  await fetchCursor("searchCommodities", "/v1/commodities")
  await fetchCursor("searchBrandedFoods", "/v1/branded-foods")
  await fetchCursor("searchStores", "/v1/stores")
  for (const id of stores) {
    await fetchCursor("getStoreProducts", `/v1/stores/${id}/products`, id)
    await fetchCursor("getStoreCollections", `/v1/stores/${id}/collections`, id)
  }
  return known
}
