/**
 * The fault matrix of storefronts: a live run over a store for each fault, all of them well, a second one in which each has its
 * fault, and a third one in which they are well again. Stores are judged alone. Some 17 s of CPU.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { isDeepStrictEqual } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { liveOrigin, shopifyLane, storefronts, storeLivePolicy } from "@larder/pipelines"
import { Effect } from "effect"
import { oncePerFile } from "../support/once-per-file.ts"
import { makeCertificate } from "../support/pipelines/certificates.ts"
import { documentedFaults, matchesTemplate } from "../support/pipelines/documented-faults.ts"
import {
  feedOf,
  forms,
  kindOf,
  newPrice,
  oldPrice,
  pathOf,
  type StoreFault,
  storeFaults
} from "../support/pipelines/faulty-stores.ts"
import { type EndedRun, ingestLive, unpaced } from "../support/pipelines/live-runs.ts"
import { startTls } from "../support/pipelines/tls-host.ts"
import { startUpstream } from "../support/pipelines/upstream.ts"
import { makeRandom, seed } from "../support/seed.ts"
import { removeFolder, temporaryFolder } from "./ingesting.ts"
import { type Row, rowsOf } from "./storefronts.ts"

const faults = storeFaults(makeRandom(seed))

const aDay = 86_400_000
const clockAhead = "a clock that is a day ahead"
const clockBehind = "a clock that is a day behind the last read"
const environment = { LARDER_PRIVATE_HOSTS: "127.0.0.1" }
/** Two tries, pauses of no length, and three seconds for the head of an answer where none is sent. */
const hasty = {
  ...storeLivePolicy,
  ...unpaced,
  maxAttempts: 2,
  responseTimeout: "3 seconds",
  maxPause: "2 millis",
  maxWait: "20 millis",
  lanes: { [shopifyLane]: 128 }
} as const

const json = (value: unknown) => JSON.stringify(value)
/** What a Shopify store has beside its products. */
const besides: Readonly<Record<string, string>> = {
  "/meta.json": json({ id: 7, name: "Shop", country: "NO", currency: "EUR", published_products_count: 4 }),
  "/collections.json": json({ collections: [{ id: 9, title: "All", handle: "all", products_count: 1 }] }),
  "/collections/all/products.json": json({ products: [{ id: 1 }] })
}
const nothingMore = (path: string) => json(path === "/collections.json" ? { collections: [] } : { products: [] })

interface Store extends StoreFault {
  readonly domain: string
}

/** A host for each store, which is well until `turn` is called. */
const startStore = (store: Store, price: () => string, hasTurned: () => boolean) =>
  startUpstream((response, _, { url }) => {
    const { form } = store
    const { pathname, searchParams } = new URL(url, "http://shop.test")
    if (pathname === "/robots.txt") return void response.end(hasTurned() ? (store.robots ?? "") : "")
    const page = Number(searchParams.get("page") ?? 1)
    if (pathname !== pathOf[form]) {
      const other = form === "shopify" ? besides[pathname] : undefined
      if (other === undefined) return void response.writeHead(404).end()
      return void response.end(page === 1 ? other : nothingMore(pathname))
    }
    if (page > 1) return void response.end(form === "shopify" ? nothingMore(pathname) : "[]")
    const well = feedOf(form, price())
    if (!hasTurned()) return void response.end(well)
    if (store.answer !== undefined) return store.answer(response, well)
    response.writeHead(200, store.headers ?? {}).end(store.feed ?? well)
  })

const states = `
  select domain, list_sort(list(distinct v.price::double)) as prices, list_sort(list(distinct v.currency)) as currencies,
    count(distinct l.product_id)::integer as products
  from storefront.listing l join storefront.store using (store_id)
  join storefront.variant v using (product_id) group by domain`

/** Stores without a fault. */
const isWell = ""
const stores: ReadonlyArray<Store> = [
  ...faults.map((fault, n) => ({ ...fault, domain: `shop-${n}.example` })),
  ...forms.map((form) => ({ fault: isWell, form, domain: `well-${form}.example` }))
]
const wellStores = stores.filter(({ fault }) => fault === isWell)

const exitOf = ({ run }: EndedRun) => (run?.outcome === "partial" ? "4" : "0")

