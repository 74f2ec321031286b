/** How much each data set holds, and how old its newest facts are. */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import type { RunRecord } from "@larder/warehouse/generation/journal.ts"
import { Effect, Schema } from "effect"

/** A number of things, such as 24 series. */
export interface Holding {
  readonly count: number
  readonly what: string
}
/** The newest fact of a kind: a day, or a moment as ISO text. */
export interface Newest {
  readonly what: string
  readonly on: string | null
}
interface Facts {
  readonly holds: ReadonlyArray<Holding>
  readonly newest: ReadonlyArray<Newest>
}
/** A data set as a generation holds it. */
export interface DataSetFacts extends Facts {
  readonly title: string
  readonly pipeline: string
  readonly isLoaded: boolean
}
export interface DataSetState extends DataSetFacts {
  readonly last_run: RunRecord | undefined
  /** The newest run that read its source completely, new rows or not. */
  readonly last_read: RunRecord | undefined
}

const Commodities = Schema.Struct({
  series: Schema.Int,
  metrics: Schema.Int,
  readings: Schema.Int,
  daily: Schema.NullOr(Schema.String),
  weekly: Schema.NullOr(Schema.String),
  monthly: Schema.NullOr(Schema.String)
})
/** By rhythm: a monthly price that is three weeks old is fresh, a daily one is not. */
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
      holds: [
        { count: row?.series ?? 0, what: "series" },
        { count: row?.metrics ?? 0, what: "metrics" },
        { count: row?.readings ?? 0, what: "published values" }
      ],
      newest: [
        { what: "daily reading", on: row?.daily ?? null },
        { what: "weekly reading", on: row?.weekly ?? null },
        { what: "monthly reading", on: row?.monthly ?? null }
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
      holds: [
        { count: row?.labels ?? 0, what: "label versions" },
        { count: row?.categories ?? 0, what: "categories" }
      ],
      newest: [{ what: "release", on: row?.release_on ?? null }]
    })
  )

const Stores = Schema.Struct({
  stores: Schema.Int,
  complete: Schema.Int,
  listed: Schema.Int,
  fetched_at: Schema.NullOr(Schema.String)
})
const storefronts = (db: DuckDb["Service"]) =>
  Effect.map(
    db.all(
      Stores,
      `select count(*)::integer as stores, count(*) filter (where fetch_status = 'complete')::integer as complete,
         (select count(*) from storefront.listing)::integer as listed,
         strftime(max(fetched_at), '%Y-%m-%dT%H:%M:%S.%gZ') as fetched_at
       from storefront.store`
    ),
    ([row]): Facts => ({
      holds: [
        { count: row?.stores ?? 0, what: "stores" },
        { count: row?.complete ?? 0, what: "read completely" },
        { count: row?.listed ?? 0, what: "listed products" }
      ],
      newest: [{ what: "read of a store", on: row?.fetched_at ?? null }]
    })
  )

const all = [
  { name: "commodities", title: "Commodities", pipeline: "commodities", read: commodities },
  { name: "branded_foods", title: "Branded foods", pipeline: "branded-foods", read: brandedFoods },
  { name: "storefronts", title: "Storefronts", pipeline: "storefronts", read: storefronts }
] as const

export const pipelines: ReadonlyArray<string> = all.map(({ pipeline }) => pipeline)

const nothing: Facts = { holds: [], newest: [] }

/** What a generation holds, in the order of the pages. A hundred thousand readings take 7 ms. */
export const factsOf = (db: DuckDb["Service"], loaded: Readonly<Record<string, boolean>>) =>
  Effect.forEach(all, ({ name, pipeline, read, title }) => {
    const isLoaded = loaded[name] === true
    return Effect.map(
      isLoaded ? read(db) : Effect.succeed(nothing),
      (facts): DataSetFacts => ({ title, pipeline, isLoaded, ...facts })
    )
  })
