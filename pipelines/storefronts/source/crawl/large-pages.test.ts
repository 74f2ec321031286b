import { assert, describe, it } from "@effect/vitest"
import { hastyStore, network, range, startShop, storeAt } from "@larder/test/support/pipelines/store-host.ts"
import { Effect, Semaphore } from "effect"
import { makeUnread } from "./outcome.ts"
import { PageMemory } from "./policy.ts"
import { noKnownProducts } from "./product-list.ts"
import { readWooCommerce } from "./woocommerce.ts"

describe("pages of many stores", () => {
  it.live("are in memory at most two at a time, until each is staged", () =>
    Effect.gen(function* () {
      const shops = yield* Effect.forEach(range(1, 4), () => startShop({ pages: [range(1, 100), range(101, 120)] }))
      let running = 0
      let maxRunning = 0
      const take = () =>
        Effect.gen(function* () {
          running += 1
          maxRunning = Math.max(maxRunning, running)
          yield* Effect.sleep("50 millis")
          running -= 1
        })
      const reads = yield* Effect.forEach(
        shops,
        (shop) => readWooCommerce(storeAt(shop, { kind: "woocommerce" }), take, hastyStore, noKnownProducts),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        reads.map(({ outcome, products_read }) => [outcome, products_read]),
        shops.map(() => ["complete", 120])
      )
      assert.strictEqual(maxRunning, 2)
    }).pipe(
      Effect.provideService(PageMemory, { maxMegabytes: 2, pages: Semaphore.makeUnsafe(2) }),
      Effect.provide(network()),
      Effect.scoped
    )
  )
})

describe("a store with more rows than allowed", () => {
  it.live("is partial, and is not read beyond the page that exceeds the limit", () =>
    Effect.gen(function* () {
      const shop = yield* startShop({ pages: [range(1, 100), range(101, 200), range(201, 300)] })
      let room = 2
      const take = () => (room-- > 0 ? Effect.void : Effect.fail(makeUnread("too_large", "its rows are too many")))
      const store = storeAt(shop, { kind: "woocommerce" })
      const { detail, fetch_status, outcome } = yield* readWooCommerce(store, take, hastyStore, noKnownProducts)
      assert.deepStrictEqual([fetch_status, outcome], ["partial", "broken_off"])
      assert.include(detail, "page 3: its rows are too many")
    }).pipe(Effect.provide(network()), Effect.scoped)
  )
})
