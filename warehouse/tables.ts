/**
 * The tables of the warehouse: one SQL file each, the record that describes its columns, and how a run's rows are merged
 * into it. A data set is one schema; a pipeline publishes exactly one.
 */
import { readFileSync } from "node:fs"
import {
  CategoryRow,
  CurrentFoodRow,
  DerivationRow,
  FoodRow,
  NutrientAmountRow,
  NutrientRow,
  NutritionRow,
  QualityFlagRow,
  VersionRow
} from "@larder/schemas/branded-food/tables.ts"
import { Coverage, MetricRow, Price, PriceVersion, ProductRow, SeriesRow } from "@larder/schemas/commodity/tables.ts"
import {
  CheckResult,
  Cursor,
  DataSetRow,
  GenerationRow,
  LeftOut,
  RawFile,
  Reject,
  Run,
  StoreReadRow,
  UnknownField
} from "@larder/schemas/ingest.ts"
import {
  CollectionListingRow,
  CollectionProductRow,
  CollectionRow,
  LastSeenRow,
  ListingRow,
  ProductCategoryRow,
  SightingRow,
  ProductRow as StoreProductRow,
  StoreRow,
  StoreStatusRow,
  VariantChangeRow,
  VariantRow
} from "@larder/schemas/storefront/tables.ts"
import type { Effect, FileSystem, Path, Schema } from "effect"
import { type About, aboutBrandedFoods, aboutCommodities, aboutStorefronts } from "./about.ts"
import type { Cell, DuckDb } from "./duckdb.ts"
import { buildFoods } from "./foods/build.ts"
import { completedLabel } from "./foods/completed-label.ts"
import type { KnownStores } from "./storefronts/known.ts"
import { lastSeen } from "./storefronts/last-seen.ts"
import { settleReads } from "./storefronts/settle.ts"

/** Rows of a table that is merged by adding, next after their owner's: which rows `o` are those of a row `t`, as SQL. */
export interface Owned {
  readonly table: Table
  readonly of: string
}

/** What becomes of the rows that a run staged. */
export type Merge =
  /** Rows are only added; a row whose key is there already is nothing new. */
  | { readonly by: "adding"; readonly key: ReadonlyArray<string> }
  /**
   * A row replaces the one of the same key; it is new where it differs in any column but `run_id` and the `ignoring` ones, or
   * in the rows that it owns: those that are staged with it replace those that were there.
   */
  | {
      readonly by: "replacing"
      readonly key: ReadonlyArray<string>
      readonly ignoring?: ReadonlyArray<string>
      readonly owning?: Owned
    }
  /** The staged rows are the whole table. */
  | { readonly by: "replacing all" }
  /**
   * A row and the one of the same key are put together. `completed` says what stands in a column, as SQL over the staged
   * row `s` and the live row `l`; without it the staged value stands. It is new where it differs then in any column but the
   * `ignoring` ones. `key` is one whole number.
   */
  | {
      readonly by: "completing"
      readonly key: string
      readonly ignoring: ReadonlyArray<string>
      readonly completed: (column: string) => string | undefined
    }
  /** Never staged: made anew from the other tables, whenever one of them has changed. */
  | { readonly by: "deriving"; readonly from: string }

export interface Table {
  readonly schema: string
  readonly name: string
  readonly record: Schema.Struct<Schema.Struct.Fields>
  readonly ddl: string
  readonly merge: Merge
  /** Of rows that stay once they are there: the column that tells when they came. The lake splits large ones by its months. */
  readonly history?: string
}

export interface View {
  readonly schema: string
  readonly name: string
  /** Absent for macros, which have no columns of their own to describe. */
  readonly record?: Schema.Struct<Schema.Struct.Fields>
  readonly ddl: string
}

/** Files beside the database of a data set: published with it, and never changed. */
export interface FilesBeside {
  /** Writes them into a folder that is not there yet. Nothing else uses the database meanwhile. */
  readonly build: (
    db: DuckDb["Service"],
    folder: string
  ) => Effect.Effect<void, Error, FileSystem.FileSystem | Path.Path>
}

export interface DataSet {
  readonly schema: string
  /** Counts up whenever its tables, or the files beside them, are defined otherwise than before. */
  readonly version: number
  readonly about: About
  readonly tables: ReadonlyArray<Table>
  /** After the tables, in order. */
  readonly views: ReadonlyArray<View>
  /** Views that need `ingest` beside the tables of the data set: what follows from its runs. After the other views, in order. */
  readonly viewsOverIngest?: ReadonlyArray<View>
  /** Files beside its database, made from it alone. */
  readonly files?: FilesBeside
  /**
   * Statements for the staging file before its tables are merged, where what a run read means something else beside what is
   * there already. Nobody else publishes meanwhile.
   */
  readonly settle?: (stores: KnownStores) => ReadonlyArray<string>
  /** Counts the payload rows that stand behind the staged rows: what a run states, and after the merge what was new. */
  readonly countStatedRows: string
}

