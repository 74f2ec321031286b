/**
 * Probes the stores of a list: the first requests of a run to each store, up to the first rows, with the code of a run.
 * It obeys robots.txt as a run does. Of a feed that is a single file, it fetches only the beginning.
 */
import { Effect, FileSystem, Schema, Stream } from "effect"
import { Archive } from "../run/archive/archive.ts"
import { Origin } from "../run/origins/origin.ts"
import type { Batch } from "../storefronts/decode/feed.ts"
import { feedKinds } from "../storefronts/feed-kinds.ts"
import { type StorePolicy, storePolicy } from "../storefronts/source/crawl/policy.ts"
import { nothingKnown } from "../storefronts/source/crawl/product-list.ts"
import { listAddress, withOperatorFiles } from "../storefronts/source/operator-files.ts"
import { type ListedStore, storesIn } from "../storefronts/source/store-list.ts"
import { type ProbeFinding, tooManyRejects, verdictsOf } from "./verdict.ts"

/** Enough for some hundred products of any feed. */
const mostBytesOfFile = 4 << 20

const policy: StorePolicy = { ...storePolicy, budget: "3 minutes" }

const storesAtOnce = 32

/** The first rows have arrived: no more requests are needed. */
class Enough extends Schema.TaggedError<Enough>()("Enough", {}) {}

/** Cuts feeds of a single file after their first megabytes, and reports no length for them. */
const onlyTheBeginning = (origin: Origin["Service"]) =>
  Origin.of({
    ...origin,
    open: (ask, resume) =>
      Effect.map(origin.open(ask, resume), (answer) => {
        if (ask.longest !== policy.longestFile) return answer
        const { file: _file, ...rest } = answer
        let left = mostBytesOfFile
        const body = answer.body.pipe(
          Stream.takeWhile(() => left > 0),
          Stream.map((bytes) => {
            const piece = bytes.subarray(0, left)
            left -= piece.length
            return piece
          })
        )
        return { ...rest, total: null, body }
      })
  })

const judge = (feed: string, { products, rejects, variants }: Batch): ProbeFinding => {
  const priced = variants.filter(({ price }) => price !== null).length
  const notes =
    priced === variants.length ? [] : [`${variants.length - priced} of ${variants.length} variants have no price`]
  const rows = products.length + rejects.length
  const rejected = tooManyRejects(rejects, rows, "products")
  if (rejected !== undefined) return { feed, verdict: "differs", detail: rejected, notes, rows }
  if (variants.length > 0 && priced === 0) return { feed, verdict: "differs", detail: "no product has a price", rows }
  return { feed, verdict: "ok", detail: `the first ${products.length} products can be read`, notes, rows }
}

/** Outcomes of a store that answered with something other than its feed. With all others, it cannot be reached. */
const differing = new Set<string>(["unreadable", "html", "empty", "headless", "too_large"])

const probeStore = Effect.fnUntraced(function* (store: ListedStore) {
  const feed = `store/${store.domain}`
  const first: Array<Batch> = []
  const take = (batch: Batch): Effect.Effect<void, Enough> => {
    first.push(batch)
    return batch.products.length + batch.rejects.length > 0 ? Effect.fail(new Enough()) : Effect.void
  }
  const read = feedKinds[store.kind].read(store, take, policy, nothingKnown)
  const ended = yield* Effect.catchTag(read, "Enough", () => Effect.succeed(undefined))
  const batch = first.at(-1)
  if (ended === undefined && batch !== undefined) return judge(feed, batch)
  const detail = ended?.detail ?? "it has no products"
  const verdict = differing.has(ended?.outcome ?? "empty") ? "differs" : "unreachable"
  return { feed, verdict, detail } satisfies ProbeFinding as ProbeFinding
})

/** `given` is the file of `--stores`. */
export const probeStorefronts = Effect.fn("probe.storefronts")(function* (given: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const origin = yield* withOperatorFiles(yield* Origin, given)
  const { path } = yield* Effect.provideService(
    Archive.use((archive) => archive.fetch({ url: listAddress, accept: "application/json" })),
    Origin,
    origin
  )
  const stores = yield* storesIn("stores.json", yield* Effect.orDie(fs.readFileString(path)))
  const found = yield* Effect.forEach(stores, probeStore, { concurrency: storesAtOnce }).pipe(
    Effect.provideService(Origin, onlyTheBeginning(origin))
  )
  return found.map(verdictsOf("storefronts", "stores of the list"))
})
