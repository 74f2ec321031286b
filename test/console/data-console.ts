/** The pages about the warehouse over the bundled samples and two runs that failed in part or completely. */
import { rmSync } from "node:fs"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { Licence } from "@larder/schemas"
import { makeReadModel } from "@larder/serve/api"
import { DataRead } from "@larder/serve/console"
import { dataPages } from "@larder/serve/console/data/data.ts"
import type { PageContext, PageResult } from "@larder/serve/console/web/page.ts"
import { watchWarehouse } from "@larder/serve/monitoring"
import { DuckDb, type Layout, layoutOf, recordFailedRun, watchLive } from "@larder/warehouse"
import { stagedRecords, writeRecordsOfRun } from "@larder/warehouse/ingestion/records.ts"
import { recordRun } from "@larder/warehouse/publishing/record.ts"
import { stagedIngestTables } from "@larder/warehouse/tables/ingest-tables.ts"
import { Effect, FileSystem, Layer, type Path, Redacted, type Scope } from "effect"
import { inject } from "vitest"
import { copyHome } from "../support/sample-home.ts"
import { aRun } from "../support/warehouse/example-data-set.ts"

/** Later than every date in the samples. */
const now = Date.parse("2099-11-01T12:00:00.000Z")

const makeContext = (target: string, params: Readonly<Record<string, string>>): PageContext => ({
  person: { id: "pers_1", account_id: "acct_1", email: "operator@example.com", is_operator: true },
  account: {
    id: "acct_1",
    name: "Operators",
    created_at: "2026-10-01T00:00:00.000Z",
    suspended_at: null,
    balance_credits: 5000
  },
  url: new URL(target, "http://127.0.0.1:8081"),
  params,
  console: "http://127.0.0.1:8081",
  api: "http://127.0.0.1:8080",
  sendsMail: false,
  now,
  session: Redacted.make("not a session"),
  formOwner: "the owner of the form"
})

export const openPage = Effect.fnUntraced(function* (target: string, params: Readonly<Record<string, string>> = {}) {
  const path = Object.keys(params).length === 0 ? target.split("?")[0] : "/data/runs/:id"
  const page = dataPages.find((candidate) => candidate.path === path)
  if (page?.get === undefined) return yield* Effect.die(`no page at ${path}`)
  const result: PageResult = yield* page.get(makeContext(target, params))
  if (result.kind !== "page") return yield* Effect.die(`${target} returned a ${result.kind}`)
  const body = String(yield* Effect.promise(async () => result.body)).replaceAll("<wbr>", "") // long names may wrap there
  return { status: result.status, title: result.title, body }
})
/** The HTML of a page. */
export const readBody = (target: string, params?: Readonly<Record<string, string>>) =>
  Effect.map(openPage(target, params), ({ body }) => body)
/** The tag of the error with which a page fails. */
export const readFailure = (target: string, params?: Readonly<Record<string, string>>) =>
  Effect.map(Effect.flip(openPage(target, params)), (error) => Reflect.get(Object(error), "_tag"))

export const failedRun = aRun({
  run_id: "20991031T100000000Z-commodities-fa11ed",
  pipeline: "commodities",
  outcome: "checks_failed",
  started_at: "2099-10-31T10:00:00.000Z",
  finished_at: "2099-10-31T10:01:05.000Z",
  rows_read: 10,
  rows_loaded: null,
  rows_unchanged: null,
  rows_rejected: 4,
  message: "Checks failed; nothing was published.\n  price_positive: 2 bad rows"
})
const failedCheck = {
  name: "price_positive",
  severity: "error",
  description: "every price is above zero",
  bad_rows: 2,
  examples: '[{"value":"-1"}]'
} as const

/** A run that omitted a feed. */
export const partialRun = aRun({
  run_id: "20991101T100000000Z-storefronts-9a47a1",
  pipeline: "storefronts",
  outcome: "partial",
  started_at: "2099-11-01T10:00:00.000Z",
  finished_at: "2099-11-01T10:00:05.000Z",
  message: "1 feed of storefronts could not be read."
})

