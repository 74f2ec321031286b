import { assert, describe, it } from "@effect/vitest"
import { ShopifyStoreSlots } from "@larder/pipelines/storefronts/source/crawl/policy.ts"
import { Effect, Semaphore } from "effect"
import { expectManyReads } from "../support/pipelines/many-stores.ts"
import { network, range, readOnce, startShop, storeAt } from "../support/pipelines/store-host.ts"

describe("100 stores", () => {
  // test/long reads a thousand
  it.live("are read concurrently, with one request at a time for each, in constant memory", () =>
    expectManyReads(100, 32)
  )
})

describe("the limit of Shopify stores", () => {
  it.live("reads at most two stores at once, even if the caller requests six", () =>
    Effect.gen(function* () {
      const load = { current: 0, max: 0 }
      const shops = yield* Effect.forEach(range(1, 6), () =>
        startShop({ pages: [[1]] }, ({ response }) => {
          load.current += 1
          load.max = Math.max(load.max, load.current)
          response.on("close", () => {
            load.current -= 1
          })
          return false
        })
      )
      const all = yield* Effect.forEach(shops, (shop) => readOnce(storeAt(shop)), { concurrency: 6 })
      assert.deepStrictEqual([...new Set(all.map(({ read }) => read.outcome))], ["complete"])
      assert.isAtMost(load.max, 2)
    }).pipe(Effect.provideService(ShopifyStoreSlots, Semaphore.makeUnsafe(2)), Effect.provide(network()), Effect.scoped)
  )
})
