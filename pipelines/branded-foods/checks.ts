/**
 * Checks of branded foods before publication. Each query returns the bad rows. `warehouse/publishing/check.ts` runs them, and
 * checks for all data sets that no row is lost.
 */
import type { Check } from "@larder/warehouse"
import { error, shrinkage, warning } from "../run/severity.ts"
import { thresholds } from "../run/thresholds.ts"

const nutrientIds = (label: string) =>
  `list_transform(list_filter(${label}.nutrients, lambda n: n.amount is not null), lambda n: n.nutrient_id)`

const labelsLosingNutrients = `
  from live.branded_food.food l
  join (select fdc_id, nutrients from branded_food.food where run_id = getvariable('run_id')) s using (fdc_id)
  where not list_has_all(${nutrientIds("s")}, ${nutrientIds("l")})`

const selectCurrent = (versions: string) => `select fdc_id from ${versions} where is_current`
const liveCurrentLabels = selectCurrent("live.branded_food.version")

/** Releases of each form, each with the last run that read part of it. The CSV files of a folder are one release. */
const selectReleases = (rawFiles: string) => `
  select feed, max(regexp_extract(url, '\\d{4}-\\d{2}-\\d{2}')) as day, max(run_id) as run_id, sum(rows)::integer as rows
  from (
    select feed, url, max(run_id) as run_id, arg_max(rows_read - rows_rejected, run_id) as rows
    from ${rawFiles}
    where pipeline = 'branded-foods'
    group by feed, url
  )
  group by feed, regexp_replace(url, '/[^/]+[.]csv$', '', 'i')`

/**
 * Forms that have fewer rows than the newest known release of the form. An older release may have fewer, and small forms
 * legitimately vary by more.
 */
const shrunkForms = `
  with form as (${selectReleases("ingest.raw_file")}),
  known as (
    select feed, max(day) as day, arg_max(rows, (day, run_id)) as rows
    from (${selectReleases("live.ingest.raw_file")})
    group by feed
  )
  select feed as what, known.rows as before, form.rows as now,
    round(100 * (known.rows - form.rows) / known.rows, 1) as percent_fewer
  from form join known using (feed)
  where form.run_id = getvariable('run_id') and form.day >= known.day
    and ${thresholds.checkedRows.sql("known.rows")}
    and ${thresholds.shrunkForm.sql("known.rows - form.rows", "known.rows")}`

export const brandedFoodChecks: ReadonlyArray<Check> = [
  shrinkage({
    name: "current_labels_do_not_shrink",
    what: "current labels",
    before: `select count(*) from (${liveCurrentLabels})`,
    now: `select count(*) from (${selectCurrent("branded_food.version")})`,
    percent: thresholds.fewerCurrentLabels.value
  }),
  shrinkage({
    name: "labels_keep_nutrients",
    what: "labels with each nutrient that they had",
    before: "select count(*) from live.branded_food.food",
    now: `(select count(*) from live.branded_food.food) - (select count(*) ${labelsLosingNutrients})`,
    percent: thresholds.labelsLosingNutrients.value
  }),
  shrinkage({
    name: "current_labels_keep_nutrients",
    what: "current labels with each nutrient that they had",
    before: `select count(*) from (${liveCurrentLabels})`,
    now: `(select count(*) from (${liveCurrentLabels})) - (select count(*) ${labelsLosingNutrients} and fdc_id in (${liveCurrentLabels}))`,
    percent: thresholds.labelsLosingNutrients.value
  }),
  {
    ...error(
      "forms_do_not_shrink",
      `at most ${thresholds.shrunkForm.value} % fewer rows of a form than in its newest release; --accept-shrinkage publishes fewer`,
      shrunkForms // a file that was truncated between two records looks complete
    ),
    isLiveComparison: true
  },
  error(
    "labels_stand_once",
    "every fdc_id has one row",
    "select fdc_id, count(*) as rows from branded_food.food group by fdc_id having count(*) > 1"
  ),
  error(
    "products_have_one_current_label",
    "every product (data source and barcode) that is loaded has exactly one current label, and it is loaded",
    // without a barcode, a history consists of the label and the versions that no other label names
    `select data_source, gtin_14, count(*) filter (where is_current and is_loaded) as current
     from branded_food.version
     where gtin_14 is not null
     group by data_source, gtin_14
     having current <> 1
     union all
     select data_source, fdc_id::varchar, is_current::integer
     from branded_food.version
     where gtin_14 is null and (is_current <> (replaced_by is null) or is_current <> is_loaded)`
  ),
  error(
    "versions_cover_labels",
    "every label is in the list of versions",
    "select fdc_id from branded_food.food anti join branded_food.version using (fdc_id)"
  ),
  warning(
    "nutrients_are_known",
    "every nutrient of an amount is in the dictionary",
    `select distinct nutrient_id from (select unnest(nutrients).nutrient_id as nutrient_id from branded_food.food)
     where nutrient_id not in (select nutrient_id from branded_food.nutrient)`
  ),
  warning(
    "labels_have_their_rows",
    "every label has a readable row in branded_food.csv, not in food.csv alone",
    "select fdc_id from branded_food.food where list_contains(quality_flags, 'label_row_missing')"
  ),
  warning(
    "most_labels_have_nutrients",
    `labels without nutrients are not ${thresholds.labelsWithoutNutrients.limit}`,
    `select count(*) filter (where coalesce(len(nutrients), 0) = 0) as without_nutrients, count(*) as labels from branded_food.food
     having ${thresholds.labelsWithoutNutrients.sql("without_nutrients", "labels")}`
  )
]
