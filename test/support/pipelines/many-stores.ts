/** Reads many stores on this machine concurrently. Tests choose their number. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { assert } from "@effect/vitest"
import { ShopifyStoreSlots } from "@larder/pipelines/storefronts/source/crawl/policy.ts"
import { Effect, Semaphore } from "effect"
import { network, range, readOnce, startShop, storeAt } from "./store-host.ts"

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")
const heap = Effect.sync(() => {
  collectGarbage()
  return process.memoryUsage().heapUsed
})
/** The lowest of several measurements: on a slow disk, the last files of the archive may still be in memory. */
const settledHeap = Effect.map(
  Effect.forEach(range(1, 4), () => Effect.delay(heap, "250 millis")),
  (measurements) => Math.min(...measurements)
)

/**
 * Maximum bytes per store that remain in memory after its read: about 4 kB of pools and connections, and with 50 stores
 * 2 MB of a program that is still warming up. The products of a store need nearly twice as much.
 */
const maxBytesPerStore = 60_000
const body_html = `<p>${"A text. ".repeat(600)}</p>`

/** Reads `stores` stores, `concurrency` at a time. Memory must not grow from the first half to the second. */
export const expectManyReads = (stores: number, concurrency: number) =>
  Effect.gen(function* () {
    const shops = yield* Effect.forEach(
      range(1, stores),
      (n) => startShop({ pages: [range(1, 20 + (n % 5))], body_html }),
      { concurrency: 50 }
    )
    let running = 0
    let maxRunning = 0
    const heapSizes: Array<number> = []
    const read = (shop: (typeof shops)[number]) =>
      Effect.gen(function* () {
        running += 1
        maxRunning = Math.max(maxRunning, running)
        const { read } = yield* readOnce(storeAt(shop))
        running -= 1
        return read
      })
    const all = []
    for (const part of [shops.slice(0, stores / 2), shops.slice(stores / 2)]) {
      all.push(...(yield* Effect.forEach(part, read, { concurrency })))
      heapSizes.push(yield* settledHeap)
    }
    assert.deepStrictEqual([...new Set(all.map(({ outcome }) => outcome))], ["complete"])
    assert.strictEqual(
      all.reduce((sum, { products_read }) => sum + products_read, 0),
      (stores / 5) * (20 + 21 + 22 + 23 + 24)
    )
    assert.strictEqual(maxRunning, concurrency)
    assert.strictEqual(Math.max(...shops.map(({ load }) => load.max)), 1)
    const [half = 0, whole = 0] = heapSizes
    assert.isBelow(whole - half, (stores / 2) * maxBytesPerStore)
  }).pipe(
    Effect.provideService(ShopifyStoreSlots, Semaphore.makeUnsafe(concurrency)),
    Effect.provide(network()),
    Effect.scoped
  )
