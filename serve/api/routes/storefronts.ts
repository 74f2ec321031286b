/** Reads of the storefront endpoints: stores from memory, products and collections from sorted tables. */
import {
  foreignCursor,
  getProduct,
  getStore,
  getStoreCollections,
  getStoreProducts,
  invalidRequest,
  searchStores,
  unknownRecord
} from "@larder/schemas"
import type { Generation, ListPosition, Storefronts, StoreLists, StorePosition } from "@larder/warehouse"
import { Effect } from "effect"
import type { CursorPosition } from "../cursor.ts"
import type { ReadModel } from "../read-model.ts"
import { expectPage, page, type Request, type Route, refuse, route } from "../route.ts"

/** Undefined for an invalid position: a client can make up the contents of a cursor. */
const parseStorePosition = ([name, id]: CursorPosition): StorePosition | undefined =>
  name == null || id == null ? undefined : { name, id }

const microseconds = /^-?\d{1,18}$/
const parseListPosition = ([published, id]: CursorPosition): ListPosition | undefined => {
  if (published === undefined || id == null) return undefined
  if (published === null) return { published: null, id }
  return microseconds.test(published) ? { published: BigInt(published), id } : undefined
}

const readList =
  (choose: (storefronts: Storefronts) => StoreLists) =>
  (
    { after, cursorAt, id, values }: Request<{ readonly limit: number }>,
    { model: { storefronts } }: Generation<ReadModel>
  ) => {
    if (storefronts?.stores.json(id) === undefined) return refuse(unknownRecord("store", id))
    const position = after && parseListPosition(after)
    if (after !== undefined && position === undefined) return refuse(invalidRequest(foreignCursor))
    return Effect.map(choose(storefronts).page(id, position, values.limit), ({ next, records }) =>
      page(records, next === undefined ? null : cursorAt([next.published?.toString() ?? null, next.id]))
    )
  }

export const storefrontRoutes: ReadonlyArray<Route> = [
  route(searchStores, {
    expectedBytes: expectPage(600),
    read: ({ after, cursorAt, values }, { model: { storefronts } }) =>
      Effect.suspend(() => {
        if (storefronts === undefined) return Effect.succeed(page([], null))
        const position = after && parseStorePosition(after)
        if (after !== undefined && position === undefined) return refuse(invalidRequest(foreignCursor))
        const { cursor: _, limit, ...filters } = values
        const { next, records } = storefronts.stores.search(filters, position, limit)
        return Effect.succeed(page(records, next === undefined ? null : cursorAt([next.name, next.id])))
      })
  }),
  route(getStore, {
    read: ({ id }, { model: { storefronts } }) =>
      Effect.suspend(() => {
        const record = storefronts?.stores.json(id)
        return record === undefined ? refuse(unknownRecord("store", id)) : Effect.succeed(`{"data":${record}}`)
      })
  }),
  route(getStoreProducts, { expectedBytes: expectPage(600), read: readList(({ products }) => products) }),
  route(getStoreCollections, { expectedBytes: expectPage(400), read: readList(({ collections }) => collections) }),
  route(getProduct, {
    read: ({ id }, { model: { storefronts } }) =>
      Effect.flatMap(storefronts?.readProduct(id) ?? Effect.undefined, (record) =>
        record === undefined ? refuse(unknownRecord("product", id)) : Effect.succeed(`{"data":${record}}`)
      )
  })
]