const sqlOf = (schema: string, name: string) =>
  readFileSync(new URL(`./tables/${schema}/${name}.sql`, import.meta.url), "utf8").trim()

const table = (
  schema: string,
  name: string,
  record: Schema.Struct<Schema.Struct.Fields>,
  merge: Merge,
  history?: string
): Table => ({
  schema,
  name,
  record,
  ddl: sqlOf(schema, name),
  merge,
  ...(history === undefined ? {} : { history })
})
const view = (schema: string, name: string, record?: Schema.Struct<Schema.Struct.Fields>): View => ({
  schema,
  name,
  ddl: sqlOf(schema, name),
  ...(record === undefined ? {} : { record })
})

/** Of the tables of `ingest`: counts up whenever they are defined otherwise than before. */
export const ingestVersion = 1

/** Written by the publisher itself: the records of the run. */
export const generationTable = table("ingest", "generation", GenerationRow, { by: "adding", key: ["generation"] })
export const runTable = table("ingest", "run", Run, { by: "adding", key: ["run_id"] })
export const checkResultTable = table("ingest", "check_result", CheckResult, { by: "adding", key: ["run_id", "name"] })
export const leftOutTable = table("ingest", "left_out", LeftOut, { by: "adding", key: ["run_id", "feed"] })
/** One row for each data set that is live, written again with each generation. */
export const dataSetTable = table("ingest", "data_set", DataSetRow, { by: "replacing", key: ["pipeline"] })

/** Tables that every pipeline adds to. */
export const rejectTable = table("ingest", "reject", Reject, {
  by: "adding",
  key: ["raw_sha256", "feed", "position", "reason"]
})
/** A payload that is read again, with another mapping or beside other payloads, has only the rejects of that reading. */
export const rawFileTable = table(
  "ingest",
  "raw_file",
  RawFile,
  {
    by: "replacing",
    key: ["raw_sha256", "url", "feed"],
    ignoring: ["fetched_at", "origin"],
    owning: {
      table: rejectTable,
      of: "o.raw_sha256 = t.raw_sha256 and (o.feed = t.feed or starts_with(o.feed, t.feed || '/'))" // a release has its files
    }
  },
  "fetched_at"
)
export const cursorTable = table("ingest", "cursor", Cursor, { by: "replacing", key: ["pipeline", "feed"] })
export const unknownFieldTable = table("ingest", "unknown_field", UnknownField, {
  by: "adding",
  key: ["pipeline", "feed", "field"]
})

/** What changes with every read of a store: apart from the stores, so that a read that finds nothing new leaves them as they are. */
export const storeReadTable = table(
  "ingest",
  "store_read",
  StoreReadRow,
  { by: "adding", key: ["run_id", "store_id"] },
  "read_at"
)

/** What a run stages beside its data. */
export const stagedIngestTables = [rawFileTable, rejectTable, cursorTable, unknownFieldTable, storeReadTable] as const

/** Tables to which each generation adds its records. */
export const recordTables: ReadonlyArray<Table> = [
  generationTable,
  runTable,
  checkResultTable,
  leftOutTable,
  ...stagedIngestTables
]

/** The records of runs that count for the data that is live. */
export const ingestViews: ReadonlyArray<View> = [
  view("ingest", "live_run", Run),
  view("ingest", "live_raw_file", RawFile),
  view("ingest", "live_reject", Reject),
  view("ingest", "live_cursor", Cursor),
  view("ingest", "live_unknown_field", UnknownField),
  view("ingest", "live_store_read", StoreReadRow)
]

export const productTable = table("commodity", "product", ProductRow, { by: "replacing all" })
export const metricTable = table("commodity", "metric", MetricRow, { by: "replacing all" })
export const seriesTable = table("commodity", "series", SeriesRow, { by: "replacing all" })
export const priceVersionTable = table(
  "commodity",
  "price_version",
  PriceVersion,
  { by: "adding", key: ["metric_name", "observed_on", "value_text", "published_at", "is_final"] },
  "published_at"
)

export const commodity: DataSet = {
  schema: "commodity",
  version: 1,
  about: aboutCommodities,
  tables: [productTable, metricTable, seriesTable, priceVersionTable],
  views: [view("commodity", "price", Price), view("commodity", "price_as_of"), view("commodity", "coverage", Coverage)],
  // Two feeds may have received the same bytes; a metric's rolling and final feeds differ in is_final.
  countStatedRows: `
    select count(distinct (raw_sha256, source_row, feed, is_final))::integer as rows
    from commodity.price_version
    join commodity.metric using (metric_name)`
}

