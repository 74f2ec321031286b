/**
 * Probes the stores of a list with the code of a run, which obeys robots.txt: the first requests to each store, up to
 * its first rows, and only the beginning of a feed that is a single file.
 */
import { Effect, FileSystem, Schema } from "effect"
import { Archive } from "../run/archive/archive.ts"
import { Origin } from "../run/origins/origin.ts"
import { takeBytes } from "../run/origins/transport.ts"
import type { Batch } from "../storefronts/decode/feed.ts"
import { feedKinds } from "../storefronts/feed-kinds.ts"
import { type StorePolicy, storePolicy } from "../storefronts/source/crawl/policy.ts"
import { noKnownProducts } from "../storefronts/source/crawl/product-list.ts"
import { listAddress, withOperatorFiles } from "../storefronts/source/operator-files.ts"
import { type ListedStore, parseStoreList } from "../storefronts/source/store-list.ts"
import { describeExcessRejects, makeVerdictFactory, type ProbeFinding } from "./verdict.ts"

/** Enough for a few hundred products of any feed. */
const maxFileBytes = 4 << 20

const policy: StorePolicy = { ...storePolicy, budget: "3 minutes" }

const maxConcurrency = 32

/** The first rows have arrived: no more requests are needed. */
class FirstRowsRead extends Schema.TaggedError<FirstRowsRead>()("FirstRowsRead", {}) {}

/** Truncates feeds of a single file to `maxFileBytes`, and reports no length for them. */
const truncateFiles = (origin: Origin["Service"]) =>
  Origin.of({
    ...origin,
    open: (request, resume) =>
      Effect.map(origin.open(request, resume), (response) => {
        if (request.maxBytes !== policy.maxFileBytes) return response
        const { file: _file, ...rest } = response
        return { ...rest, total: null, body: takeBytes(response.body, maxFileBytes) }
      })
  })

const checkBatch = (feed: string, { products, rejects, variants }: Batch): ProbeFinding => {
  const priced = variants.filter(({ price }) => price !== null).length
  const notes =
    priced === variants.length ? [] : [`${variants.length - priced} of ${variants.length} variants have no price`]
  const rows = products.length + rejects.length
  const rejected = describeExcessRejects(rejects, rows, "products")
  if (rejected !== undefined) return { feed, verdict: "differs", detail: rejected, notes, rows }
  if (variants.length > 0 && priced === 0) return { feed, verdict: "differs", detail: "no product has a price", rows }
  return { feed, verdict: "ok", detail: `the first ${products.length} products can be read`, notes, rows }
}

/** Outcomes of a store that returned something other than its feed. With all others, the verdict is `unreachable`. */
const differingOutcomes = new Set<string>(["unreadable", "html", "empty", "headless", "too_large"])

const probeStore = Effect.fnUntraced(function* (store: ListedStore) {
  const feed = `store/${store.domain}`
  const batches: Array<Batch> = []
  const take = (batch: Batch): Effect.Effect<void, FirstRowsRead> => {
    batches.push(batch)
    return batch.products.length + batch.rejects.length > 0 ? Effect.fail(new FirstRowsRead()) : Effect.void
  }
  const read = feedKinds[store.kind].read(store, take, policy, noKnownProducts)
  const ended = yield* Effect.catchTag(read, "FirstRowsRead", () => Effect.succeed(undefined))
  const last = batches.at(-1)
  if (ended === undefined && last !== undefined) return checkBatch(feed, last)
  const finding: ProbeFinding = {
    feed,
    verdict: differingOutcomes.has(ended?.outcome ?? "empty") ? "differs" : "unreachable",
    detail: ended?.detail ?? "it has no products"
  }
  return finding
})

export const probeStorefronts = Effect.fn("probe.storefronts")(function* (storesFile: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const origin = yield* withOperatorFiles(yield* Origin, storesFile)
  const { path } = yield* Effect.provideService(
    Archive.use((archive) => archive.fetch({ url: listAddress, accept: "application/json" })),
    Origin,
    origin
  )
  const stores = yield* parseStoreList("stores.json", yield* Effect.orDie(fs.readFileString(path)))
  const findings = yield* Effect.forEach(stores, probeStore, { concurrency: maxConcurrency }).pipe(
    Effect.provideService(Origin, truncateFiles(origin))
  )
  return findings.map(makeVerdictFactory("storefronts", "stores of the list"))
})
