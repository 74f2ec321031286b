import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { assert, describe, it } from "@effect/vitest"
import { network, range, readOnce, startShop, storeAt } from "@larder/test/support/pipelines/store-host.ts"
import { Effect, Semaphore } from "effect"
import { ShopifyStores } from "./policy.ts"

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")
const heap = Effect.sync(() => {
  collectGarbage()
  return process.memoryUsage().heapUsed
})
/** What stays: on a slow disk the last files of the archive are still on their way to it. */
const settledHeap = Effect.map(
  Effect.forEach(range(1, 10), () => Effect.delay(heap, "100 millis")),
  (looks) => Math.min(...looks)
)

const stores = 1000
const atOnce = 128
/** What remains of a store after its read may be this much: lanes, connections. Its products have more than twice as much. */
const perStore = 20_000
const body_html = `<p>${"A text. ".repeat(300)}</p>`

describe("a thousand stores", () => {
  it.live(
    "are read side by side, each one request at a time, in memory that does not grow with them",
    () =>
      Effect.gen(function* () {
        const shops = yield* Effect.forEach(
          range(1, stores),
          (n) => startShop({ pages: [range(1, 20 + (n % 5))], body_html }),
          {
            concurrency: 50
          }
        )
        let together = 0
        let most = 0
        const after: Array<number> = []
        const read = (shop: (typeof shops)[number]) =>
          Effect.gen(function* () {
            together += 1
            most = Math.max(most, together)
            const { read } = yield* readOnce(storeAt(shop))
            together -= 1
            return read
          })
        const all = []
        for (const part of [shops.slice(0, 500), shops.slice(500)]) {
          all.push(...(yield* Effect.forEach(part, read, { concurrency: atOnce })))
          after.push(yield* settledHeap)
        }
        assert.deepStrictEqual([...new Set(all.map(({ outcome }) => outcome))], ["complete"])
        assert.strictEqual(
          all.reduce((sum, { products_read }) => sum + products_read, 0),
          (stores / 5) * (20 + 21 + 22 + 23 + 24)
        )
        assert.strictEqual(most, atOnce)
        assert.strictEqual(Math.max(...shops.map(({ load }) => load.most)), 1)
        const [half = 0, whole = 0] = after
        assert.isBelow(whole - half, (stores / 2) * perStore)
      }).pipe(
        Effect.provideService(ShopifyStores, Semaphore.makeUnsafe(atOnce)),
        Effect.provide(network()),
        Effect.scoped
      ),
    240_000
  )
})

describe("stores of Shopify", () => {
  it.live("are read so many at once, whatever the caller asks for", () =>
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
    }).pipe(Effect.provideService(ShopifyStores, Semaphore.makeUnsafe(2)), Effect.provide(network()), Effect.scoped)
  )
})
