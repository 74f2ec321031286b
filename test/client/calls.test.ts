/** The TypeScript client against a real server: every endpoint, pages, errors, and what calls cost. */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { type DataSetTag, dataSets, endpoints } from "@larder/schemas"
import type { CallCost } from "@larder/schemas/client/cost.ts"
import { LarderError } from "@larder/schemas/client/errors.ts"
import { Larder } from "@larder/schemas/client/larder.ts"
import type { StoreId } from "@larder/schemas/client/records.ts"
import { generationId } from "@larder/warehouse"
import { beforeAll, describe, expect, it } from "vitest"
import { createKey, listEntries } from "../support/api/operator.ts"
import { fetchPages } from "../support/api/pages.ts"
import { useSharedServer } from "../support/api/server.ts"
import { recordCalls } from "./record-calls.ts"

const api = useSharedServer()
const recorded = recordCalls(api)

let larder: Larder
let store: StoreId
beforeAll(async () => {
  larder = new Larder({ key: api.key().key, url: api.server().api })
  const stores = await larder.searchStores({ query: "bakery" })
  store = stores.data[0]?.id ?? "platform_store_"
})

/** The targets of the calls that `work` makes. */
const listCalls = async (work: () => Promise<unknown>) => {
  const before = recorded.length
  await work()
  return recorded.slice(before).map(({ target }) => target)
}
const collectRows = async <A>(rows: AsyncIterable<A>) => {
  const collected: Array<A> = []
  for await (const row of rows) collected.push(row)
  return collected
}
/** Makes the same call without the client. */
const getPlain = async (target: string) => (await api.get(target)).json

describe("every endpoint", () => {
  const calls: ReadonlyArray<readonly [string, () => Promise<{ readonly cost: CallCost }>, () => string]> = [
    ["searchCommodities", () => larder.searchCommodities({ commodity: "milk" }), () => "commodities?commodity=milk"],
    ["searchCommodities", () => larder.searchCommodities(), () => "commodities?commodity="],
    [
      "searchCommodities",
      () => larder.searchCommodityProducts({ category: "dairy", limit: 2 }),
      () => "commodities?category=dairy&limit=2"
    ],
    ["searchCommodities", () => larder.searchCommodityProducts(), () => "commodities?category="],
    [
      "getCommodityPrices",
      () => larder.getCommodityPrices({ series: ["butter-sales-price-weekly", "milk-class-i-price-monthly"] }),
      () => "commodities/prices?series=butter-sales-price-weekly,milk-class-i-price-monthly"
    ],
    [
      "getCommodityMetricValues",
      () => larder.getCommodityMetricValues({ metrics: ["butter_sales_price_weekly"], from: "2026-01-01" }),
      () => "commodities/metric-values?metrics=butter_sales_price_weekly&from=2026-01-01"
    ],
    [
      "searchBrandedFoods",
      () => larder.searchBrandedFoods({ name: "crème & 100%", brand: "", limit: 3 }),
      () => "branded-foods?name=cr%C3%A8me+%26+100%25&limit=3"
    ],
    ["getBrandedFoodCategories", () => larder.getBrandedFoodCategories(), () => "branded-foods/categories"],
    ["searchStores", () => larder.searchStores({ country: "US" }), () => "stores?country=US"],
    ["getStore", () => larder.getStore(store), () => `stores/${store}`],
    ["getStoreProducts", () => larder.getStoreProducts(store, { limit: 2 }), () => `stores/${store}/products?limit=2`],
    ["getStoreCollections", () => larder.getStoreCollections(store), () => `stores/${store}/collections`]
  ]
  /** The samples of the data sets are published one after the other. */
  const findGeneration = (tag: DataSetTag) => generationId(dataSets.findIndex((dataSet) => dataSet.tag === tag) + 1)
  it.each(calls)("%s returns the API's response and its cost: %#", async (id, call, target) => {
    const { cost, ...body } = await call()
    const endpoint = endpoints.find((endpoint) => endpoint.id === id)
    expect(body).toEqual(await getPlain(`/v1/${target()}`))
    expect(cost).toEqual({
      status: 200,
      requestId: expect.stringMatching(/^req_/),
      creditsCharged: endpoint?.credits,
      creditsRemaining: expect.any(Number),
      dataVersion: endpoint && findGeneration(endpoint.tag),
      dataOrigin: "sample",
      errorCode: undefined,
      attempts: 1
    })
  })
  it("reads a food and a product by ids of other results", async () => {
    const [food] = (await larder.searchBrandedFoods({ limit: 1 })).data
    const [product] = (await larder.getStoreProducts(store, { limit: 1 })).data
    if (food === undefined || product === undefined) throw new Error("the samples contain no foods or products")
    expect((await larder.getBrandedFood(food.id)).data).toEqual(food)
    const { data } = await larder.getProduct(product.id)
    expect(data).toMatchObject(product)
    expect(data.store_id).toBe(store)
  })
})

