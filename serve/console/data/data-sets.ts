/** The size of each data set, and the age of its newest facts. */
import { type DataSet, type DuckDb, dataSets, type Generation, type PipelineState } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { ReadModel } from "../../api/index.ts"

/** The date of the newest fact of one type. */
interface NewestFact<Day> {
  readonly what: string
  /** The day represents its whole month. */
  readonly isMonth?: boolean
  readonly date: Day
  /** Age in days from which it is late; null if the date of the next one is unknown. */
  readonly late_after: number | null
}
/** A data set in a generation. */
export interface DataSetContents {
  readonly title: string
  readonly pipeline: string
  readonly isLoaded: boolean
  /** Counts of items, such as 24 series. */
  readonly contents: ReadonlyArray<{ readonly count: number; readonly what: string }>
  /** `date` is a day, or a time as an ISO string. */
  readonly newest: ReadonlyArray<NewestFact<string | null>>
}
export type DataSetState = DataSetContents & PipelineState

/** An SQL expression, and the tables that it reads. */
interface Source {
  readonly value: string
  readonly from: string
}
interface FactSources {
  /** Counts of the rows of these tables. */
  readonly contents: ReadonlyArray<readonly [what: string, from: string]>
  readonly newest: ReadonlyArray<NewestFact<Source>>
}

const selectNewestReading = (...frequencies: ReadonlyArray<string>): Source => ({
  value: "max(observed_on)",
  from: `commodity.observation_version join commodity.metric using (metric_name)
    where frequency in (${frequencies.map((frequency) => `'${frequency}'`)})`
})
/** `late_after` is the longest time that a reading stays the newest, plus some slack. */
const commodities: FactSources = {
  contents: [
    ["series", "commodity.series"],
    ["metrics", "commodity.metric"],
    ["published values", "commodity.observation_version"]
  ],
  newest: [
    // over a long weekend, Friday's close stays the newest until Tuesday
    { what: "daily reading", date: selectNewestReading("daily"), late_after: 5 },
    // a week ends on Saturday and is published by Friday of the next week: 13 days
    { what: "weekly reading", date: selectNewestReading("weekly", "biweekly"), late_after: 14 },
    // the newest is a Class I price, announced before its month begins: 25 days, plus 20 of slack
    { what: "monthly reading", isMonth: true, date: selectNewestReading("monthly", "annual"), late_after: 45 }
  ]
}

const brandedFoods: FactSources = {
  contents: [
    ["label versions", "branded_food.food"],
    ["categories", "branded_food.category"]
  ],
  // about two releases a year, on unannounced days
  newest: [{ what: "release", date: { value: "max(release_on)", from: "branded_food.food" }, late_after: null }]
}

const storefronts: FactSources = {
  contents: [
    ["stores", "storefront.store"],
    [
      "read completely",
      `(
        select arg_max(fetch_status, (read_at, run_id)) as last_status from ingest.live_store_read group by store_id
      ) where last_status = 'complete'`
    ],
    ["listed products", "storefront.listing"]
  ],
  newest: [
    {
      what: "read of a store",
      date: {
        value: "strftime(max(read_at), '%Y-%m-%dT%H:%M:%S.%gZ')",
        from: "ingest.live_store_read where fetch_status <> 'failed'"
      },
      late_after: null // one store can be read while others fail; the last read of the pipeline decides what is late
    }
  ]
}

const factSources = new Map([
  ["commodities", commodities],
  ["branded-foods", brandedFoods],
  ["storefronts", storefronts]
])

/** For a data set that is not in `factSources`: the row counts of its tables, and its newest day. */
const listRowsAndDay = ({ about, tables }: DataSet): FactSources => ({
  contents: tables.map(({ name, schema }) => [`rows in ${name}`, `${schema}.${name}`] as const),
  newest: [{ what: "day", date: { value: about.newest.day, from: about.newest.table }, late_after: null }]
})

const Count = Schema.Struct({ count: Schema.Int })
const Newest = Schema.Struct({ date: Schema.NullOr(Schema.String) })

const readFacts = Effect.fnUntraced(function* (
  { contents, newest }: FactSources,
  db: DuckDb["Service"],
  ingest: DuckDb["Service"]
) {
  // the tables of `ingest` are in a separate file
  const chooseDatabase = (from: string) => (from.includes("ingest.") ? ingest : db)
  return {
    contents: yield* Effect.forEach(contents, ([what, from]) =>
      Effect.map(chooseDatabase(from).all(Count, `select count(*)::integer as count from ${from}`), ([row]) => {
        return { count: row?.count ?? 0, what }
      })
    ),
    newest: yield* Effect.forEach(newest, ({ date: { from, value }, ...fact }) =>
      Effect.map(chooseDatabase(from).all(Newest, `select (${value})::varchar as "date" from ${from}`), ([row]) => {
        return { ...fact, date: row?.date ?? null }
      })
    )
  }
})

const dataSetSources = dataSets.map((dataSet) => {
  const { pipeline, title } = dataSet.about
  return { title, pipeline, sources: factSources.get(pipeline) ?? listRowsAndDay(dataSet) }
})

export const pipelineNames: ReadonlyArray<string> = dataSetSources.map(({ pipeline }) => pipeline)
/** `Branded foods` for `branded-foods`. */
export const pipelineTitle = (name: string): string =>
  dataSetSources.find(({ pipeline }) => pipeline === name)?.title ?? name

/** The contents of every data set in a generation. 100,000 readings take 10 ms. */
export const readContents = ({ dataSet, ingest }: Pick<Generation<ReadModel>, "dataSet" | "ingest">) =>
  Effect.forEach(dataSetSources, ({ pipeline, sources, title }) => {
    const db = dataSet(pipeline)
    return Effect.map(
      db === undefined ? Effect.succeed({ contents: [], newest: [] }) : readFacts(sources, db, ingest),
      (facts): DataSetContents => ({ title, pipeline, isLoaded: db !== undefined, ...facts })
    )
  })
