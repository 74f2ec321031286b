/** Reads of the storefront endpoints: stores from memory, products and collections from sorted tables. */
import {
  getProduct,
  getStore,
  getStoreCollections,
  getStoreProducts,
  searchStores,
  unknownRecord
} from "@larder/schemas"
import type { Generation, Storefronts, StoreLists } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { ReadModel } from "../read-model.ts"
import { expectPage, formatRecord, page, ReadRefused, type Request, type Route, route } from "../route.ts"

const StorePosition = Schema.Tuple([Schema.String, Schema.String]) // name, id
const microseconds = Schema.String.check(Schema.isPattern(/^-?\d{1,18}$/u))
const ListPosition = Schema.Tuple([Schema.NullOr(microseconds), Schema.String]) // published_at, id

const readList =
  (choose: (storefronts: Storefronts) => StoreLists) =>
  (
    { after, cursorAt, id, values }: Request<{ readonly limit: number }, typeof ListPosition.Type>,
    { model: { storefronts } }: Generation<ReadModel>
  ) => {
    if (storefronts?.stores.json(id) === undefined) throw new ReadRefused(unknownRecord("store", id))
    const position = after && { published: after[0] === null ? null : BigInt(after[0]), id: after[1] }
    return Effect.map(choose(storefronts).page(id, position, values.limit), ({ next, records }) =>
      page(records, next === undefined ? null : cursorAt([next.published?.toString() ?? null, next.id]))
    )
  }

export const storefrontRoutes: ReadonlyArray<Route> = [
  route(searchStores, {
    position: StorePosition,
    expectedBytes: expectPage(600),
    read: ({ after, cursorAt, values }, { model: { storefronts } }) => {
      if (storefronts === undefined) return page([], null)
      const position = after && { name: after[0], id: after[1] }
      const { cursor: _, limit, ...filters } = values
      const { next, records } = storefronts.stores.search(filters, position, limit)
      return page(records, next === undefined ? null : cursorAt([next.name, next.id]))
    }
  }),
  route(getStore, {
    read: ({ id }, { model: { storefronts } }) => formatRecord(storefronts?.stores.json(id), unknownRecord("store", id))
  }),
  route(getStoreProducts, {
    position: ListPosition,
    expectedBytes: expectPage(600),
    read: readList(({ products }) => products)
  }),
  route(getStoreCollections, {
    position: ListPosition,
    expectedBytes: expectPage(400),
    read: readList(({ collections }) => collections)
  }),
  route(getProduct, {
    read: ({ id }, { model: { storefronts } }) =>
      Effect.map(storefronts?.readProduct(id) ?? Effect.undefined, (record) =>
        formatRecord(record, unknownRecord("product", id))
      )
  })
]
