import { assert, describe, it } from "@effect/vitest"
import { ShopifyStoreSlots } from "@larder/pipelines"
import { Effect, Semaphore } from "effect"
import { expectManyReads } from "../support/pipelines/many-stores.ts"
import { network, range, readOnce, startShop, storeAt } from "../support/pipelines/store-host.ts"

describe("100 stores", () => {
  // test/long reads a thousand
  it.live("are read side by side, each one request at a time, in memory that does not grow with them", () =>
    expectManyReads(100, 32)
  )
})

describe("the limit of Shopify stores", () => {
  it.live("lets two stores be read at once, even if the caller asks for six", () =>
    Effect.gen(function* () {
      const load = { now: 0, most: 0 }
      const shops = yield* Effect.forEach(range(1, 6), () =>
        startShop({ pages: [[1]] }, ({ response }) => {
          load.now += 1
          load.most = Math.max(load.most, load.now)
          response.on("close", () => {
            load.now -= 1
          })
          return false
        })
      )
      const all = yield* Effect.forEach(shops, (shop) => readOnce(storeAt(shop)), { concurrency: 6 })
      assert.deepStrictEqual([...new Set(all.map(({ read }) => read.outcome))], ["complete"])
      assert.isAtMost(load.most, 2)
    }).pipe(Effect.provideService(ShopifyStoreSlots, Semaphore.makeUnsafe(2)), Effect.provide(network()), Effect.scoped)
  )
})
