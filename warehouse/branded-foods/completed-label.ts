/**
 * Merges two rows of one label: `s`, which is being added, and the existing `l`. A later release overrides an earlier one,
 * including values that it no longer states; columns that its form cannot state keep their values. Reading a form again,
 * with another mapping or reissued under the same date, overrides in the same way. Within one release the JSON form takes
 * precedence, and each form fills the gaps of the other. So the order of loading does not matter. A value that both forms
 * of a release state is only cleared by reading both again in one run. A row of which parts were rejected gets what it lacks
 * from the other one, also what the release does not state: which parts they are is not known.
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

/** Whether parts of a row were rejected. */
const isTorn = (row: Row) => `list_contains(${row}.quality_flags, 'part_rejected')`

/** `whole` if no part of the row that takes precedence was rejected, else what `complete` returns. */
const completeIfTorn = (column: string, whole: string, complete: (torn: Row, other: Row) => string) => {
  const prevails = `(${isRestated(column)} or ${isPreferred})`
  return `case
    when ${isTorn("s")} and ${prevails} then ${complete("s", "l")}
    when ${isTorn("l")} and not ${prevails} then ${complete("l", "s")}
    else ${whole}
  end`
}

/** Adds the entries of another list that are missing from the first. */
const addEntries = (column: string, first: Row, other: Row, isMissing: string) => `if(
  ${first}.${column} is null and ${other}.${column} is null,
  null,
  list_concat(coalesce(${first}.${column}, []), list_filter(coalesce(${other}.${column}, []), lambda entry: ${isMissing}))
)`

/** Adds entries of the nutrients that a row lacks, sorted by nutrient; those of one nutrient stay in their order. */
const addNutrients = (column: string) => (torn: Row, other: Row) => {
  const isKnown = `list_contains(list_transform(coalesce(${torn}.nutrients, []), lambda amount: amount.nutrient_id), entry.nutrient_id)`
  const entries = addEntries(column, torn, other, `not ${isKnown}`)
  return `list_transform(
    list_sort(list_transform(${entries}, lambda entry, place: {'id': entry.nutrient_id, 'place': place, 'entry': entry})),
    lambda sorted: sorted.entry
  )`
}

const nutrients = completeIfTorn("nutrients", preferFilled("nutrients"), addNutrients("nutrients"))

/** The label's own amounts are per serving. */
const hasSameServing =
  "(s.serving_size, s.serving_size_unit) is not distinct from (l.serving_size, l.serving_size_unit)"
const mergeOwnAmount = (column: string) => {
  const merged = merge(column, fromOneRow(column))
  return completeIfTorn(
    column,
    merged,
    (_, other) => `coalesce(${merged}, if(${hasSameServing}, ${other}.${column}, null))`
  )
}

/** Flags of amounts, which amounts from another row bring with them. */
const amountFlags =
  "['nutrient_twice', 'energy_impossible', 'mass_impossible', 'amount_impossible', 'part_exceeds_whole', 'amount_negative']"

/** The flags of a row, and those of the other one for the values that it lacks. */
const completeFlags = (row: Row, other: Row) => `if(
  ${isTorn(row)} or list_contains(${row}.quality_flags, 'label_row_missing'),
  list_concat(${row}.quality_flags, list_filter(${other}.quality_flags, lambda flag:
    not list_contains(${row}.quality_flags, flag)
    and if(list_contains(${amountFlags}, flag), ${isTorn(row)}, list_contains(${row}.quality_flags, 'label_row_missing'))
  )),
  ${row}.quality_flags
)`

const rules: Readonly<Record<string, string>> = {
  nutrients,
  attributes: completeIfTorn("attributes", preferFilled("attributes"), (torn, other) =>
    addEntries("attributes", torn, other, `not list_contains(coalesce(${torn}.attributes, []), entry)`)
  ),
  daily_values: completeIfTorn(
    "daily_values",
    merge("daily_values", preferredValue("daily_values")),
    addNutrients("daily_values")
  ),
  release_on: "greatest(s.release_on, l.release_on)",
  ...Object.fromEntries(labelColumns.map((column) => [column, mergeOwnAmount(column)])),
  form: `case
    when ${isLater("s", "l")} or s.form = l.form then s.form
    when ${isLater("l", "s")} then l.form
    else 'both'
  end`,
  quality_flags: `list_filter(
    if(${isPreferred}, ${completeFlags("s", "l")}, ${completeFlags("l", "s")}),
    lambda flag: (flag <> 'no_nutrients' or coalesce(len(${nutrients}), 0) = 0)
      and (flag <> 'label_row_missing' or (list_contains(s.quality_flags, flag) and list_contains(l.quality_flags, flag)))
  )`
}

/** Columns that describe the run: the row being added keeps its own values. */
const runColumns = ["fdc_id", "source_rows", "fetched_at", "run_id", "raw_sha256"]

/** The merged value of a column, as SQL over `s` and `l`; undefined for columns that are not merged. */
export const mergeLabelColumn = (column: string): string | undefined => {
  if (runColumns.includes(column)) return undefined
  return rules[column] ?? merge(column, preferredValue(column))
}
