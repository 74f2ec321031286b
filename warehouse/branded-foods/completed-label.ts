/**
 * Merges two rows of one label: `s`, which is being added, and the existing `l`. A later release overrides an earlier one,
 * including values that it no longer states; columns that its form cannot state keep their values. Reading a form again,
 * with another mapping or reissued under the same date, overrides in the same way. Within one release the JSON form takes
 * precedence, and each form fills the gaps of the other. So the order of loading does not matter. A value that both forms
 * of a release state is only cleared by reading both again in one run.
 *
 * The gaps of a row with rejected parts are all filled from the other row, even with values that its release omits, because
 * which parts were rejected is not known. Only then does the order of loading matter, if there are several other releases.
 */
import { firstOwnAmount, labelColumns } from "./nutrition.ts"

type Row = "s" | "l"

const soleForm: Readonly<Record<string, "json" | "csv">> = {
  gpc_class_code: "json",
  caffeine_statement: "json",
  footnote: "json",
  ...Object.fromEntries(labelColumns.map((column) => [column, "json" as const])),
  earlier_versions: "json",
  daily_values: "csv",
  not_a_significant_source_of: "csv"
}

const canState = (row: Row, column: string) => {
  const form = soleForm[column]
  return form === undefined ? "true" : `${row}.form <> '${form === "json" ? "csv" : "json"}'`
}

/** A label from food.csv alone lacks the values of branded_food.csv, so it is never later. */
const isLater = (row: Row, other: Row) => `(
  coalesce(${row}.release_on > ${other}.release_on, false)
  and not list_contains(${row}.quality_flags, 'label_row_missing')
)`

const isSameRelease = "s.release_on is not distinct from l.release_on"

/** Whether `s` is the same release as `l`, read again in one of these forms, and not less complete than `l`. */
const isReread = (forms: string) => `(
  ${isSameRelease}
  and s.form in (${forms}, 'both')
  and (not list_contains(s.quality_flags, 'label_row_missing') or list_contains(l.quality_flags, 'label_row_missing'))
)`

const isRestated = (column: string) => isReread(soleForm[column] === undefined ? "l.form" : `'${soleForm[column]}'`)

/** Whether `s` takes precedence over `l` if both state a value. */
const isPreferred = `if(
  ${isSameRelease},
  s.form <> 'csv' or l.form = 'csv',
  coalesce(s.release_on > l.release_on, s.release_on is not null)
)`

const preferredValue = (column: string) =>
  `if(${isPreferred}, coalesce(s.${column}, l.${column}), coalesce(l.${column}, s.${column}))`

/** The label's own amounts belong together: all come from the preferred row, or from the other if that has none. */
const fromOneRow = (column: string) => `if(
  if(${isPreferred}, ${firstOwnAmount("s")} is not null, ${firstOwnAmount("l")} is null),
  s.${column},
  l.${column}
)`

/** An empty list counts as missing, unless the form is read again. Null means that the files have no such list. */
const preferFilled = (column: string) => `case
  when ${isRestated(column)} then coalesce(s.${column}, l.${column})
  when ${isPreferred} then if(len(s.${column}) > 0 or l.${column} is null, s.${column}, l.${column})
  else if(len(l.${column}) > 0 or s.${column} is null, l.${column}, s.${column})
end`

/** The rule for most columns. `fallback` is the value if neither row overrides the other. */
const merge = (column: string, fallback: string) => `case
  when ${isRestated(column)} then s.${column}
  when ${isLater("s", "l")} and ${canState("s", column)} then s.${column}
  when ${isLater("l", "s")} and ${canState("l", column)} then l.${column}
  else ${fallback}
end`

const hasRejectedPart = (row: Row) => `list_contains(${row}.quality_flags, 'part_rejected')`

/**
 * A condition for each row: it takes precedence in a column that its form can state, and may lack something there because a
 * part of it was rejected.
 */
const mayLack = (column: string): Readonly<Record<Row, string>> => {
  const prevails = `(${isRestated(column)} or ${isPreferred})`
  return {
    s: `${hasRejectedPart("s")} and ${canState("s", column)} and ${prevails}`,
    l: `${hasRejectedPart("l")} and ${canState("l", column)} and not ${prevails}`
  }
}

/** The merged list, completed by `complete` if the prevailing row may lack something. */
const completeList = (column: string, merged: string, complete: (prevailing: Row, other: Row) => string) => {
  const lacking = mayLack(column)
  return `case
    when s.${column} is null and l.${column} is null then null
    when ${lacking.s} then ${complete("s", "l")}
    when ${lacking.l} then ${complete("l", "s")}
    else ${merged}
  end`
}

const entriesOf = (row: Row, column: string, isKept: string) =>
  `list_filter(coalesce(${row}.${column}, []), lambda entry: ${isKept})`

