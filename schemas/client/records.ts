/**
 * The parameter and result types of the client's methods, derived from the server's endpoints and records. Every import
 * is a type import, so that no server code reaches a browser.
 */
import type * as foodRecords from "../branded-food/records.ts"
import type * as commodityRecords from "../commodity/records.ts"
import type { Declared } from "../data-sets.ts"
import type { Endpoint } from "../endpoint.ts"
import type { IdKind, idPrefixes } from "../ids.ts"
import type { Values } from "../parameters.ts"
import type * as storeRecords from "../storefront/records.ts"

/** The names of all endpoints: `getStore` is declared as `export const getStore = endpoint(…)`. */
export type OperationId = {
  [Name in keyof Declared]: Declared[Name] extends Endpoint ? Name : never
}[keyof Declared]

type ValuesOf<Id extends OperationId> = Values<Declared[Id]["parameters"]>
/** Lists of names are required; all other parameters are optional. */
type RequiredOf<V> = { [Name in keyof V]: V[Name] extends ReadonlyArray<string> ? Name : never }[keyof V]

/** The body of an endpoint's 200. */
export type BodyOf<Id extends OperationId> = Declared[Id]["response"]["Type"]

/** Flattens an intersection into one object type, as editors should show it. */
type Flat<A> = { [Name in keyof A]: A[Name] }

/** The query of an endpoint. Undefined equals absent. */
export type QueryOf<Id extends OperationId> = Flat<
  { readonly [Name in RequiredOf<ValuesOf<Id>>]: ValuesOf<Id>[Name] } & {
    readonly [Name in Exclude<keyof ValuesOf<Id>, RequiredOf<ValuesOf<Id>>>]?: ValuesOf<Id>[Name] | undefined
  }
>

type IdOf<Kind extends IdKind> = `${(typeof idPrefixes)[Kind]}${string}`
export type BrandedFoodId = IdOf<"brandedFood">
export type StoreId = IdOf<"store">
export type ProductId = IdOf<"product">
export type CollectionId = IdOf<"collection">
export type VariantId = IdOf<"variant">

/** The record with its ids typed by kind, so that a product's id is not accepted as a store's. */
type Identified<Row, Ids> = Omit<Row, keyof Ids> & Readonly<Ids>

export type CommodityGroup = typeof commodityRecords.SeriesGroup.Type
export type CommodityProduct = typeof commodityRecords.CommodityProduct.Type
/** JavaScript's numbers drop trailing zeros: a published `1.6140` is 1.614 here. The JSON text has all digits. */
export type CommodityPrices = typeof commodityRecords.PriceResult.Type
/** JavaScript's numbers drop trailing zeros: a published `1.6140` is 1.614 here. The JSON text has all digits. */
export type CommodityMetricValues = typeof commodityRecords.MetricValues.Type
export type BrandedFood = Identified<typeof foodRecords.BrandedFood.Type, { id: BrandedFoodId }>
export type BrandedFoodCategory = typeof foodRecords.FoodCategory.Type
export type Store = Identified<typeof storeRecords.Store.Type, { id: StoreId }>
export type StoreProduct = Identified<typeof storeRecords.ProductSummary.Type, { id: ProductId }>
export type StoreCollection = Identified<typeof storeRecords.Collection.Type, { id: CollectionId }>
export type StoreVariant = Identified<typeof storeRecords.Variant.Type, { id: VariantId }>
export type StoreProductDetail = Identified<
  typeof storeRecords.ProductDetail.Type,
  { id: ProductId; store_id: StoreId; variants: ReadonlyArray<StoreVariant> }
>
