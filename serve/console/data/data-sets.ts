/** The size of each data set, and the age of its newest facts. */
import {
  type DataSet,
  type DuckDb,
  dataSets,
  type FreshnessRow,
  type Generation,
  type PipelineState
} from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { ReadModel } from "../../api/index.ts"

/** The date of the newest fact of one type. */
interface NewestFact<Day> {
  readonly what: string
  /** The day represents its whole month. */
  readonly isMonth?: boolean
  readonly date: Day
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
export interface DataSetState extends DataSetContents, PipelineState {
  /** What `ingest.freshness` says about it. */
  readonly freshness: ReadonlyArray<FreshnessRow>
}

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
const commodities: FactSources = {
  contents: [
    ["series", "commodity.series"],
    ["metrics", "commodity.metric"],
    ["published values", "commodity.observation_version"]
  ],
  newest: [
    { what: "daily reading", date: selectNewestReading("daily") },
    { what: "weekly reading", date: selectNewestReading("weekly", "biweekly") },
    { what: "monthly reading", isMonth: true, date: selectNewestReading("monthly", "annual") }
  ]
}

const brandedFoods: FactSources = {
  contents: [
    ["label versions", "branded_food.food"],
    ["categories", "branded_food.category"]
  ],
  newest: [{ what: "release", date: { value: "max(release_on)", from: "branded_food.food" } }]
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
      }
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
  newest: [{ what: "day", date: { value: about.newest.day, from: about.newest.table } }]
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