/** Whether a row has an amount of the entry's nutrient. An entry without an amount never wins over one with. */
const hasAmount = (row: Row) =>
  `list_contains(list_transform(
    list_filter(coalesce(${row}.nutrients, []), lambda stated: stated.amount is not null), lambda stated: stated.nutrient_id
  ), entry.nutrient_id)`
const hasNutrient = (row: Row) =>
  `list_contains(list_transform(coalesce(${row}.nutrients, []), lambda stated: stated.nutrient_id), entry.nutrient_id)`

/** Entries of nutrients of both rows, sorted by nutrient; those of one nutrient stay in their order. */
const completeNutrients = (column: string) => (prevailing: Row, other: Row) => {
  const isReplaced = `${hasAmount(other)} and not ${hasAmount(prevailing)}`
  const entries = `list_concat(
    ${entriesOf(prevailing, column, `not (${isReplaced})`)},
    ${entriesOf(other, column, `(${isReplaced}) or not ${hasNutrient(prevailing)}`)}
  )`
  return `list_transform(
    list_sort(list_transform(${entries}, lambda entry, place: {'id': entry.nutrient_id, 'place': place, 'entry': entry})),
    lambda sorted: sorted.entry
  )`
}

const nutrients = completeList("nutrients", preferFilled("nutrients"), completeNutrients("nutrients"))

/** The label's own amounts are per serving. */
const hasSameServing =
  "s.serving_size is not distinct from l.serving_size and s.serving_size_unit is not distinct from l.serving_size_unit"
const mergeOwnAmount = (column: string) => {
  const lacking = mayLack(column)
  return `coalesce(${merge(column, fromOneRow(column))}, case
    when not (${hasRejectedPart("s")} or ${hasRejectedPart("l")}) then null
    when ${lacking.s} and ${hasSameServing} then l.${column}
    when ${lacking.l} and ${hasSameServing} then s.${column}
  end)`
}

const isRowMissing = (row: Row) => `list_contains(${row}.quality_flags, 'label_row_missing')`

/** Flags of amounts, which amounts from another row bring with them. */
const amountFlags =
  "['nutrient_twice', 'energy_impossible', 'mass_impossible', 'amount_impossible', 'part_exceeds_whole', 'amount_negative']"

/** The flags of a row, and those of the other one for the values that it lacks. */
const completeFlags = (row: Row, other: Row) => `if(
  ${hasRejectedPart(row)} or ${isRowMissing(row)},
  list_concat(${row}.quality_flags, list_filter(${other}.quality_flags, lambda flag:
    not list_contains(${row}.quality_flags, flag)
    and if(list_contains(${amountFlags}, flag), ${hasRejectedPart(row)}, ${isRowMissing(row)})
  )),
  ${row}.quality_flags
)`

const without = (flags: string, flag: string, isWrong: string) => `case
  when list_contains(${flags}, '${flag}') and ${isWrong} then list_filter(${flags}, lambda flag: flag <> '${flag}')
  else ${flags}
end`

/** Nearly all labels have no flag. */
const mergeFlags = () => {
  const flags = `if(${isPreferred}, ${completeFlags("s", "l")}, ${completeFlags("l", "s")})`
  const withRows = without(flags, "label_row_missing", `not (${isRowMissing("s")} and ${isRowMissing("l")})`)
  return `case
    when len(s.quality_flags) = 0 and len(l.quality_flags) = 0 then s.quality_flags
    else ${without(withRows, "no_nutrients", `len(${nutrients}) > 0`)}
  end`
}

const rules: Readonly<Record<string, string>> = {
  nutrients,
  attributes: completeList("attributes", preferFilled("attributes"), (prevailing, other) => {
    const isMissing = `not list_contains(coalesce(${prevailing}.attributes, []), entry)`
    return `list_concat(coalesce(${prevailing}.attributes, []), ${entriesOf(other, "attributes", isMissing)})`
  }),
  daily_values: completeList(
    "daily_values",
    merge("daily_values", preferredValue("daily_values")),
    completeNutrients("daily_values")
  ),
  release_on: "greatest(s.release_on, l.release_on)",
  ...Object.fromEntries(labelColumns.map((column) => [column, mergeOwnAmount(column)])),
  form: `case
    when ${isLater("s", "l")} or s.form = l.form then s.form
    when ${isLater("l", "s")} then l.form
    else 'both'
  end`,
  quality_flags: mergeFlags()
}

/** Columns that describe the run: the row being added keeps its own values. */
const runColumns = ["fdc_id", "source_rows", "fetched_at", "run_id", "raw_sha256"]

/** The merged value of a column, as SQL over `s` and `l`; undefined for columns that are not merged. */
export const mergeLabelColumn = (column: string): string | undefined => {
  if (runColumns.includes(column)) return undefined
  return rules[column] ?? merge(column, preferredValue(column))
}
