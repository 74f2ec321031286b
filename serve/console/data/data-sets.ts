/** The size of each data set, and the age of its newest facts. */
import { type DataSet, type DuckDb, dataSets, type Generation, type PipelineState } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { ReadModel } from "../../api/index.ts"

interface Facts {
  /** Counts of items, such as 24 series. */
  readonly contents: ReadonlyArray<{ readonly count: number; readonly what: string }>
  /** The newest fact of each kind. */
  readonly newest: ReadonlyArray<{
    readonly what: string
    /** The day represents its whole month. */
    readonly isMonth?: boolean
    /** A day, or a time as ISO text. */
    readonly on: string | null
    /** Age in days from which it is late; null if the date of the next one is unknown. */
    readonly late_after: number | null
  }>
}
/** A data set in a generation. */
export interface DataSetContents extends Facts {
  readonly title: string
  readonly pipeline: string
  readonly isLoaded: boolean
}
export type DataSetState = DataSetContents & PipelineState

/**
 * Age in days from which the newest reading of each frequency is late: the longest time that a reading stays the
 * newest, plus some slack.
 */
const lateAfter = {
  daily: 5, // over a long weekend, Friday's close stays the newest until Tuesday
  weekly: 14, // a week ends on Saturday and is published by Friday of the next week: 13 days
  monthly: 45 // the newest is a Class I price, announced before its month begins: 25 days, plus 20 of slack
} as const

const Commodities = Schema.Struct({
  series: Schema.Int,
  metrics: Schema.Int,
  readings: Schema.Int,
  daily: Schema.NullOr(Schema.String),
  weekly: Schema.NullOr(Schema.String),
  monthly: Schema.NullOr(Schema.String)
})
/** The newest reading per frequency: a monthly price that is three weeks old is fresh, a daily price is not. */
const commodities = (db: DuckDb["Service"]) =>
  Effect.map(
    db.all(
      Commodities,
      `select (select count(*) from commodity.series)::integer as series, count(distinct metric_name)::integer as metrics,
         count(observed_on)::integer as readings,
         max(observed_on) filter (where frequency = 'daily')::varchar as daily,
         max(observed_on) filter (where frequency in ('weekly', 'biweekly'))::varchar as weekly,
         max(observed_on) filter (where frequency in ('monthly', 'annual'))::varchar as monthly
       from commodity.metric
       left join commodity.price_version using (metric_name)`
    ),
    ([row]): Facts => ({
      contents: [
        { count: row?.series ?? 0, what: "series" },
        { count: row?.metrics ?? 0, what: "metrics" },
        { count: row?.readings ?? 0, what: "published values" }
      ],
      newest: [
        { what: "daily reading", on: row?.daily ?? null, late_after: lateAfter.daily },
        { what: "weekly reading", on: row?.weekly ?? null, late_after: lateAfter.weekly },
        { what: "monthly reading", isMonth: true, on: row?.monthly ?? null, late_after: lateAfter.monthly }
      ]
    })
  )

const Foods = Schema.Struct({ labels: Schema.Int, categories: Schema.Int, release_on: Schema.NullOr(Schema.String) })
const brandedFoods = (db: DuckDb["Service"]) =>
  Effect.map(
    db.all(
      Foods,
      `select count(*)::integer as labels, (select count(*) from branded_food.category)::integer as categories,
         max(release_on)::varchar as release_on
       from branded_food.food`
    ),
    ([row]): Facts => ({
      contents: [
        { count: row?.labels ?? 0, what: "label versions" },
        { count: row?.categories ?? 0, what: "categories" }
      ],
      // about two releases a year, on unannounced days
      newest: [{ what: "release", on: row?.release_on ?? null, late_after: null }]
    })
  )

const Stores = Schema.Struct({ stores: Schema.Int, listed: Schema.Int })
const stores = `
  select count(*)::integer as stores, (select count(*) from storefront.listing)::integer as listed
  from storefront.store`
const Reads = Schema.Struct({ complete: Schema.Int, fetched_at: Schema.NullOr(Schema.String) })
const lastReads = `
  with last_read as (
    select arg_max(fetch_status, (read_at, run_id)) as fetch_status,
      max(read_at) filter (fetch_status <> 'failed') as fetched_at
    from ingest.live_store_read
    group by store_id
  )
  select count(*) filter (fetch_status = 'complete')::integer as complete,
    strftime(max(fetched_at), '%Y-%m-%dT%H:%M:%S.%gZ') as fetched_at
  from last_read`
const storefronts = Effect.fnUntraced(function* (db: DuckDb["Service"], ingest: DuckDb["Service"]) {
  const [listings] = yield* db.all(Stores, stores)
  const [read] = yield* ingest.all(Reads, lastReads)
  const facts: Facts = {
    contents: [
      { count: listings?.stores ?? 0, what: "stores" },
      { count: read?.complete ?? 0, what: "read completely" },
      { count: listings?.listed ?? 0, what: "listed products" }
    ],
    // no limit here: one store can be read while others fail; the last read of the pipeline decides what is late
    newest: [{ what: "read of a store", on: read?.fetched_at ?? null, late_after: null }]
  }
  return facts
})

/** For a data set without a reader of its own: the row counts of its tables, and its newest day. */
const readRowsAndDay = ({ about, tables }: DataSet) =>
  Effect.fnUntraced(function* (db: DuckDb["Service"], ingest: DuckDb["Service"]) {
    const { day, table } = about.newest
    const contents = yield* Effect.forEach(tables, ({ name, schema }) =>
      Effect.map(db.all(Rows, `select count(*)::integer as rows from ${schema}.${name}`), ([row]) => ({
        count: row?.rows ?? 0,
        what: `rows in ${name}`
      }))
    )
    const from = table.startsWith("ingest.") ? ingest : db
    const [newest] = yield* from.all(NewestDay, `select (${day})::varchar as day from ${table}`)
    const facts: Facts = { contents, newest: [{ what: "day", on: newest?.day ?? null, late_after: null }] }
    return facts
  })
const Rows = Schema.Struct({ rows: Schema.Int })
const NewestDay = Schema.Struct({ day: Schema.NullOr(Schema.String) })

const readers = new Map<string, ReturnType<typeof readRowsAndDay>>([
  ["commodities", commodities],
  ["branded-foods", brandedFoods],
  ["storefronts", storefronts]
])

const all = dataSets.map((dataSet) => {
  const { pipeline, title } = dataSet.about
  return { title, pipeline, read: readers.get(pipeline) ?? readRowsAndDay(dataSet) }
})

export const pipelineNames: ReadonlyArray<string> = all.map(({ pipeline }) => pipeline)
/** `Branded foods` for `branded-foods`. */
export const pipelineTitle = (name: string): string => all.find(({ pipeline }) => pipeline === name)?.title ?? name

const noFacts: Facts = { contents: [], newest: [] }

/** In the order of the pages. A hundred thousand readings take 7 ms. */
export const readContents = ({ dataSet, ingest }: Pick<Generation<ReadModel>, "dataSet" | "ingest">) =>
  Effect.forEach(all, ({ pipeline, read, title }) => {
    const db = dataSet(pipeline)
    return Effect.map(
      db === undefined ? Effect.succeed(noFacts) : read(db, ingest),
      (facts): DataSetContents => ({ title, pipeline, isLoaded: db !== undefined, ...facts })
    )
  })