describe("pages", () => {
  it("return the rows of all pages, each once, in a loop to the end", async () => {
    const plainPages = await fetchPages((target) => api.get(target), "/v1/branded-foods?category=cheese&limit=20")
    expect(plainPages.length).toBeGreaterThan(2)
    expect(await collectRows(larder.searchBrandedFoods.all({ category: "cheese", limit: 20 }))).toEqual(
      plainPages.flat()
    )
  })
  it("can also be read as whole pages, each with its cost", async () => {
    const pages = await collectRows(larder.getStoreProducts.pages(store, { limit: 30 }))
    expect(pages.map(({ data }) => data)).toEqual(
      await fetchPages((target) => api.get(target), `/v1/stores/${store}/products?limit=30`)
    )
    expect(pages.map(({ cost }) => cost.creditsCharged)).toEqual(pages.map(() => 100))
  })
  it("request the largest pages in a loop, which saves calls", async () => {
    const loops = () =>
      Promise.all([
        collectRows(larder.searchCommodityProducts.all()),
        collectRows(larder.searchStores.all({ query: "bakery" })),
        collectRows(larder.getStoreCollections.all(store))
      ])
    expect((await listCalls(loops)).toSorted()).toEqual([
      "/v1/commodities?limit=500&category=",
      `/v1/stores/${store}/collections?limit=200`,
      "/v1/stores?query=bakery&limit=200"
    ])
  })
  it("are requested only when a row is needed, and no longer after the loop ends", async () => {
    const firstThree = async () => {
      const names: Array<string> = []
      for await (const { description } of larder.searchBrandedFoods.all({ limit: 2 })) {
        if (names.push(description) === 3) break
      }
    }
    expect(await listCalls(async () => larder.searchBrandedFoods.all())).toEqual([])
    expect(await listCalls(firstThree)).toHaveLength(2)
  })
  it("continue from a stored cursor", async () => {
    const first = await larder.searchBrandedFoods({ category: "cheese", limit: 20 })
    const allRows = await collectRows(larder.searchBrandedFoods.all({ category: "cheese" }))
    const rest = await collectRows(
      larder.searchBrandedFoods.all({ category: "cheese", cursor: first.next_cursor ?? undefined })
    )
    expect([...first.data, ...rest]).toEqual(allRows)
  })
})

