/**
 * Reads the listed stores concurrently and stages their rows. A store that cannot be read is recorded, and does not
 * prevent the others from being published.
 */
import { literal, storefront, storeReadTable, storeTable } from "@larder/warehouse"
import { Effect, FileSystem, Path, Schema } from "effect"
import { Archive } from "../run/archive/archive.ts"
import { reasonOf } from "../run/files/causes.ts"
import { readHandEdited } from "../run/files/hand-edited.ts"
import { readKnownOddValues, stageOddValues } from "../run/odd-values.ts"
import { Origin } from "../run/origins/origin.ts"
import { NothingRead, ReadFailed, type ReadResult, type RunContext } from "../run/pipeline.ts"
import { Progress } from "../run/progress.ts"
import { feedKinds } from "./feed-kinds.ts"
import { orderStores, readKnownStores, stageKnownProducts } from "./known-stores.ts"
import { mappingHash } from "./mapping-hash.ts"
import { assembleProducts, separateRows } from "./normalise/assemble.ts"
import { loadDictionary } from "./normalise/category/dictionary.ts"
import { readStore } from "./read-store.ts"
import { isAccepted, outcomes } from "./source/crawl/outcome.ts"
import { feedName, type ReadStore } from "./source/crawl/store-read.ts"
import { pickDueStores } from "./source/due.ts"
import { findListName, listAddress, withOperatorFiles } from "./source/operator-files.ts"
import { computeDueRange, readIntervals } from "./source/schedule.ts"
import { parseStoreList, StoreListUnusable } from "./source/store-list.ts"
import { checkReads, discardUnacceptedReads } from "./stage/check-reads.ts"
import { checkShares } from "./stage/check-shares.ts"
import { stageRows } from "./stage/stage-rows.ts"

/** Each has at most one page in memory, within the limit of `PageMemory`, and most are waiting for a response. */
const maxConcurrentStores = 128

const readList = Effect.fnUntraced(function* (name: string) {
  const archive = yield* Archive
  const fs = yield* FileSystem.FileSystem
  const { fetched_at, path } = yield* archive
    .fetch({ url: listAddress, accept: "application/json" })
    .pipe(
      Effect.catchTag("RecordingUnreadable", ({ cause }) =>
        Effect.fail(new StoreListUnusable({ file: name, problems: [`It cannot be read: ${reasonOf(cause)}`] }))
      )
    )
  const text = yield* Effect.orDie(fs.readFileString(path)) // the archive has just written it
  return { fetched_at, stores: yield* parseStoreList(name, text) }
})

const StoreId = Schema.Struct({ domain: Schema.String, store_id: Schema.String })

const storeValues = ({ read, store }: ReadStore) =>
  `(${literal(store.domain)}, ${read.currency === null ? "null" : literal(read.currency)}, ${feedKinds[store.kind].isFile})`

const stageStores = Effect.fnUntraced(function* (
  { run_id, staging }: RunContext,
  results: ReadonlyArray<ReadStore>,
  list_fetched_at: string
) {
  // unlike the start of the run, this time is the same in a rebuild
  const due = computeDueRange(Date.parse(list_fetched_at), yield* readIntervals)
  const ids = yield* staging.db.all(StoreId, "select domain, id_of('store', domain, '') as store_id from feed.store")
  const idsByDomain = new Map(ids.map(({ domain, store_id }) => [domain, store_id]))
  const store_id = ({ store }: ReadStore) => idsByDomain.get(store.domain) ?? null
  yield* staging.add(
    storeTable,
    results.map((item) => ({
      ...item.read.facts,
      store_id: store_id(item),
      domain: item.store.domain,
      name: item.store.name,
      kind: item.store.kind,
      url: item.read.facts.url ?? `https://${item.store.domain}`,
      country: item.store.country ?? item.read.facts.country,
      language: item.store.language ?? item.read.facts.language,
      currency: item.read.currency,
      first_seen_at: item.read_at,
      run_id
    }))
  )
  yield* staging.add(
    storeReadTable,
    results.map((item) => ({
      run_id,
      store_id: store_id(item),
      read_at: item.read_at,
      fetch_status: item.read.fetch_status,
      outcome: item.read.outcome,
      outcome_detail: item.read.detail,
      pages_read: item.read.pages_read,
      products_read: item.read.products_read,
      has_all_products: item.read.has_all_products,
      is_taken: isAccepted(item.read),
      collections_read: item.read.collections_read,
      currency: item.read.currency,
      seconds: item.seconds,
      feed: feedName(item.store),
      sale_changes_at: item.read.sale_changes_at?.toISOString() ?? null,
      ...due
    }))
  )
})

