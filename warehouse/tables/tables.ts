/**
 * The tables of the warehouse. Each has an SQL file, a record that describes its columns, and a rule for merging a
 * run's rows into it. A data set is one schema; a pipeline publishes exactly one.
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
import {
  CommodityProductRow,
  Coverage,
  MetricRow,
  Price,
  PriceVersion,
  SeriesRow
} from "@larder/schemas/commodity/tables.ts"
import {
  CollectionListingRow,
  CollectionProductRow,
  CollectionRow,
  LastSeenRow,
  ListingRow,
  ProductCategoryRow,
  SightingRow,
  StoreProductRow,
  StoreRow,
  StoreStatusRow,
  VariantChangeRow,
  VariantRow
} from "@larder/schemas/storefront/tables.ts"
import type { Effect, FileSystem, Path, Schema } from "effect"
import { completedLabel } from "../branded-foods/completed-label.ts"
import type { Cell, DuckDb } from "../duckdb.ts"
import { buildFoods } from "../search/build/build.ts"
import { type KnownStores, lastSeen } from "../storefronts/last-seen.ts"
import { reconcileReads } from "../storefronts/reconcile.ts"
import { type About, aboutBrandedFoods, aboutCommodities, aboutStorefronts } from "./about.ts"

/**
 * A table whose rows belong to rows of another table. It is merged by adding, directly after its owner. `of` is the SQL
 * condition under which a row `o` belongs to the owner's row `t`.
 */
export interface Owned {
  readonly table: Table
  readonly of: string
}

/** How the rows that a run staged are merged. */
export type Merge =
  /** Rows are only added. A row whose key exists already is not new. */
  | { readonly by: "adding"; readonly key: ReadonlyArray<string> }
  /**
   * A row replaces the row with the same key. It is new if it differs in any column except `run_id` and the `ignoring`
   * ones, or in the rows that it owns. The owned rows that are staged with it replace the earlier ones.
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
   * A row is combined with the live row of the same key. `completed` gives the value of a column, as SQL over the
   * staged row `s` and the live row `l`; without it, the staged value is used. The result is new if it differs from the
   * live row in any column except the `ignoring` ones. `key` is one whole number.
   */
  | {
      readonly by: "completing"
      readonly key: string
      readonly ignoring: ReadonlyArray<string>
      readonly completed: (column: string) => string | undefined
    }
  /** Never staged: rebuilt from the other tables whenever one of them has changed. */
  | { readonly by: "deriving"; readonly from: string }

export interface Table {
  readonly schema: string
  readonly name: string
  readonly record: Schema.Struct<Schema.Struct.Fields>
  readonly ddl: string
  readonly merge: Merge
  /** For tables whose rows stay: the column that dates a row. The lake splits large tables by its months. */
  readonly history?: string
}

export interface View {
  readonly schema: string
  readonly name: string
  /** Absent for macros, which have no columns of their own to describe. */
  readonly record?: Schema.Struct<Schema.Struct.Fields>
  readonly ddl: string
}

/** Sidecar files of a data set's database: published with it, and never changed. */
interface SidecarFiles {
  /** Writes them into a folder that does not exist yet. Nothing else uses the database meanwhile. */
  readonly build: (
    db: DuckDb["Service"],
    folder: string
  ) => Effect.Effect<void, Error, FileSystem.FileSystem | Path.Path>
}

export interface DataSet {
  readonly schema: string
  /** Increases whenever the definition of its tables or of its sidecar files changes. */
  readonly version: number
  readonly about: About
  readonly tables: ReadonlyArray<Table>
  /** Defined after the tables, in this order. */
  readonly views: ReadonlyArray<View>
  /** Views that also read `ingest`, because they depend on runs. Defined after the other views, in this order. */
  readonly viewsOverIngest?: ReadonlyArray<View>
  /** Sidecar files, made only from its database. */
  readonly files?: SidecarFiles
  /**
   * Statements for the staging file before its tables are merged, for a data set whose reads must be reconciled with
   * the live rows. No other run of the pipeline publishes meanwhile.
   */
  readonly reconcile?: (stores: KnownStores) => ReadonlyArray<string>
  /** Counts the payload rows behind the staged rows: all that were stated or, after the reduction, the new ones. */
  readonly countStatedRows: string
}

const sqlOf = (schema: string, name: string) =>
  readFileSync(new URL(`./${schema}/${name}.sql`, import.meta.url), "utf8").trim()

export const table = (
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
export const view = (schema: string, name: string, record?: Schema.Struct<Schema.Struct.Fields>): View => ({
  schema,
  name,
  ddl: sqlOf(schema, name),
  ...(record === undefined ? {} : { record })
})

export const productTable = table("commodity", "product", CommodityProductRow, { by: "replacing all" })
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
  reconcile: reconcileReads,
  countStatedRows: `
    select (
      (select coalesce(sum(source_rows), 0) from storefront.product) + (select count(*) from storefront.collection)
    )::integer as rows`
}

/** All views of a data set, in the order in which they are defined. */
export const viewsOf = ({ views, viewsOverIngest = [] }: DataSet): ReadonlyArray<View> => [...views, ...viewsOverIngest]

export type Records = ReadonlyArray<Readonly<Record<string, Cell>>>

/**
 * Cells for the appender, in the order of the table's columns. A column that a record omits takes its value from
 * `otherwise`, or null.
 */
export const cellsOf = (
  table: Table,
  records: Records,
  otherwise: Records[number] = {}
): ReadonlyArray<ReadonlyArray<Cell>> => {
  const columns = Object.keys(table.record.fields)
  return records.map((record) => columns.map((column) => record[column] ?? otherwise[column] ?? null))
}

/** Every data set that a warehouse can hold. */
export const dataSets: ReadonlyArray<DataSet> = [commodity, brandedFood, storefront]
