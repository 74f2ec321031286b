/** What the live generation records about earlier runs of this pipeline. */
import { NutrientRow } from "@larder/schemas"
import { brandedFood, readLive } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { RunContext } from "../run/pipeline.ts"
import { labelMappingHash } from "./mapping-hash.ts"
import { KnownPayload } from "./source/fetch-release.ts"

interface EarlierRuns {
  readonly payloads: ReadonlyArray<KnownPayload>
  readonly unknownFields: ReadonlyArray<string>
  readonly nutrients: ReadonlyArray<typeof NutrientRow.Type>
}

const noEarlierRuns: EarlierRuns = { payloads: [], unknownFields: [], nutrients: [] }

const payloadsQuery = `
  select raw_sha256, url, feed, mapping_sha256, rows_read::integer as rows_read, rows_rejected::integer as rows_rejected
  from ingest.raw_file where pipeline = 'branded-foods' and mapping_sha256 = $mapping`
const Field = Schema.Struct({ field: Schema.String })
const unknownFieldsQuery = "select field from ingest.unknown_field where pipeline = 'branded-foods'"

const nutrientsQuery = "select nutrient_id, number, name, unit from branded_food.nutrient"

export const readEarlierRuns = ({ layout }: RunContext) =>
  readLive(layout, brandedFood, noEarlierRuns, (db) =>
    Effect.all({
      payloads: db.all(KnownPayload, payloadsQuery, { mapping: labelMappingHash }),
      unknownFields: Effect.map(db.all(Field, unknownFieldsQuery), (rows) => rows.map(({ field }) => field)),
      nutrients: db.all(NutrientRow, nutrientsQuery)
    })
  )