const matrix = oncePerFile(
  Effect.gen(function* () {
    const home = yield* Effect.acquireRelease(Effect.sync(temporaryFolder), (folder) =>
      Effect.sync(() => removeFolder(folder))
    )
    const list = path.join(home, "stores.json")
    let price = oldPrice
    let hasTurned = false
    const distrusted = yield* startTls(makeCertificate({ name: "unknown", hosts: ["127.0.0.1"] }))
    const listed = yield* Effect.forEach(stores, (store) =>
      Effect.map(
        startStore(
          store,
          () => price,
          () => hasTurned
        ),
        ({ url }) => ({ store, url })
      )
    )
    const locationOf = ({ store: { form, isDistrusted, path: other }, url }: (typeof listed)[number]) => {
      const base = hasTurned && isDistrusted ? `https://127.0.0.1:${distrusted.port}` : url
      if (hasTurned && other !== undefined) return base + other
      return form === "shopify" || form === "woocommerce" ? base : base + pathOf[form]
    }
    const ingest = (asked: ReadonlyArray<(typeof listed)[number]>, ahead = 0) => {
      const entries = asked.map((one) => {
        const { domain, form } = one.store
        return { domain, name: domain, kind: kindOf[form], location: locationOf(one), currency: "EUR" }
      })
      writeFileSync(list, json(entries))
      return Effect.promise(async () => {
        const origin = liveOrigin(hasty)
        const ended = await ingestLive(storefronts, { home, environment, stores: list, origin, ahead })
        const rows = await rowsOf(home, states)
        return { ...ended, after: new Map(rows.map((row) => [String(row.domain), row])) }
      })
    }
    const first = yield* ingest(listed)
    price = newPrice
    hasTurned = true
    const second = yield* ingest(listed)
    hasTurned = false
    const clocks = []
    for (const [fault, ahead, asked] of [
      [clockAhead, aDay, listed],
      [clockBehind, -aDay, listed.filter(({ store }) => store.fault === isWell)]
    ] as const) {
      price = String(Number(price) + 1)
      clocks.push({ fault, price: Number(price), ...(yield* ingest(asked, ahead)) })
    }
    const left_out = yield* Effect.promise(() => rowsOf(home, "select run_id, feed, reason from ingest.left_out"))
    const rejects = yield* Effect.promise(() => rowsOf(home, "select feed, reason from ingest.reject"))
    return { first, second, clocks, left_out, rejects }
  }).pipe(Effect.provide(NodeServices.layer))
)

const [old, fresh] = [Number(oldPrice), Number(newPrice)]

const inFull = { published: "all stores", kept: "" }

/** What is live of a store after its fault, in the words of the table. */
const becameOf = (prices: unknown, isLeftOut: boolean) => {
  const [lowest, highest] = [prices].flat().map(Number)
  const keepsAll = lowest === old && highest === undefined
  if (keepsAll) return { published: "the other stores", kept: "its last rows" }
  if (lowest === fresh && !isLeftOut) return inFull
  return {
    published: isLeftOut ? "the other stores, and its other rows" : "all stores, without its row",
    kept: "the last row of the product"
  }
}

/** What became of the fault in each store that had it. */
const outcomesOf = Effect.fnUntraced(function* (fault: string) {
  const { clocks, left_out, rejects, second } = yield* matrix
  const clock = clocks.find((other) => other.fault === fault)
  if (clock !== undefined) {
    return wellStores.map(({ domain, form }) => {
      const isNew = isDeepStrictEqual(clock.after.get(domain)?.prices, [clock.price])
      const { published, kept } = isNew ? inFull : { published: "nothing", kept: "its last rows" }
      return { form, published, kept, exit: exitOf(clock), message: clock.problem }
    })
  }
  return stores.flatMap(({ domain, fault: own, form }) => {
    if (own !== fault) return []
    const of = ({ feed }: Row) => feed === `store/${domain}`
    const left = left_out.find((row) => of(row) && row.run_id === second.run?.run_id)
    const { published, kept } = becameOf(second.after.get(domain)?.prices, left !== undefined)
    const message = String(left?.reason ?? rejects.find(of)?.reason ?? "")
    return [{ form, published, kept, exit: left === undefined ? "0" : exitOf(second), message }]
  })
})

describe("a fault of the feed of a store", () => {
  beforeAll(() => Effect.runPromise(Effect.asVoid(matrix)), 600_000) // each payload waits for the disk, which may be busy
  const documented = documentedFaults("storefronts")
  const tested = [...new Set([...faults.map(({ fault }) => fault), clockAhead, clockBehind])]

  it("is in the table of docs/ingesting.md, which lists no others", () => {
    assert.sameMembers(
      documented.map(({ fault }) => fault),
      tested
    )
  })

  it.live("leaves the other stores alone: what they list now is published", () =>
    Effect.gen(function* () {
      const { first, second } = yield* matrix
      assert.deepStrictEqual([first.run?.outcome, first.problem], ["published", ""])
      assert.strictEqual(second.run?.outcome, "partial")
      for (const { domain } of wellStores) assert.deepStrictEqual(second.after.get(domain)?.prices, [fresh], domain)
    })
  )

  it.live("loses no product of its store", () =>
    Effect.gen(function* () {
      const { second } = yield* matrix
      for (const { domain, fault } of stores) assert.strictEqual(second.after.get(domain)?.products, 4, fault)
    })
  )

  it.live("is made up for by the next good run: all stores have their new rows then", () =>
    Effect.gen(function* () {
      const [{ after, price, problem } = assert.fail("no run came after")] = (yield* matrix).clocks
      assert.strictEqual(problem, "")
      for (const { domain, fault } of stores) assert.deepStrictEqual(after.get(domain)?.prices, [price], fault)
    })
  )

  it.live.each(tested)("does what the table says: %s", (fault) =>
    Effect.gen(function* () {
      const line = documented.find((other) => other.fault === fault)
      for (const { exit, form, kept, message, published } of yield* outcomesOf(fault)) {
        const told = `${form}: ${message}\n(LARDER_TEST_SEED=${seed})`
        assert.deepStrictEqual(
          { published, kept, exit },
          { published: line?.published, kept: line?.kept, exit: line?.exit },
          told
        )
        assert.isTrue(matchesTemplate(message, line?.message ?? ""), `${told}\nis not: ${line?.message}`)
      }
    })
  )
})
