/**
 * The client of the API, for Node and browsers. It has no dependencies; its types are derived from the server's own
 * endpoints and records.
 *
 * ```ts
 * const larder = new Larder({ key, url: "https://api.example.com" })
 * const { data, cost } = await larder.getCommodityPrices({ series: ["butter-sales-price-weekly"] })
 * for await (const food of larder.searchBrandedFoods.all({ name: "bubble gum" })) console.log(food.description)
 * ```
 *
 * Every method makes a real call, which is charged if it succeeds. Errors are classes of `errors.ts`. The client does
 * not validate responses: the server's tests check them against the same schemas.
 */
import { type CallOptions, Connection, checkText, type LarderOptions, type Query, type Reply } from "./connection.ts"
import type { CallCost } from "./cost.ts"
import { type Page, type Paged, paged, pageQuery } from "./paging.ts"
import type {
  BodyOf,
  BrandedFood,
  BrandedFoodCategory,
  BrandedFoodId,
  CommodityGroup,
  CommodityMetricValues,
  CommodityPrices,
  CommodityProduct,
  OperationId,
  ProductId,
  QueryOf,
  Store,
  StoreCollection,
  StoreId,
  StoreProduct,
  StoreProductDetail
} from "./records.ts"

/**
 * The path of each endpoint. Importing the list of endpoints would bring the server's schemas into the browser. So the
 * names are repeated here, where the compiler checks them; a test checks the paths and page sizes.
 */
export const paths = {
  searchCommodities: "/v1/commodities",
  getCommodityPrices: "/v1/commodities/prices",
  getCommodityMetricValues: "/v1/commodities/metric-values",
  searchBrandedFoods: "/v1/branded-foods",
  getBrandedFoodCategories: "/v1/branded-foods/categories",
  getBrandedFood: "/v1/branded-foods/:id",
  searchStores: "/v1/stores",
  getStore: "/v1/stores/:id",
  getStoreProducts: "/v1/stores/:id/products",
  getStoreCollections: "/v1/stores/:id/collections",
  getProduct: "/v1/products/:id"
} as const satisfies Readonly<Record<OperationId, `/v1/${string}`>>

/** The maximum number of rows of a page. A page costs the same at any size, so loops over all pages use these. */
export const largestPages = {
  searchCommodities: 500,
  searchBrandedFoods: 200,
  searchStores: 200,
  getStoreProducts: 200,
  getStoreCollections: 200
} as const satisfies Readonly<Partial<Record<OperationId, number>>>

/** One record and the cost of the call. */
export interface RecordResult<Row> {
  readonly data: Row
  readonly cost: CallCost
}
export interface ListResult<Row> {
  readonly data: ReadonlyArray<Row>
  readonly cost: CallCost
}

/** The catalog has two shapes at one address; each has its own method. */
type GroupedQuery = Pick<QueryOf<"searchCommodities">, "commodity">
type ProductsQuery = Omit<QueryOf<"searchCommodities">, "commodity">

/** Every endpoint has a method of the same name that returns the endpoint's response. The compiler enforces it. */
type Methods = { readonly [Id in OperationId]: (...args: never) => Promise<BodyOf<Id>> }

const insertId = (path: string, id: string) => path.replace(":id", () => encodeURIComponent(checkText("id", id)))

export class Larder implements Methods {
  readonly #connection: Connection

  /** Throws a TypeError if the options are invalid. Makes no call. */
  constructor(options: LarderOptions) {
    this.#connection = new Connection(options)
  }

  /** Cost and metadata of the last response, including errors. For concurrent calls, use `cost` of each result. */
  get lastCall(): CallCost | undefined {
    return this.#connection.lastCall
  }

  /** The curated series, grouped by commodity. */
  async searchCommodities(query: GroupedQuery = {}, options?: CallOptions): Promise<ListResult<CommodityGroup>> {
    // sent even when empty: on the data host, a call without parameters has the other shape
    return this.#call(paths.searchCommodities, { ...query, commodity: query.commodity ?? "" }, options)
  }

  /** The products of the full catalog, each with all its metrics. */
  readonly searchCommodityProducts: Paged<[query?: ProductsQuery, options?: CallOptions], CommodityProduct> = paged(
    largestPages.searchCommodities,
    ([query = {}, options], state) =>
      // sent even when empty: this parameter selects the shape
      this.#call(paths.searchCommodities, { ...pageQuery(query, state), category: query.category ?? "" }, options)
  )

  /** Readings of 1 to 100 series, in the requested order. A call costs the same for 100 as for one. */
  async getCommodityPrices(
    query: QueryOf<"getCommodityPrices">,
    options?: CallOptions
  ): Promise<ListResult<CommodityPrices>> {
    return this.#call(paths.getCommodityPrices, query, options)
  }

  /** Readings of 1 to 100 metrics, in the requested order. A call costs the same for 100 as for one. */
  async getCommodityMetricValues(
    query: QueryOf<"getCommodityMetricValues">,
    options?: CallOptions
  ): Promise<ListResult<CommodityMetricValues>> {
    return this.#call(paths.getCommodityMetricValues, query, options)
  }

  /** Current labels that match every given filter. */
  readonly searchBrandedFoods: Paged<[query?: QueryOf<"searchBrandedFoods">, options?: CallOptions], BrandedFood> =
    paged(largestPages.searchBrandedFoods, ([query = {}, options], state) =>
      this.#call(paths.searchBrandedFoods, pageQuery(query, state), options)
    )

  async getBrandedFoodCategories(options?: CallOptions): Promise<ListResult<BrandedFoodCategory>> {
    return this.#call(paths.getBrandedFoodCategories, {}, options)
  }

  /** One label version, even if a later version has replaced it. */
  async getBrandedFood(id: BrandedFoodId, options?: CallOptions): Promise<RecordResult<BrandedFood>> {
    return this.#call(insertId(paths.getBrandedFood, id), {}, options)
  }

  readonly searchStores: Paged<[query?: QueryOf<"searchStores">, options?: CallOptions], Store> = paged(
    largestPages.searchStores,
    ([query = {}, options], state) => this.#call(paths.searchStores, pageQuery(query, state), options)
  )

  async getStore(id: StoreId, options?: CallOptions): Promise<RecordResult<Store>> {
    return this.#call(insertId(paths.getStore, id), {}, options)
  }

  /** The store's products, the newest first. */
  readonly getStoreProducts: Paged<
    [id: StoreId, query?: QueryOf<"getStoreProducts">, options?: CallOptions],
    StoreProduct
  > = paged(largestPages.getStoreProducts, ([id, query = {}, options], state) =>
    this.#call(insertId(paths.getStoreProducts, id), pageQuery(query, state), options)
  )

  /** The store's collections, the newest first. */
  readonly getStoreCollections: Paged<
    [id: StoreId, query?: QueryOf<"getStoreCollections">, options?: CallOptions],
    StoreCollection
  > = paged(largestPages.getStoreCollections, ([id, query = {}, options], state) =>
    this.#call(insertId(paths.getStoreCollections, id), pageQuery(query, state), options)
  )

  /** One product with its images and its variants. */
  async getProduct(id: ProductId, options?: CallOptions): Promise<RecordResult<StoreProductDetail>> {
    return this.#call(insertId(paths.getProduct, id), {}, options)
  }

  /** The cast is safe because the body of a 200 has the shape that the endpoint declares; see above. */
  async #call<A extends RecordResult<unknown> | Page<unknown>>(
    path: string,
    query: Query,
    options: CallOptions | undefined
  ): Promise<A> {
    const { body, cost }: Reply = await this.#connection.call(path, query, options)
    return { ...body, cost } as A
  }
}
