/** A shop over real HTTP on this machine, which misbehaves as a test requires, and reads of it with short waits. */
import type { ServerResponse } from "node:http"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Archive } from "@larder/pipelines/run/archive/archive.ts"
import { type LivePolicy, liveOrigin } from "@larder/pipelines/run/origins/live.ts"
import { Origin } from "@larder/pipelines/run/origins/origin.ts"
import type { Batch } from "@larder/pipelines/storefronts/decode/feed.ts"
import { feedKinds } from "@larder/pipelines/storefronts/feed-kinds.ts"
import {
  type StorePolicy,
  shopifyPool,
  storeLivePolicy,
  storePolicy
} from "@larder/pipelines/storefronts/source/crawl/policy.ts"
import { type KnownProducts, noKnownProducts } from "@larder/pipelines/storefronts/source/crawl/product-list.ts"
import type { StoreRead } from "@larder/pipelines/storefronts/source/crawl/store-read.ts"
import { withOperatorFiles } from "@larder/pipelines/storefronts/source/operator-files.ts"
import type { ListedStore } from "@larder/pipelines/storefronts/source/store-list.ts"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"
import { startUpstream, type Upstream } from "./upstream.ts"

export interface Shop {
  /** Ids of the products on each page; the pages after these are empty. */
  readonly pages: ReadonlyArray<ReadonlyArray<number>>
  readonly meta?: Readonly<Record<string, unknown>>
  /** Collections by handle, with the ids of their members on each page. */
  readonly collections?: Readonly<Record<string, ReadonlyArray<ReadonlyArray<number>>>>
  /** The number of members that each collection states; mostly more than it lists. */
  readonly products_count?: number
  readonly robots?: string
  /** The description of every product. */
  readonly body_html?: string
  /** Header fields of the pages of products. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Responds in place of the shop, or returns false. `n` counts the requests for this address from 1. */
export type Misbehaviour = (request: { path: string; page: number; n: number; response: ServerResponse }) => boolean

export const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)

const productOf =
  ({ body_html = "<p>Text</p>" }: Shop) =>
  (id: number) => ({
    id,
    title: `Product ${id}`,
    handle: `product-${id}`,
    body_html,
    published_at: "2026-06-06T18:11:05+05:30",
    created_at: "2026-06-06T18:11:05+05:30",
    updated_at: "2026-06-13T16:20:59+05:30",
    vendor: "Vendor",
    product_type: "",
    tags: [],
    variants: [{ id: id * 10, title: "Default Title", option1: "Default Title", price: "9.50", available: true }],
    images: [],
    options: []
  })

const wooProductOf = (id: number) => ({
  id,
  name: `Product ${id}`,
  slug: `product-${id}`,
  prices: { price: "950", regular_price: "950", currency_code: "EUR", currency_minor_unit: 2 }
})

const collectionsOf = (shop: Shop) =>
  Object.keys(shop.collections ?? {}).map((handle, index) => ({
    id: 900 + index,
    title: handle,
    handle,
    description: "",
    published_at: "2026-06-06T18:11:05Z",
    updated_at: "2026-06-06T18:11:05Z",
    image: null,
    products_count: shop.products_count ?? 77
  }))

/** The response of the shop; undefined if it has no such address. */
export const buildResponse = (shop: Shop, path: string, page: number): unknown => {
  const members = /^\/collections\/([^/]+)\/products\.json$/.exec(path)?.[1]
  if (path === "/robots.txt") return shop.robots
  if (path === "/password") return "<!DOCTYPE html><title>Opening soon</title>"
  if (path === "/meta.json") return shop.meta
  if (path === "/products.json") return { products: (shop.pages[page - 1] ?? []).map(productOf(shop)) }
  if (path === "/wp-json/wc/store/v1/products") return (shop.pages[page - 1] ?? []).map(wooProductOf)
  if (path === "/collections.json") return { collections: page === 1 ? collectionsOf(shop) : [] }
  if (members === undefined) return undefined
  return { products: (shop.collections?.[decodeURIComponent(members)]?.[page - 1] ?? []).map(productOf(shop)) }
}