export const nutrientTable = table("branded_food", "nutrient", NutrientRow, { by: "replacing", key: ["nutrient_id"] })
export const derivationTable = table("branded_food", "derivation", DerivationRow, {
  by: "replacing",
  key: ["derivation_id"]
})
export const foodTable = table(
  "branded_food",
  "food",
  FoodRow,
  {
    by: "completing",
    key: "fdc_id",
    ignoring: ["source_rows", "form", "release_on", "fetched_at", "run_id", "raw_sha256"],
    completed: completedLabel
  },
  "published_on"
)

export const brandedFood: DataSet = {
  schema: "branded_food",
  version: 1,
  about: aboutBrandedFoods,
  tables: [
    nutrientTable,
    derivationTable,
    foodTable,
    table("branded_food", "version", VersionRow, { by: "deriving", from: sqlOf("branded_food", "versions_of_foods") }),
    table("branded_food", "category", CategoryRow, {
      by: "deriving",
      from: sqlOf("branded_food", "categories_of_foods")
    })
  ],
  views: [
    view("branded_food", "current_food", CurrentFoodRow),
    view("branded_food", "nutrient_amount", NutrientAmountRow),
    view("branded_food", "quality_flag", QualityFlagRow),
    view("branded_food", "per_serving"),
    view("branded_food", "nutrition", NutritionRow)
  ],
  files: { build: buildFoods },
  countStatedRows: "select coalesce(sum(source_rows), 0)::integer as rows from branded_food.food"
}

export const storeTable = table("storefront", "store", StoreRow, { by: "replacing", key: ["store_id"] })
const lastSeenView: View = {
  schema: "storefront",
  name: "last_seen",
  record: LastSeenRow,
  ddl: `create or replace view storefront.last_seen as ${lastSeen({
    known: (name) => `storefront.${name}`,
    knownReads: (name) => `ingest.live_${name}`
  })}`
}

export const storefront: DataSet = {
  schema: "storefront",
  version: 1,
  about: aboutStorefronts,
  tables: [
    storeTable,
    table("storefront", "product", StoreProductRow, {
      by: "replacing",
      key: ["product_id"],
      ignoring: ["source_rows", "fetched_at", "raw_sha256"]
    }),
    table("storefront", "collection", CollectionRow, {
      by: "replacing",
      key: ["collection_id"],
      ignoring: ["fetched_at", "raw_sha256"]
    }),
    table("storefront", "sighting", SightingRow, { by: "replacing", key: ["kind", "id"] }),
    table(
      "storefront",
      "variant_change",
      VariantChangeRow,
      { by: "adding", key: ["variant_id", "seen_at"] },
      "seen_at"
    ),
    table("storefront", "listing", ListingRow, { by: "deriving", from: sqlOf("storefront", "listings_of_stores") }),
    table("storefront", "collection_listing", CollectionListingRow, {
      by: "deriving",
      from: sqlOf("storefront", "collection_listings_of_stores")
    })
  ],
  views: [
    view("storefront", "variant", VariantRow),
    view("storefront", "product_category", ProductCategoryRow),
    view("storefront", "collection_product", CollectionProductRow)
  ],
  viewsOverIngest: [view("storefront", "store_status", StoreStatusRow), lastSeenView],
  settle: settleReads,
  countStatedRows: `
    select (
      (select coalesce(sum(source_rows), 0) from storefront.product) + (select count(*) from storefront.collection)
    )::integer as rows`
}

/** All views of a data set, in the order in which they are defined. */
export const viewsOf = ({ views, viewsOverIngest = [] }: DataSet): ReadonlyArray<View> => [...views, ...viewsOverIngest]

export type Records = ReadonlyArray<Readonly<Record<string, Cell>>>

/** What the appender takes: cells in the order of the table's columns. What a record leaves out is as in `otherwise`, or null. */
export const cellsOf = (
  table: Table,
  records: Records,
  otherwise: Records[number] = {}
): ReadonlyArray<ReadonlyArray<Cell>> => {
  const columns = Object.keys(table.record.fields)
  return records.map((record) => columns.map((column) => record[column] ?? otherwise[column] ?? null))
}

/** The schema `ingest`, which all data sets share. */
export const ingestTables: ReadonlyArray<Table> = [...recordTables, dataSetTable]

/** Every data set that a warehouse can hold. */
export const dataSets: ReadonlyArray<DataSet> = [commodity, brandedFood, storefront]
