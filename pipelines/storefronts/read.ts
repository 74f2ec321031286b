/**
 * Reads every store of the list, many concurrently, and stages the rows. A store that cannot be read is recorded as
 * such and never prevents the others from being published.
 */
import { literal, storefront, storeReadTable, storeTable } from "@larder/warehouse"
import { Effect, FileSystem, Path, Schema } from "effect"
import { Archive } from "../run/archive/archive.ts"
import { reading } from "../run/files/hand-edited.ts"
import { Origin } from "../run/origins/origin.ts"
import { NothingRead, ReadFailed, type ReadResult, type RunContext } from "../run/pipeline.ts"
import { Progress } from "../run/progress.ts"
import { feedKinds } from "./feed-kinds.ts"
import { mappingHash } from "./mapping-version.ts"
import { assemble } from "./normalise/assemble.ts"
import { dictionary } from "./normalise/category/dictionary.ts"
import { readPrevious, stageKnownProducts } from "./previous.ts"
import { readStore } from "./read-store.ts"
import { isTaken, outcomes } from "./source/crawl/outcome.ts"
import { type Done, feedOf } from "./source/crawl/store-read.ts"
import { dueAmong } from "./source/due.ts"
import { listAddress, listName, withOperatorFiles } from "./source/operator-files.ts"
import { StoreListUnusable, storesIn } from "./source/store-list.ts"
import { withhold, withProductsRead } from "./stage/check-reads.ts"
import { stageRows } from "./stage/stage-rows.ts"

/** Stores read concurrently. Each holds at most one page of a few MB, and most of them are waiting for their hosts. */
const atOnce = 128

const readList = Effect.fnUntraced(function* (name: string) {
  const archive = yield* Archive
  const fs = yield* FileSystem.FileSystem
  const { fetched_at, path } = yield* archive.fetch({ url: listAddress, accept: "application/json" }).pipe(
    Effect.catchTag("RecordingUnreadable", ({ cause }) => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      return Effect.fail(new StoreListUnusable({ file: name, problems: [`It cannot be read: ${reason}`] }))
    })
  )
  const text = yield* Effect.orDie(fs.readFileString(path)) // the archive has just written it
  return { fetched_at, stores: yield* storesIn(name, text) }
})

const Id = Schema.Struct({ domain: Schema.String, store_id: Schema.String })

const known = ({ read, store }: Done) =>
  `(${literal(store.domain)}, ${read.currency === null ? "null" : literal(read.currency)}, ${feedKinds[store.kind].isFile})`

/** Stages a row for each store, and a row for each read. */
const stageStores = Effect.fnUntraced(function* ({ run_id, staging }: RunContext, done: ReadonlyArray<Done>) {
  yield* staging.db.run(`insert into feed.store values ${done.map(known).join(", ")}`)
  const ids = yield* staging.db.all(Id, "select domain, id_of('store', domain, '') as store_id from feed.store")
  const idOf = new Map(ids.map(({ domain, store_id }) => [domain, store_id]))
  const store_id = ({ store }: Done) => idOf.get(store.domain) ?? null
  yield* staging.add(
    storeTable,
    done.map((one) => ({
      ...one.read.facts,
      store_id: store_id(one),
      domain: one.store.domain,
      name: one.store.name,
      kind: one.store.kind,
      url: one.read.facts.url ?? `https://${one.store.domain}`,
      country: one.store.country ?? one.read.facts.country,
      language: one.store.language ?? one.read.facts.language,
      currency: one.read.currency,
      first_seen_at: one.read_at,
      run_id
    }))
  )
  yield* staging.add(
    storeReadTable,
    done.map((one) => ({
      run_id,
      store_id: store_id(one),
      read_at: one.read_at,
      fetch_status: one.read.fetch_status,
      outcome: one.read.outcome,
      outcome_detail: one.read.detail,
      pages_read: one.read.pages_read,
      products_read: one.read.products_read,
      has_all_products: one.read.has_all_products,
      is_taken: isTaken(one.read),
      collections_read: one.read.collections_read,
      currency: one.read.currency,
      seconds: one.seconds
    }))
  )
})

const Staged = Schema.Struct({ rows: Schema.Int })

