/** Many stores on this machine, read side by side: how long that takes is its size, which tests choose. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { assert } from "@effect/vitest"
import { ShopifyStoreSlots } from "@larder/pipelines"
import { Effect, Semaphore } from "effect"
import { network, range, readOnce, startShop, storeAt } from "./store-host.ts"

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")
const heap = Effect.sync(() => {
  collectGarbage()
  return process.memoryUsage().heapUsed
})
/** What stays: on a slow disk the last files of the archive are still on their way to it. */
const settledHeap = Effect.map(
  Effect.forEach(range(1, 4), () => Effect.delay(heap, "250 millis")),
  (looks) => Math.min(...looks)
)

/**
 * What remains of a store after its read may be this much: some 4 kB of lanes and connections, and with 50 stores the 2 MB of
 * a program that still warms up. The products of a store have nearly twice as much.
 */
const perStore = 60_000
const body_html = `<p>${"A text. ".repeat(600)}</p>`

/** Reads so many stores, so many at once, and expects no more memory after the second half of them than after the first. */
export const expectManyReads = (stores: number, atOnce: number) =>
  Effect.gen(function* () {
    const shops = yield* Effect.forEach(
      range(1, stores),
      (n) => startShop({ pages: [range(1, 20 + (n % 5))], body_html }),
      { concurrency: 50 }
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
    for (const part of [shops.slice(0, stores / 2), shops.slice(stores / 2)]) {
      all.push(...(yield* Effect.forEach(part, read, { concurrency: atOnce })))
      after.push(yield* settledHeap)
    }
    assert.deepStrictEqual([...new Set(all.map(({ outcome }) => outcome))], ["complete"])
    assert.strictEqual(
      all.reduce((sum, { products_read }) => sum + products_read, 0),
      (stores / 5) * (20 + 21 + 22 + 23 + 24)
    )
    assert.strictEqual(most, atOnce)
    assert.strictEqual(Math.max(...shops.map(({ load }) => load.max)), 1)
    const [half = 0, whole = 0] = after
    assert.isBelow(whole - half, (stores / 2) * perStore)
  }).pipe(
    Effect.provideService(ShopifyStoreSlots, Semaphore.makeUnsafe(atOnce)),
    Effect.provide(network()),
    Effect.scoped
  )