/** A run that found nothing new. */
const anUnchangedRun = (pipeline: string) =>
  aRun({
    run_id: `20200101T000000000Z-${pipeline}-000001`,
    pipeline,
    origin: "sample",
    outcome: "unchanged",
    started_at: "2020-01-01T00:00:00.000Z",
    finished_at: "2020-01-01T00:00:01.000Z"
  })

/** Records later runs, whose clock was years behind. The first one also inserts rows into `ingest`. */
const recordUnchangedRuns = (insert: string) => (layout: Layout) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-records-" })
    const db = yield* DuckDb.memory
    yield* db.run(["create schema ingest", ...stagedIngestTables.map(({ ddl }) => ddl), insert].join(";\n"))
    for (const [index, pipeline] of ["storefronts", "branded-foods", "commodities"].entries()) {
      const run = anUnchangedRun(pipeline)
      const file = `${folder}/${pipeline}.gz`
      const records = { run, checks: [], leftOut: [], hasChangedData: false }
      yield* index === 0 ? writeRecordsOfRun(file, records, stagedRecords(db)) : writeRecordsOfRun(file, records)
      yield* recordRun(layout, run, file, folder)
    }
  }).pipe(Effect.scoped)

type Change = (layout: Layout) => Effect.Effect<unknown, unknown, FileSystem.FileSystem | Path.Path>

const samples = Effect.acquireRelease(
  Effect.sync(() => copyHome(inject("sampleHome"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
).pipe(Effect.flatMap(layoutOf))

/** Opens a warehouse like a server does. */
export const layerData = <E>(
  home: Effect.Effect<Layout, E, FileSystem.FileSystem | Path.Path | Scope.Scope>,
  withheld: ReadonlyArray<Licence> = []
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const layout = yield* home
      const live = yield* watchLive(layout, makeReadModel(layout, withheld))
      return DataRead.layer(live, layout, (yield* watchWarehouse(layout, live)).current)
    })
  ).pipe(Layer.provide(NodeServices.layer))

/** The samples after `change`, followed by a failed and a partial run. */
export const layerSamples = (change: Change = () => Effect.void, withheld: ReadonlyArray<Licence> = []) =>
  layerData(
    Effect.tap(samples, (layout) =>
      Effect.gen(function* () {
        yield* change(layout)
        yield* recordFailedRun(layout, { run: failedRun, checks: [failedCheck], leftOut: [] })
        yield* recordFailedRun(layout, { run: partialRun, checks: [], leftOut: [] })
      })
    ),
    withheld
  )

/** Number of rejected rows of stores. */
export const rejectedRows = 60
/** Rejected rows: one is long and contains HTML, and one is from a file of a feed. */
const insertRejects = `
  insert into ingest.reject
  select 'storefronts', 'shop-' || (i % 3), '20200101T000000000Z-storefronts-000001', 'ab', i,
    case when i = 60 then 'title: is <b>markup</b>' else 'price: is not a number' end,
    case when i = 60 then '<script>alert(1)</script>' || repeat('x', 1000) else '{}' end
  from generate_series(1, ${rejectedRows}) as t(i);
  insert into ingest.reject
  values ('branded-foods', 'gov-fdc/csv/food.csv', '20200101T000000000Z-branded-foods-000001', 'cd', 7, 'fdc_id: is empty', '{}');
  insert into ingest.reject
  select 'commodities', 'gov-mars/1603', '20200101T000000000Z-commodities-000001', 'ef', i,
    'close_price is "1.' || i || 'x", which is no price', '{"commodity":"Butter, \\"AA\\"","close_price":1.5000}'
  from generate_series(1, 30) as t(i);
  insert into ingest.unknown_field
  values ('commodities', 'gov-mars/1603', 'settlement_price', '20200101T000000000Z-commodities-000001', '1.6200');
  insert into ingest.odd_value values
    ('commodities', 'gov-mars/1098', 'unlisted', 'grade', 'Extra <b>Fine</b>', 3, '20200101T000000000Z-commodities-000001')`

export const layerSamplesWithRejects = layerSamples(recordUnchangedRuns(insertRejects))