const stageOddTexts = Effect.fnUntraced(function* (run: RunContext, results: ReadonlyArray<ReadStore>) {
  const odd = results.filter(({ odd_values, read }) => isAccepted(read) && odd_values.length > 0)
  if (odd.length === 0) return
  const known = yield* readKnownOddValues(run, storefront)
  yield* Effect.forEach(
    odd,
    ({ odd_values, store }) => stageOddValues(run, storefront.about.pipeline, feedName(store), odd_values, known),
    { discard: true }
  )
})

const Staged = Schema.Struct({ rows: Schema.Int })

/** Dies unless each row that was read is rejected, skipped (nothing to store) or staged. */
const checkCounts = Effect.fnUntraced(function* (
  { staging }: RunContext,
  result: Pick<ReadResult, "rows_read" | "rows_skipped" | "rows_rejected">
) {
  const [staged] = yield* staging.db.all(Staged, storefront.countSourceRows)
  const { rows_read, rows_rejected, rows_skipped } = result
  if (rows_read === rows_rejected + rows_skipped + (staged?.rows ?? 0)) return
  yield* Effect.die(
    new Error(`the ${rows_read} rows read are not all accounted for: ${JSON.stringify({ ...result, staged })}`)
  )
})

const noRows = { rows_read: 0, rows_skipped: 0, rows_rejected: 0 }

export const readStorefronts = Effect.fn("storefronts.read")(
  function* (run: RunContext) {
    const path = yield* Path.Path
    const progress = yield* Progress
    const origin = yield* Origin
    const previous = yield* readKnownStores(run)
    const originWithFiles = yield* withOperatorFiles(origin, run.stores)
    const shownListName = yield* findListName(origin, run.stores)
    const { results, result, stores } = yield* Effect.gen(function* () {
      const { fetched_at: list_fetched_at, stores: listed } = yield* readList(shownListName)
      const due = yield* pickDueStores({ ...run, mapping: mappingHash }, listed, list_fetched_at)
      const stores = { listed: listed.length, not_due: listed.length - due.length }
      if (due.length === 0) return { results: [], result: noRows, stores }
      yield* readHandEdited(loadDictionary)
      yield* progress.expect(due.length)
      const folder = path.dirname(run.staging.file)
      const rows = yield* stageRows(run.staging.db, folder)
      const findKnown = yield* stageKnownProducts(run.staging.db, run.layout, previous)
      const finished = yield* Effect.forEach(
        orderStores(due, previous),
        (store) =>
          Effect.map(readStore(store, { ...run, list_fetched_at, rows, findKnown }), (read) => [store, read] as const),
        { concurrency: maxConcurrentStores }
      )
      const byStore = new Map(finished)
      const read = due.flatMap((store) => byStore.get(store) ?? []) // in the order of the list, for every report
      yield* progress.phase("assembling products")
      yield* rows.finishLoading
      const checked = yield* checkReads(run, read, previous)
      const accepted = yield* discardUnacceptedReads(run.staging.db, run.run_id, checked)
      yield* run.staging.db.run(`insert into feed.store values ${accepted.map(storeValues).join(", ")}`)
      yield* separateRows(run.staging.db, run.run_id)
      const results = yield* checkShares(run, accepted)
      yield* stageStores(
        run,
        results.filter(({ read }) => read.outcome !== "out_of_time"),
        list_fetched_at
      )
      yield* stageOddTexts(run, results)
      const { rows_rejected, rows_skipped } = yield* assembleProducts(run.staging.db, folder, rows.surveys)
      const sum = (count: (item: ReadStore) => number) => results.reduce((total, item) => total + count(item), 0)
      const result = {
        rows_read: sum(({ rows_read }) => rows_read),
        rows_rejected: sum((item) => item.rows_rejected) + rows_rejected,
        rows_skipped
      }
      return { results, result, stores }
    }).pipe(Effect.provideService(Origin, originWithFiles))
    yield* checkCounts(run, result)
    const left_out = results.flatMap(({ is_known = false, read, store }) => {
      const { kind } = outcomes[read.outcome]
      return kind === null ? [] : [{ feed: feedName(store), kind, reason: read.detail ?? read.outcome, is_known }]
    })
    const all_failed = results.length > 0 && results.every(({ read }) => read.fetch_status === "failed")
    const readResult: ReadResult = { ...result, feeds: results.length, left_out, all_failed, stores }
    return readResult
  },
  Effect.catchTag(["StoreListUnusable", "ConfigError", "FileUnwritable"], (error) =>
    Effect.fail(new ReadFailed({ faults: [error.message] }))
  ),
  Effect.catchTag(
    [
      "RefusedByUpstream",
      "UpstreamUnavailable",
      "NotRequested",
      "AnswerTooLarge",
      "GivenUp",
      "ForbiddenAddress",
      "AccessDenied",
      "NotRecorded"
    ],
    (error) => Effect.fail(new NothingRead({ reasons: [error.message] }))
  ),
  Effect.scoped
)