/** Dies unless every row that was read is accounted for exactly once: rejected, silent or staged. */
const account = Effect.fnUntraced(function* (
  { staging }: RunContext,
  result: Pick<ReadResult, "rows_read" | "rows_silent" | "rows_rejected">
) {
  const [staged] = yield* staging.db.all(Staged, storefront.countSourceRows)
  const { rows_read, rows_rejected, rows_silent } = result
  if (rows_read === rows_rejected + rows_silent + (staged?.rows ?? 0)) return
  yield* Effect.die(
    new Error(`${rows_read} rows were read, ${JSON.stringify({ ...result, staged })} are accounted for`)
  )
})

const nothing = { rows_read: 0, rows_silent: 0, rows_rejected: 0 }

export const readStorefronts = Effect.fn("storefronts.read")(
  function* (run: RunContext) {
    const path = yield* Path.Path
    const progress = yield* Progress
    const origin = yield* Origin
    const previous = yield* readPrevious(run)
    const asked = yield* withOperatorFiles(origin, run.stores)
    const name = yield* listName(origin, run.stores)
    const { done, result, stores } = yield* Effect.gen(function* () {
      const { fetched_at: asked_at, stores: all } = yield* readList(name)
      const due = yield* dueAmong({ ...run, mapping: mappingHash }, all, asked_at)
      const stores = { listed: all.length, not_due: all.length - due.length }
      if (due.length === 0) return { done: [], result: nothing, stores }
      yield* reading(dictionary)
      yield* progress.expect(due.length)
      const folder = path.dirname(run.staging.file)
      const rows = yield* stageRows(run.staging.db, folder)
      const known = yield* stageKnownProducts(run.staging.db, run.layout, previous)
      const read = yield* Effect.forEach(due, (store) => readStore(store, { ...run, asked_at, rows, known }), {
        concurrency: atOnce
      })
      yield* progress.phase("assembling products")
      yield* rows.settled
      const judged = yield* withProductsRead(run, read, previous.stores)
      const done = yield* withhold(run.staging.db, run.run_id, judged)
      yield* stageStores(run, done)
      const { rows_rejected, rows_silent } = yield* assemble(run.staging.db, run.run_id, folder, rows.surveys)
      const sum = (count: (one: Done) => number) => done.reduce((total, one) => total + count(one), 0)
      const result = {
        rows_read: sum(({ rows_read }) => rows_read),
        rows_rejected: sum((one) => one.rows_rejected) + rows_rejected,
        rows_silent
      }
      return { done, result, stores }
    }).pipe(Effect.provideService(Origin, asked))
    yield* account(run, result)
    const left_out = done.flatMap(({ read, store }) => {
      const { kind } = outcomes[read.outcome]
      return kind === null ? [] : [{ feed: feedOf(store), kind, reason: read.detail ?? read.outcome }]
    })
    const all_failed = done.length > 0 && done.every(({ read }) => read.fetch_status === "failed")
    return { ...result, feeds: done.length, left_out, all_failed, stores } satisfies ReadResult as ReadResult
  },
  Effect.catchTags({
    StoreListUnusable: (error) => Effect.fail(new ReadFailed({ faults: [error.message] })),
    ConfigError: (error) => Effect.fail(new ReadFailed({ faults: [error.message] })),
    FileUnwritable: (error) => Effect.fail(new ReadFailed({ faults: [error.message] })),
    RefusedByUpstream: (error) => Effect.fail(new NothingRead({ reasons: [error.message] })),
    UpstreamUnavailable: (error) => Effect.fail(new NothingRead({ reasons: [error.message] })),
    AnswerTooLarge: (error) => Effect.fail(new NothingRead({ reasons: [error.message] })),
    GivenUp: (error) => Effect.fail(new NothingRead({ reasons: [error.message] })),
    ForbiddenAddress: (error) => Effect.fail(new NothingRead({ reasons: [error.message] })),
    AccessDenied: (error) => Effect.fail(new NothingRead({ reasons: [error.message] })),
    NotRecorded: (error) => Effect.fail(new NothingRead({ reasons: [error.message] }))
  }),
  Effect.scoped
)
