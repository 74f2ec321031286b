/**
 * Faults of storefronts in live runs, one of each kind: in the first run no store has a fault, in the second each store
 * has one, and in the third none has one. `feed-faults.test.ts`, beside the crawl, reads all faults in all formats.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { isDeepStrictEqual } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { liveOrigin } from "@larder/pipelines/run/origins/live.ts"
import { shopifyPool, storeLivePolicy } from "@larder/pipelines/storefronts/source/crawl/policy.ts"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import { Effect } from "effect"
import { oncePerFile } from "../support/once-per-file.ts"
import { matchesTemplate, readDocumentedFaults } from "../support/pipelines/documented-faults.ts"
import { locationOf, startFaultyStore } from "../support/pipelines/faulty-store-host.ts"
import {
  type Format,
  formats,
  kindOf,
  newPrice,
  oldPrice,
  type StoreFault,
  storeFaults
} from "../support/pipelines/faulty-stores.ts"
import { type EndedRun, ingestLive, unpaced } from "../support/pipelines/live-runs.ts"
import { makeRandom, seed } from "../support/seed.ts"
import { removeFolder, temporaryFolder } from "./ingesting.ts"
import { type Row, rowsOf } from "./storefronts.ts"

const allFaults = storeFaults(makeRandom(seed))

/** One fault of each kind, and each way in which a fault ends for the store. */
const kinds: ReadonlyArray<readonly [fault: string, format: Format]> = [
  ["HTTP 500", "shopify"],
  ["a connection that breaks in the middle", "tsv"],
  ["truncated at any byte", "xml"],
  ["truncated at any byte", "csv"],
  ["CSV and TSV: truncated at the end of a line", "tsv"],
  ["an HTML page", "woocommerce"],
  ["all prices of another type", "woocommerce"],
  ["one price of another type", "shopify"],
  ["two of four prices of another type", "xml"],
  ["CSV and TSV: a needed field missing", "csv"],
  ["a needed field with some empty values, missing", "woocommerce"],
  ["an optional field missing", "shopify"],
  ["a field added", "xml"],
  ["prices that vanish", "tsv"],
  ["prices that become 0", "csv"],
  ["the feed of another store", "csv"],
  ["a list without products", "tsv"],
  ["JSON: a text that is not valid UTF-8", "shopify"],
  ["a file: a text that is not valid UTF-8", "tsv"],
  ["prices in another currency", "xml"]
]
const faults = kinds.map(
  ([fault, format]) =>
    allFaults.findLast((other) => other.fault === fault && other.format === format) ?? assert.fail(fault)
)

const aDay = 86_400_000
const clockAhead = "a clock that is a day ahead"
const clockBehind = "a clock that is a day behind the last read"
const environment = { LARDER_PRIVATE_HOSTS: "127.0.0.1" }
/** Two tries, no pauses, and a response timeout of three seconds. */
const hasty = {
  ...storeLivePolicy,
  ...unpaced,
  maxAttempts: 2,
  responseTimeout: "3 seconds",
  maxPause: "2 millis",
  maxWait: "20 millis",
  pools: { [shopifyPool]: 128 }
} as const

interface Store extends StoreFault {
  readonly domain: string
}

const states = `
  select domain, list_sort(list(distinct v.price::double)) as prices, list_sort(list(distinct v.currency)) as currencies,
    count(distinct l.product_id)::integer as products
  from storefront.listing l join storefront.store using (store_id)
  join storefront.variant v using (product_id) group by domain`

/** Stores without a fault. */
const noFault = ""
const stores: ReadonlyArray<Store> = [
  ...faults.map((fault, n) => ({ ...fault, domain: `shop-${n}.example` })),
  ...formats.map((format) => ({ fault: noFault, format, domain: `intact-${format}.example` }))
]
const intactStores = stores.filter(({ fault }) => fault === noFault)

const exitOf = ({ run }: EndedRun) => (run?.outcome === "partial" ? "4" : "0")

const matrix = oncePerFile(
  Effect.gen(function* () {
    const home = yield* Effect.acquireRelease(Effect.sync(temporaryFolder), (folder) =>
      Effect.sync(() => removeFolder(folder))
    )
    const list = path.join(home, "stores.json")
    let price = oldPrice
    let hasFaults = false
    const listed = yield* Effect.forEach(stores, (store) =>
      Effect.map(
        startFaultyStore(
          store,
          () => price,
          () => hasFaults
        ),
        ({ url }) => ({ store, url })
      )
    )
    const ingest = (selected: ReadonlyArray<(typeof listed)[number]>, ahead = 0) => {
      const entries = selected.map(({ store, url }) => {
        const { domain, format } = store
        const location = locationOf(store, url, hasFaults)
        return { domain, name: domain, kind: kindOf[format], location, currency: "EUR" }
      })
      writeFileSync(list, JSON.stringify(entries))
      return Effect.promise(async () => {
        const origin = liveOrigin(hasty)
        const ended = await ingestLive(storefronts, { home, environment, stores: list, origin, ahead })
        const rows = await rowsOf(home, states)
        return { ...ended, after: new Map(rows.map((row) => [String(row.domain), row])) }
      })
    }
    const first = yield* ingest(listed)
    price = newPrice
    hasFaults = true
    const second = yield* ingest(listed)
    hasFaults = false
    const clocks = []
    for (const [fault, ahead, selected] of [
      [clockAhead, aDay, listed],
      [clockBehind, -aDay, listed.filter(({ store }) => store.fault === noFault)]
    ] as const) {
      price = String(Number(price) + 1)
      clocks.push({ fault, price: Number(price), ...(yield* ingest(selected, ahead)) })
    }
    const left_out = yield* Effect.promise(() => rowsOf(home, "select run_id, feed, reason from ingest.left_out"))
    const rejects = yield* Effect.promise(() => rowsOf(home, "select feed, reason from ingest.reject"))
    return { first, second, clocks, left_out, rejects }
  }).pipe(Effect.provide(NodeServices.layer))
)