export const startShop = (shop: Shop, misbehave: Misbehaviour = () => false) => {
  const requestCounts = new Map<string, number>()
  return startUpstream((response, _, { url }) => {
    const { pathname, searchParams } = new URL(url, "http://shop.test")
    const page = Number(searchParams.get("page") ?? 1)
    const n = (requestCounts.get(url) ?? 0) + 1
    requestCounts.set(url, n)
    if (misbehave({ path: pathname, page, n, response })) return
    const content = buildResponse(shop, pathname, page)
    if (content === undefined) return void response.writeHead(404).end()
    if (typeof content === "string") return void response.end(content)
    const isProductPage = /products(\.json)?$/.test(pathname)
    response.writeHead(200, { "content-type": "application/json", ...(isProductPage ? shop.headers : {}) })
    response.end(JSON.stringify(content))
  })
}

/** Without pauses between requests, and with pauses of milliseconds before retries. */
export const hasty: Partial<LivePolicy> = {
  ...storeLivePolicy,
  interval: 0,
  throttledInterval: 0,
  initialPause: "1 millis",
  maxPause: "4 millis",
  initialBackoff: "1 millis",
  maxBackoff: "2 millis",
  idleTimeout: "5 seconds",
  pools: { [shopifyPool]: 128 }
}
export const hastyStore: StorePolicy = { ...storePolicy, maxPageBytes: 1 << 20, maxRobotsBytes: 4096 }

export interface ReadOptions {
  readonly policy?: Partial<StorePolicy>
  readonly requests?: Partial<LivePolicy>
  readonly env?: Readonly<Record<string, string>>
}

/** The network, and an archive in a folder that is removed with the scope. */
export const network = ({ env = {}, requests = {} }: ReadOptions = {}) => {
  const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "larder-stores-" }))
  const archive = Effect.map(folder, (made) =>
    Archive.layer({ folder: made, run_id: "run-1", pipeline: "storefronts", days: null })
  )
  const live = Layer.effect(Origin, Effect.flatMap(Origin, withOperatorFiles)).pipe(
    Layer.provide(liveOrigin({ ...hasty, ...requests }))
  )
  const settings = ConfigProvider.layer(ConfigProvider.fromEnvRecord({ LARDER_PRIVATE_HOSTS: "127.0.0.1", ...env }))
  return Layer.mergeAll(Layer.unwrap(archive), live).pipe(
    Layer.provide(settings),
    Layer.provideMerge(NodeServices.layer)
  )
}

export interface Taken {
  readonly read: StoreRead
  readonly batches: ReadonlyArray<Batch>
  /** Distinct native ids of the products that were read. */
  readonly products: ReadonlyArray<string>
}

/** Reads a store once. */
export const readOnce = Effect.fnUntraced(function* (
  store: ListedStore,
  policy: Partial<StorePolicy> = {},
  known: KnownProducts<never, never> = noKnownProducts
) {
  const batches: Array<Batch> = []
  const take = (batch: Batch) => Effect.sync(() => void batches.push(batch))
  const read = yield* feedKinds[store.kind].read(store, take, { ...hastyStore, ...policy }, known)
  const products = [...new Set(batches.flatMap((batch) => batch.products.map(({ native_id }) => native_id)))]
  const taken: Taken = { read, batches, products }
  return taken
})

export const storeAt = ({ url }: Pick<Upstream, "url">, store: Partial<ListedStore> = {}): ListedStore => ({
  domain: "shop.example",
  name: "Shop",
  kind: "shopify",
  location: url,
  ...store
})

/** Starts a shop and reads it. Also returns the requests that it received. */
export const readShop = (
  shop: Shop,
  misbehave?: Misbehaviour,
  {
    known = [],
    path = "",
    store = {},
    ...options
  }: ReadOptions & {
    /** Ids of products that it listed before. */
    readonly known?: ReadonlyArray<number>
    readonly store?: Partial<ListedStore>
    /** The path of its location. */
    readonly path?: string
  } = {}
) =>
  Effect.gen(function* () {
    const upstream = yield* startShop(shop, misbehave)
    const knownIds = Effect.succeed(new Set(known.map(String)))
    const taken = yield* readOnce(storeAt({ url: upstream.url + path }, store), options.policy, knownIds)
    return { ...taken, requests: upstream.requests.map(({ url }) => url), load: upstream.load }
  }).pipe(Effect.provide(network(options)), Effect.scoped)
