/** What the live generation records about earlier runs of this pipeline. */
import { brandedFood, readLive } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { RunContext } from "../run/pipeline.ts"
import { labelMappingHash } from "./mapping-hash.ts"
import { KnownPayload } from "./source/fetch-release.ts"

interface EarlierRuns {
  readonly payloads: ReadonlyArray<KnownPayload>
  readonly unknownFields: ReadonlyArray<string>
  readonly nutrientNumbers: ReadonlyMap<number, string>
}

const noEarlierRuns: EarlierRuns = { payloads: [], unknownFields: [], nutrientNumbers: new Map() }

const payloadsQuery = `
  select raw_sha256, url, feed, mapping_sha256, rows_read::integer as rows_read, rows_rejected::integer as rows_rejected
  from ingest.raw_file where pipeline = 'branded-foods' and mapping_sha256 = $mapping`
const Field = Schema.Struct({ field: Schema.String })
const unknownFieldsQuery = "select field from ingest.unknown_field where pipeline = 'branded-foods'"

const NutrientNumber = Schema.Struct({ nutrient_id: Schema.Int, number: Schema.String })
const nutrientNumbersQuery = "select nutrient_id, number from branded_food.nutrient where number is not null"

export const readEarlierRuns = ({ layout }: RunContext) =>
  readLive(layout, brandedFood, noEarlierRuns, (db) =>
    Effect.all({
      payloads: db.all(KnownPayload, payloadsQuery, { mapping: labelMappingHash }),
      unknownFields: Effect.map(db.all(Field, unknownFieldsQuery), (rows) => rows.map(({ field }) => field)),
      nutrientNumbers: Effect.map(
        db.all(NutrientNumber, nutrientNumbersQuery),
        (rows) => new Map(rows.map(({ nutrient_id, number }) => [nutrient_id, number]))
      )
    })
  )
