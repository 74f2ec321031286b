/**
 * Decides whether a staged form is plausible. A key that no record has, or a field without any readable value, was renamed
 * or has changed its meaning, and loading the form would remove known values.
 */
import { type DuckDb, firstOwnAmount } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { keyColumns } from "../decode/json/keys.ts"
import type { ReleaseForm } from "../source/fetch-release.ts"

export class ImplausibleForm extends Schema.TaggedError<ImplausibleForm>()("ImplausibleForm", {
  release: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `${this.release} ${this.problem}.`
  }
}

/** Keys that most JSON records have in every release. */
const usualKeys = [
  "foodNutrients",
  "publicationDate",
  "brandOwner",
  "gtinUpc",
  "ingredients",
  "servingSize",
  "servingSizeUnit",
  "householdServingFullText",
  "brandedFoodCategory",
  "dataSource",
  "modifiedDate",
  "availableDate"
]

/** Every record has these. In a form with few records, the other keys may be missing by chance. */
const requiredKeys: ReadonlyArray<string> = ["foodNutrients", "publicationDate"]
const minRecords = 100

/** Other validated fields, by their names in rejects, with their columns. The fifteen own amounts count as one column. */
const checkedFields = {
  nutrient_id: "nutrients",
  amount: "nutrients",
  percent_daily_value: "daily_values",
  serving_size: "serving_size",
  publication_date: "published_on",
  available_date: "available_on",
  modified_date: "modified_on",
  discontinuedDate: "discontinued_on",
  discontinued_date: "discontinued_on",
  trade_channel: "trade_channels",
  labelNutrients: "own_amounts"
}

/** At least this many unreadable values of a field, or at least two and as many as labels, are not isolated errors. */
const minRejectedValues = 10

const columnsByField: ReadonlyMap<string, string> = new Map([
  ...usualKeys.map((key) => [key, keyColumns[key] ?? "nutrients"] as const),
  ...Object.entries(checkedFields)
])
const columns = [...new Set(columnsByField.values())]
/** What is counted in columns that may be empty without being null. */
const countedValues: Readonly<Record<string, string>> = {
  nutrients: "if(len(nutrients) > 0, 1, null)",
  trade_channels: "if(len(trade_channels) > 0, 1, null)",
  own_amounts: firstOwnAmount()
}

const countValues = `
  select count(*)::integer as labels,
    ${columns.map((column) => `count(${countedValues[column] ?? column})::integer as ${column}`).join(", ")},
    count(nutrients)::integer as has_nutrients
  from branded_food.food`
const Counts = Schema.Record(Schema.String, Schema.Int)

const hasAmounts = `
  select 1 as rows from branded_food.food
  where len(list_filter(nutrients, lambda nutrient: nutrient.amount is not null)) > 0
  limit 1`

/**
 * A reason may name several fields: `serving_size in branded_food.csv is "x", which is not a size; …`. Every row of a
 * rejected label has the reason, so only the row of food.csv is counted.
 */
const rejectedFields = `
  select field, count(*)::integer as rows, min(reason) as example
  from (
    select unnest(regexp_extract_all(reason, '(?:^|; |rejected: |one of )([A-Za-z_]+)[A-Za-z.]*(?: in [a-z_]+[.]csv)? (?:is|has)', 1)) as field, reason
    from ingest.reject
    where (feed = $feed or starts_with(feed, $feed || '/'))
      and (not starts_with(reason, 'its label was rejected') or feed like '%/food.csv')
  )
  group by field`
const Rejected = Schema.Struct({ field: Schema.String, rows: Schema.Int, example: Schema.String })

const firstReject = `
  select 1 as rows, if(feed like '%.csv', 'record ', 'line ') || position || ': ' || reason as example, feed as field
  from ingest.reject where feed = $feed or starts_with(feed, $feed || '/') order by position limit 1`

/** CSV files, except food.csv, that have rows but no usable one. */
const unreadableFiles = `
  select regexp_extract(feed, '[a-z_.]+$') as field, count(*)::integer as rows, arg_min('record ' || position || ': ' || reason, position) as example
  from ingest.reject
  where (feed = $feed || '/branded_food.csv' and not exists (from release.branded_food))
    or (feed = $feed || '/food_nutrient.csv' and not exists (from release.food_nutrient))
    or (feed = $feed || '/food_attribute.csv' and not exists (from release.food_attribute))
  group by feed`

/** Fails if the staged form cannot be trusted. The table of labels must contain only this form. */
export const checkForm = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  { form, feed }: { readonly form: ReleaseForm; readonly feed: string },
  released_on: string | null
) {
  const release = released_on === null ? "The release" : `The release ${released_on}`
  const implausible = (problem: string) => new ImplausibleForm({ release, problem })
  const [counts = {}] = yield* db.all(Counts, countValues)
  const { labels = 0 } = counts
  if (labels === 0) {
    const [example] = yield* db.all(Rejected, firstReject, { feed })
    const reason = example === undefined ? "it is empty" : `all rows were rejected. For example, ${example.example}`
    return yield* implausible(`contains no valid label: ${reason}`)
  }
  const [unreadable] = form === "csv" ? yield* db.all(Rejected, unreadableFiles, { feed }) : []
  if (unreadable !== undefined) {
    return yield* implausible(`has no readable row in ${unreadable.field}. For example, ${unreadable.example}`)
  }
  for (const { example, field, rows } of yield* db.all(Rejected, rejectedFields, { feed })) {
    const column = columnsByField.get(field)
    const isSystematic = rows >= minRejectedValues || rows >= Math.max(2, labels)
    if (column !== undefined && counts[column] === 0 && isSystematic) {
      return yield* implausible(`has no readable ${field}. ${rows} values were rejected. For example, ${example}`)
    }
  }
  if (form === "json") {
    const missing = usualKeys.filter(
      (key) => counts[keyColumns[key] ?? "has_nutrients"] === 0 && (labels >= minRecords || requiredKeys.includes(key))
    )
    if (missing.length > 0) {
      return yield* implausible(`has no ${missing.join(", ")} in any of its ${labels} records`)
    }
  }
  if (counts.nutrients === 0) return
  const [amount] = yield* db.all(Counts, hasAmounts)
  if (amount === undefined) return yield* implausible("has nutrients, but no amount of any")
})
