/**
 * Decides whether a staged form is plausible as a form of a release. Single unreadable values only reject their rows. A
 * key that no record has, or a field without any readable value, was renamed or has changed its meaning. A form without
 * it would replace known values with less.
 */

import { type DuckDb, firstOwnAmount } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { Form } from "../source/fetch-release.ts"

export class FormUnlikely extends Schema.TaggedError<FormUnlikely>()("FormUnlikely", {
  release: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `${this.release} ${this.problem}.`
  }
}

/** Keys of a JSON record, with the column that each fills. In every release, most records have these keys. */
const usualKeys = {
  foodNutrients: "nutrients",
  publicationDate: "published_on",
  brandOwner: "brand_owner",
  gtinUpc: "upc",
  ingredients: "ingredients",
  servingSize: "serving_size",
  servingSizeUnit: "serving_size_unit",
  householdServingFullText: "household_serving_text",
  brandedFoodCategory: "category",
  dataSource: "data_source",
  modifiedDate: "modified_on",
  availableDate: "available_on"
} as const

/** Every record has these. In a form with few records, the other keys may be missing by chance. */
const alwaysThere: ReadonlyArray<string> = ["foodNutrients", "publicationDate"]
const fewRecords = 100

/**
 * Fields whose values are validated, by the names that rejects use, with the column that each fills. `labelNutrients`
 * fills fifteen columns, which count as one.
 */
const checkedFields = {
  foodNutrients: "nutrients",
  nutrient_id: "nutrients",
  amount: "nutrients",
  percent_daily_value: "daily_values",
  servingSize: "serving_size",
  serving_size: "serving_size",
  publicationDate: "published_on",
  publication_date: "published_on",
  availableDate: "available_on",
  available_date: "available_on",
  modifiedDate: "modified_on",
  modified_date: "modified_on",
  discontinuedDate: "discontinued_on",
  discontinued_date: "discontinued_on",
  trade_channel: "trade_channels",
  labelNutrients: "own_amounts"
} as const

/** Unreadable values of a field are not isolated errors if there are this many, or as many as labels. */
const fewValues = 10

const columns = [...new Set<string>([...Object.values(usualKeys), ...Object.values(checkedFields)])]
/** How to count a column for which "not null" is not enough. */
const countedOf: Readonly<Record<string, string>> = {
  nutrients: "if(len(nutrients) > 0, 1, null)",
  trade_channels: "if(len(trade_channels) > 0, 1, null)",
  own_amounts: firstOwnAmount()
}

/** The number of labels in the form, and how many of them state each column. */
const statedIn = `
  select count(*)::integer as labels,
    ${columns.map((column) => `count(${countedOf[column] ?? column})::integer as ${column}`).join(", ")},
    count(nutrients)::integer as has_nutrients
  from branded_food.food`
const Stated = Schema.Record(Schema.String, Schema.Int)

const hasAmounts = `
  select 1 as rows from branded_food.food
  where len(list_filter(nutrients, lambda stated: stated.amount is not null)) > 0
  limit 1`
const Found = Schema.Struct({ rows: Schema.Int })

/**
 * A reason may name several fields: `serving_size in branded_food.csv is "x", which is not a size; …`. Every row of a
 * refused label carries the reason, so only the row of food.csv is counted.
 */
const rejectedFields = `
  select field, count(*)::integer as rows, min(reason) as example
  from (
    select unnest(regexp_extract_all(reason, '(?:^|; |refused: |one of )([A-Za-z_]+)[A-Za-z.]*(?: in [a-z_]+[.]csv)? (?:is|has)', 1)) as field, reason
    from ingest.reject
    where (feed = $feed or starts_with(feed, $feed || '/'))
      and (not starts_with(reason, 'its label was refused') or feed like '%/food.csv')
  )
  group by field`
const Rejected = Schema.Struct({ field: Schema.String, rows: Schema.Int, example: Schema.String })

const firstReject = `
  select 1 as rows, if(feed like '%.csv', 'record ', 'line ') || position || ': ' || reason as example, feed as field
  from ingest.reject where feed = $feed or starts_with(feed, $feed || '/') order by position limit 1`

const columnOf: ReadonlyMap<string, string> = new Map(Object.entries({ ...usualKeys, ...checkedFields }))

/** CSV files of the release, except food.csv, that are present and have no usable row. */
const unreadableFiles = `
  select regexp_extract(feed, '[a-z_.]+$') as field, count(*)::integer as rows, arg_min('record ' || position || ': ' || reason, position) as example
  from ingest.reject
  where (feed = $feed || '/branded_food.csv' and not exists (from release.branded_food))
    or (feed = $feed || '/food_nutrient.csv' and not exists (from release.food_nutrient))
    or (feed = $feed || '/food_attribute.csv' and not exists (from release.food_attribute))
  group by feed`

/** Fails if the staged form cannot be trusted. The table of labels must hold only this form. */
export const checkForm = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  { form, feed }: { readonly form: Form; readonly feed: string },
  released_on: string | null
) {
  const release = released_on === null ? "The release" : `The release ${released_on}`
  const unlikely = (problem: string) => new FormUnlikely({ release, problem })
  const [stated = {}] = yield* db.all(Stated, statedIn)
  const { labels = 0 } = stated
  if (labels === 0) {
    const [example] = yield* db.all(Rejected, firstReject, { feed })
    const why = example === undefined ? "it is empty" : `all of its rows were rejected, such as ${example.example}`
    return yield* unlikely(`holds no label: ${why}`)
  }
  const [unreadable] = form === "csv" ? yield* db.all(Rejected, unreadableFiles, { feed }) : []
  if (unreadable !== undefined) {
    return yield* unlikely(`has no row in ${unreadable.field} that can be read, such as ${unreadable.example}`)
  }
  for (const { example, field, rows } of yield* db.all(Rejected, rejectedFields, { feed })) {
    const column = columnOf.get(field)
    const isMany = rows >= fewValues || rows >= Math.max(2, labels)
    if (column !== undefined && stated[column] === 0 && isMany) {
      return yield* unlikely(`has no ${field} that can be read, of ${rows} that it states: ${example}`)
    }
  }
  if (form === "json") {
    const missing = Object.entries(usualKeys).filter(
      ([key, column]) =>
        stated[key === "foodNutrients" ? "has_nutrients" : column] === 0 &&
        (labels >= fewRecords || alwaysThere.includes(key))
    )
    if (missing.length > 0) {
      return yield* unlikely(`has no ${missing.map(([key]) => key).join(", ")} in any of its ${labels} records`)
    }
  }
  const isWithoutAmounts = (stated.nutrients ?? 0) > 0 && (yield* db.all(Found, hasAmounts)).length === 0
  if (isWithoutAmounts) return yield* unlikely("states nutrients, and no amount of any")
})
