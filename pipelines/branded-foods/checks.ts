/** What must hold of branded foods before they go live. Each query returns the bad rows. */
import type { Check } from "@larder/warehouse/generation/check.ts"
import { error, warning } from "../run/severity.ts"

export const checks: ReadonlyArray<Check> = [
  error(
    "labels_stand_once",
    "every fdc_id has one row",
    "select fdc_id, count(*) as rows from branded_food.food group by fdc_id having count(*) > 1"
  ),
  error(
    "products_have_one_current_label",
    "every product (data source and barcode) that is loaded has exactly one current label, and it is loaded",
    // without a barcode a history is a label of its own, and what only that label names
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
    "every label stands in the list of versions",
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
    "every label has a row in branded_food.csv, not in food.csv alone",
    "select fdc_id from branded_food.food where list_contains(quality_flags, 'label_row_missing')"
  ),
  warning(
    "most_labels_have_nutrients",
    "at most one label in twenty has no nutrients",
    `select count(*) filter (where coalesce(len(nutrients), 0) = 0) as without_nutrients, count(*) as labels from branded_food.food
     having without_nutrients * 20 > labels`
  )
]