describe("a call that is refused", () => {
  const catchError = async (call: Promise<unknown>) => {
    const error = await call.then(
      () => undefined,
      (error: unknown) => error
    )
    if (!(error instanceof LarderError)) throw new Error("the call should have failed", { cause: error })
    return error
  }
  const withKey = (key: string) => new Larder({ key, url: api.server().api })

  it("fails with InvalidRequest for a limit of 201, and charges nothing", async () => {
    const error = await catchError(larder.searchBrandedFoods({ limit: 201 }))
    expect([error.name, error.status, error.message]).toEqual(["InvalidRequest", 400, "at most 200 per page"])
    expect(error.cost).toMatchObject({ creditsCharged: 0, attempts: 1, requestId: error.requestId })
    expect(larder.lastCall).toEqual(error.cost)
  })
  it("fails for a parameter of the paged catalog, which the types forbid", async () => {
    const query: object = { category: "dairy" }
    const error = await catchError(larder.searchCommodities(query))
    expect(error.message).toBe("commodity cannot be combined with category, limit or cursor")
  })
  it("fails with the API's message for an unknown series", async () => {
    const error = await catchError(larder.getCommodityPrices({ series: ["butter"] }))
    expect(error.message).toBe("Unknown series: butter")
  })
  it("fails with Unauthorized for an unknown key, and reports no credits", async () => {
    const error = await catchError(withKey(`svc_data_${"x".repeat(64)}`).getBrandedFoodCategories())
    expect([error.name, error.message]).toEqual(["Unauthorized", "Unknown or revoked API key"])
    expect(error.cost).toMatchObject({ status: 401, creditsCharged: undefined, creditsRemaining: undefined })
  })
  it("fails with InsufficientBalance for a budget that does not cover the call", async () => {
    const lowBudget = await createKey(api.home(), { budget: 5 })
    const error = await catchError(withKey(lowBudget.key).getBrandedFoodCategories())
    expect([error.name, error.message]).toEqual(["InsufficientBalance", "Monthly spend cap reached"])
  })
  it("fails with Forbidden for a key without the scope", async () => {
    const narrowKey = await createKey(api.home(), { scopes: ["search-stores"] })
    const error = await catchError(withKey(narrowKey.key).getStore(store))
    expect([error.name, error.message]).toEqual(["Forbidden", "This key is not scoped to get-store"])
  })
  it("fails with NotFound for an unknown id, even with /, ?, % and # in it", async () => {
    const error = await catchError(larder.getStore("platform_store_a/b?c=%2F#d"))
    expect([error.name, error.message]).toEqual(["NotFound", "Unknown store: platform_store_a/b?c=%2F#d"])
  })
  it("fails with the API's message for a wrong address", async () => {
    const misdirected = new Larder({ key: api.key().key, url: `${api.server().api}/api/` })
    expect((await catchError(misdirected.searchStores())).message).toBe("No such endpoint")
  })
  it("ends a loop over pages", async () => {
    const error = await catchError(collectRows(larder.getStoreProducts.all("platform_store_none")))
    expect(error.name).toBe("NotFound")
  })
})

describe("the cost of the last call", () => {
  it("is available from the client, and the remaining credits decrease by the charge", async () => {
    const newClient = new Larder({ key: (await createKey(api.home())).key, url: `${api.server().api}/` })
    expect(newClient.lastCall).toBeUndefined()
    await newClient.getBrandedFoodCategories()
    expect(newClient.lastCall).toMatchObject({ creditsCharged: 10, creditsRemaining: 4990 })
    const { cost } = await newClient.searchStores()
    expect(cost).toMatchObject({ creditsCharged: 100, creditsRemaining: 4890 })
    expect(newClient.lastCall).toEqual(cost)
  })
  it("belongs to each result when calls run at the same time", async () => {
    const results = await Promise.all([
      larder.searchStores(),
      larder.getBrandedFoodCategories(),
      larder.getStore(store)
    ])
    expect(results.map(({ cost }) => cost.creditsCharged)).toEqual([100, 10, 100])
    expect(new Set(results.map(({ cost }) => cost.requestId)).size).toBe(3)
  })
})

describe("a signal", () => {
  const reason = new Error("the user left the page")

  it("prevents the call if it has already fired", async () => {
    const signal = AbortSignal.abort(reason)
    const calls = async () => {
      await expect(larder.searchStores({}, { signal })).rejects.toBe(reason)
      await expect(collectRows(larder.searchStores.all({}, { signal }))).rejects.toBe(reason)
    }
    expect(await listCalls(calls)).toEqual([])
  })
  it("ends a call in flight with its reason and disconnects, and the call costs nothing", async () => {
    const { account_id, key } = await createKey(api.home())
    const controller = new AbortController()
    /** Passes on all bytes of the call except the last one: it is incomplete at the API when the signal fires. */
    const proxy = createServer((caller: Socket) => {
      const upstream = connect(Number(new URL(api.server().api).port), "127.0.0.1")
      caller.once("data", (bytes) => upstream.write(bytes.subarray(0, -1), () => controller.abort(reason)))
      caller.once("close", () => upstream.end())
      upstream.once("close", () => proxy.close())
    }).listen(0, "127.0.0.1")
    await once(proxy, "listening")
    const address = proxy.address()
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`
    const call = new Larder({ key, url }).searchStores({}, { signal: controller.signal })
    await expect(call).rejects.toBe(reason)
    await once(proxy, "close") // both the caller and the API have disconnected
    const entries = await listEntries(api.home(), account_id)
    expect(entries.map(({ type }) => type)).not.toContain("charge")
  })
})
