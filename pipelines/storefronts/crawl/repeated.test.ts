import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"
import { Archive } from "../../run/archive.ts"
import { archivedRuns, repeated } from "../../run/archived-runs.ts"
import { liveOrigin } from "../../run/live-origin.ts"
import {
  hasty,
  type Misbehaviour,
  range,
  readOnce,
  type Shop,
  startShop,
  storeAt,
  type Taken
} from "./store-host-for-tests.ts"

const settings = ConfigProvider.layer(ConfigProvider.fromEnvRecord({ LARDER_PRIVATE_HOSTS: "127.0.0.1" }))
const whatCame = ({ products, read }: Taken) => ({
  products,
  fetch_status: read.fetch_status,
  outcome: read.outcome,
  currency: read.currency,
  collections_read: read.collections_read
})

/** Reads a shop over the network, then once more from what the archive kept of that. */
const readTwice = (shop: Shop, misbehave?: Misbehaviour) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-repeated-" })
    const upstream = yield* startShop(shop, misbehave)
    const store = storeAt(upstream)
    const archive = Archive.layer({ folder, run_id: "run-1", pipeline: "storefronts", days: null })
    const live = Layer.provide(liveOrigin(hasty), settings)
    const first = yield* Effect.gen(function* () {
      const taken = yield* readOnce(store)
      yield* Archive.use((kept) => kept.published("generation-1"))
      return taken
    }).pipe(Effect.provide([archive, live]))
    yield* upstream.close
    const [run] = yield* archivedRuns(folder, "storefronts")
    assert.isDefined(run)
    const again = yield* readOnce(store).pipe(Effect.provide(repeated(folder, run)))
    assert.deepStrictEqual(whatCame(again), whatCame(first))
    return first
  }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)

const on =
  (which: number, answer: (response: Parameters<Misbehaviour>[0]["response"], n: number) => boolean): Misbehaviour =>
  ({ n, page, path, response }) =>
    path === "/products.json" && page === which && answer(response, n)

describe("a read that is repeated from the archive gives the same", () => {
  it.live("for a store that was read whole, in the currency that was served", () =>
    Effect.gen(function* () {
      const pages = [range(1, 250), [], range(251, 262)]
      const headers = { "set-cookie": "cart_currency=NOK" }
      const { read } = yield* readTwice({ pages, collections: { all: [[1, 2]] }, headers })
      assert.deepStrictEqual([read.outcome, read.currency], ["complete", "NOK"])
    })
  )

  it.live("for a store that answered with a page at first", () =>
    Effect.gen(function* () {
      const { read } = yield* readTwice(
        { pages: [[1]] },
        on(1, (response, n) => n === 1 && response.end("<html></html>") !== undefined)
      )
      assert.strictEqual(read.outcome, "complete")
    })
  )

  it.live("for a read that broke off", () =>
    Effect.gen(function* () {
      const refuse = on(2, (response) => response.writeHead(403).end() !== undefined)
      const { read } = yield* readTwice({ pages: [range(1, 250), [251]] }, refuse)
      assert.strictEqual(read.outcome, "broken_off")
    })
  )

  it.live("for a store that has more than can be paged through", () =>
    Effect.gen(function* () {
      const pages = Array.from({ length: 101 }, (_, n) => range(n * 250 + 1, (n + 1) * 250))
      const errors = "Page * Limit exceeds the 25000 limit."
      const refuse = on(101, (response) => response.writeHead(400).end(JSON.stringify({ errors })) !== undefined)
      const { read } = yield* readTwice({ pages }, refuse)
      assert.deepStrictEqual([read.outcome, read.products_read], ["window", 25_000])
    })
  )
})
