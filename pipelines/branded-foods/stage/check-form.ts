/**
 * Decides whether a staged form is plausible. A key or a required field that no record has, or that has no readable
 * value, was renamed or has changed its meaning, and loading the form would remove known values. Optional fields only
 * cause warnings.
 */
import { type DuckDb, firstOwnAmount } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { thresholds } from "../../run/thresholds.ts"
import { type LabelField, labelFields } from "../label-fields.ts"
import { isSystematic } from "../odd-texts.ts"
import type { ReleaseForm } from "../source/fetch-release.ts"
import { numbersInPlaceOfIds } from "./stated-nutrients.ts"

export class ImplausibleForm extends Schema.TaggedError<ImplausibleForm>()("ImplausibleForm", {
  release: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `${this.release} ${this.problem}.`
  }
}

const stagedFields = Object.entries<LabelField>(labelFields).filter(
  ([column]) => !["fdc_id", "description"].includes(column)
)
const isNeeded = ({ role }: LabelField) => role !== "optional"

/** JSON keys of every release with their columns: of keys and of the substance. */
const neededKeys: ReadonlyArray<readonly [key: string, column: string]> = [
  ["foodNutrients", "has_nutrients"],
  ...stagedFields.flatMap(([column, field]) =>
    isNeeded(field) && field.json !== undefined ? [[field.json, column] as const] : []
  )
]
const usualKeys = stagedFields.flatMap(([column, { isUsual, json }]) =>
  isUsual && json !== undefined ? [[json, column] as const] : []
)
/** Every record has these. In a form with few records, the other keys may be missing by chance. */
const requiredKeys: ReadonlyArray<string> = ["foodNutrients", "publicationDate"]

/** Columns by the names of their fields in rejects. The fifteen own amounts count as one column. */
const columnsByField: ReadonlyMap<string, string> = new Map([
  ...["foodNutrients", "nutrient_id", "amount"].map((name) => [name, "nutrients"] as const),
  ["labelNutrients", "own_amounts"] as const,
  ...stagedFields.flatMap(([column, field]) =>
    isNeeded(field)
      ? [field.json, field.csv?.split(".")[1]].flatMap((name) => (name === undefined ? [] : [[name, column] as const]))
      : []
  )
])
const columns = [...new Set([...columnsByField.values(), ...usualKeys.map(([, column]) => column)])]
/** What is counted in columns that may be empty without being null. */
const countedValues: Readonly<Record<string, string>> = {
  nutrients: "if(len(nutrients) > 0, 1, null)",
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

const numberInPlaceOfId = (form: ReleaseForm) => `
  select stated.nutrient_id || ', the number of nutrient ' || known.nutrient_id || ' (' || known.name || ')' as example
  from (${numbersInPlaceOfIds[form]}) stated join branded_food.nutrient known on known.number = stated.nutrient_id::varchar
  order by stated.nutrient_id
  limit 1`
const Example = Schema.Struct({ example: Schema.String })

/**
 * A reason may name several fields: `serving_size in branded_food.csv is "x", which is not a size; …`. Every row of a
 * rejected label has the reason, so only the row of food.csv is counted.
 */
const rejectedFields = `
  select field, count(*)::integer as rows, min(reason) as example
  from (
    select unnest(regexp_extract_all(reason, '(?:^|; |rejected: )([A-Za-z_]+)[A-Za-z.\\[\\]0-9]*(?: in [a-z_]+[.]csv)? is', 1)) as field, reason
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
  {
    form,
    feed,
    released_on
  }: { readonly form: ReleaseForm; readonly feed: string; readonly released_on: string | null }
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
    if (column !== undefined && counts[column] === 0 && isSystematic(rows, labels)) {
      return yield* implausible(`has no readable ${field}. ${rows} values were rejected. For example, ${example}`)
    }
  }
  if (form === "json") {
    const isWhole = thresholds.recordsWithUsualKeys.isMetBy(labels)
    const listMissing = (keys: typeof neededKeys) =>
      keys.flatMap(([key, column]) => (counts[column] === 0 && (isWhole || requiredKeys.includes(key)) ? [key] : []))
    const missing = listMissing(neededKeys)
    if (missing.length > 0) {
      return yield* implausible(`has no ${missing.join(", ")} in any of its ${labels} records`)
    }
    const absent = listMissing(usualKeys)
    if (absent.length > 0) {
      yield* Effect.logWarning("keys of every earlier release are missing; their values become null").pipe(
        Effect.annotateLogs({ feed, keys: absent })
      )
    }
  }
  const [number] = yield* db.all(Example, numberInPlaceOfId(form))
  if (number !== undefined) {
    const [place, remedy] =
      form === "csv"
        ? ["food_nutrient.csv", ", and its nutrient.csv does not have each of them once, or some are ids"]
        : ["foodNutrients", ""]
    return yield* implausible(
      `has numbers of nutrients in place of ids in ${place}, such as ${number.example}${remedy}. Download it again`
    )
  }
  if (counts.nutrients === 0) return
  const [amount] = yield* db.all(Counts, hasAmounts)
  if (amount === undefined) return yield* implausible("has nutrients, but no amount of any")
})
