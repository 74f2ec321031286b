/** Publishes labels of branded foods without a payload. */
import { brandedFood, type DataSet, type Layout, type Staging, stage } from "@larder/warehouse"
import { Effect } from "effect"
import { aRun, publishStaged } from "./example-data-set.ts"

/** One label, or all with an fdc_id up to `up_to`. `set` has columns as SQL over `fdc_id`. */
export interface LabelRow {
  readonly fdc_id: number
  readonly up_to?: number
  readonly set?: Readonly<Record<string, string>>
}

const defaults: Readonly<Record<string, string>> = {
  fdc_id: "fdc_id",
  description: "'BUBBLE GUM'",
  data_source: "'LI'",
  gtin_14: "lpad(fdc_id::varchar, 14, '0')",
  published_on: "date '2024-04-18'",
  source_rows: "1",
  form: "'json'",
  quality_flags: "[]",
  release_on: "date '2024-04-18'",
  fetched_at: "timestamp '2026-01-05 10:00:00'",
  run_id: "'first'",
  raw_sha256: "'ab'"
}

const insert = ({ fdc_id, set = {}, up_to = fdc_id }: LabelRow) => {
  const columns = { ...defaults, ...set }
  return `insert into branded_food.food (${Object.keys(columns).join(", ")})
    select ${Object.values(columns).join(", ")} from range(${fdc_id}, ${up_to + 1}) label(fdc_id)`
}

export const insertLabels = ({ db }: Staging, labels: ReadonlyArray<LabelRow>) =>
  Effect.forEach(labels, (label) => db.run(insert(label)), { discard: true })

const { files: _, ...withoutFiles } = brandedFood
/** Branded foods without sidecar files: these take longer than everything else in a small publication. */
export const labelsWithoutFiles: DataSet = withoutFiles

/** A whole run: stages and publishes these labels. */
export const publishLabels = Effect.fnUntraced(function* (
  layout: Layout,
  labels: ReadonlyArray<LabelRow>,
  dataSet = brandedFood
) {
  const started = aRun({ pipeline: "branded-foods" })
  const { filled, staged } = yield* stage(layout, started, dataSet, (staging) =>
    Effect.andThen(
      insertLabels(staging, labels),
      staging.db.rows("select sum(source_rows)::integer as rows from branded_food.food")
    )
  )
  const run = { ...started, rows_read: Number(filled[0]?.rows) }
  return yield* publishStaged(layout, dataSet, staged, run)
}, Effect.scoped)