const [before, after] = [Number(oldPrice), Number(newPrice)]

const publishedInFull = { published: "all stores", kept: "" }

/** Describes the live rows of a store after its fault, in the words of the table. */
const describeRows = (prices: unknown, isLeftOut: boolean) => {
  const [lowest, highest] = [prices].flat().map(Number)
  const keepsAll = lowest === before && highest === undefined
  if (keepsAll) return { published: "the other stores", kept: "its last rows" }
  if (lowest === after && !isLeftOut) return publishedInFull
  return {
    published: isLeftOut ? "the other stores, and its other rows" : "all stores, without its row",
    kept: "the last row of the product"
  }
}

/** Returns the outcome of the fault in each store that had it. */
const outcomesOf = Effect.fnUntraced(function* (fault: string) {
  const { clocks, left_out, rejects, second } = yield* matrix
  const clock = clocks.find((other) => other.fault === fault)
  if (clock !== undefined) {
    return intactStores.map(({ domain, format }) => {
      const isNew = isDeepStrictEqual(clock.after.get(domain)?.prices, [clock.price])
      const { published, kept } = isNew ? publishedInFull : { published: "nothing", kept: "its last rows" }
      return { format, published, kept, exit: exitOf(clock), message: clock.problem }
    })
  }
  return stores.flatMap(({ domain, fault: storeFault, format }) => {
    if (storeFault !== fault) return []
    const isOfStore = ({ feed }: Row) => feed === `store/${domain}`
    const leftOut = left_out.find((row) => isOfStore(row) && row.run_id === second.run?.run_id)
    const { published, kept } = describeRows(second.after.get(domain)?.prices, leftOut !== undefined)
    const warning = second.logs.split("\n").find((line) => line.includes(` of ${domain} `))
    const message = String(leftOut?.reason ?? rejects.find(isOfStore)?.reason ?? warning ?? "")
    return [{ format, published, kept, exit: leftOut === undefined ? "0" : exitOf(second), message }]
  })
})

describe("a fault of the feed of a store", () => {
  beforeAll(() => Effect.runPromise(Effect.asVoid(matrix)), 600_000) // each payload waits for the disk, which may be busy
  const documented = readDocumentedFaults("storefronts")
  const tested = [...new Set([...faults.map(({ fault }) => fault), clockAhead, clockBehind])]

  it("is in the table of docs/ingesting.md, which lists no others", () => {
    assert.sameMembers(
      documented.map(({ fault }) => fault),
      [...new Set(allFaults.map(({ fault }) => fault)), clockAhead, clockBehind]
    )
  })

  it.live("does not affect the other stores: their changes are published", () =>
    Effect.gen(function* () {
      const { first, second } = yield* matrix
      assert.deepStrictEqual([first.run?.outcome, first.problem], ["published", ""])
      assert.strictEqual(second.run?.outcome, "partial")
      for (const { domain } of intactStores) assert.deepStrictEqual(second.after.get(domain)?.prices, [after], domain)
    })
  )

  it.live("loses no product of its store", () =>
    Effect.gen(function* () {
      const { second } = yield* matrix
      for (const { domain, fault } of stores) assert.strictEqual(second.after.get(domain)?.products, 4, fault)
    })
  )

  it.live("is corrected by the next successful run: all stores then have their new rows", () =>
    Effect.gen(function* () {
      const [{ after, price, problem } = assert.fail("there was no later run")] = (yield* matrix).clocks
      assert.strictEqual(problem, "")
      for (const { domain, fault } of stores) assert.deepStrictEqual(after.get(domain)?.prices, [price], fault)
    })
  )

  it.live.each(tested)("matches the table: %s", (fault) =>
    Effect.gen(function* () {
      const line = documented.find((other) => other.fault === fault)
      for (const { exit, format, kept, message, published } of yield* outcomesOf(fault)) {
        const context = `${format}: ${message}\n(LARDER_TEST_SEED=${seed})`
        assert.deepStrictEqual(
          { published, kept, exit },
          { published: line?.published, kept: line?.kept, exit: line?.exit },
          context
        )
        assert.isTrue(matchesTemplate(message, line?.message ?? ""), `${context}\nis not: ${line?.message}`)
      }
    })
  )
})
