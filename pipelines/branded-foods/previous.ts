/** What the live generation records about earlier runs of this pipeline. */
import { brandedFood, fromLive } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { RunContext } from "../run/pipeline.ts"
import { mappingHash } from "./mapping-version.ts"
import { KnownPayload } from "./source/fetch-release.ts"

export interface Previous {
  /** Payloads that this mapping has read. */
  readonly payloads: ReadonlyArray<KnownPayload>
  readonly unknownFields: ReadonlyArray<string>
  /** Numbers of nutrients that releases stated, by id. */
  readonly nutrientNumbers: ReadonlyMap<number, string>
}

const nothingYet: Previous = { payloads: [], unknownFields: [], nutrientNumbers: new Map() }

const payloads = `
  select raw_sha256, url, feed, mapping_sha256, rows_read::integer as rows_read, rows_rejected::integer as rows_rejected
  from ingest.raw_file where pipeline = 'branded-foods' and mapping_sha256 = $mapping`
const Field = Schema.Struct({ field: Schema.String })
const unknownFields = "select field from ingest.unknown_field where pipeline = 'branded-foods'"

const Numbered = Schema.Struct({ nutrient_id: Schema.Int, number: Schema.String })
const nutrientNumbers = "select nutrient_id, number from branded_food.nutrient where number is not null"

export const readPrevious = ({ layout }: RunContext) =>
  fromLive(layout, brandedFood, nothingYet, (db) =>
    Effect.all({
      payloads: db.all(KnownPayload, payloads, { mapping: mappingHash }),
      unknownFields: Effect.map(db.all(Field, unknownFields), (rows) => rows.map(({ field }) => field)),
      nutrientNumbers: Effect.map(
        db.all(Numbered, nutrientNumbers),
        (rows) => new Map(rows.map(({ nutrient_id, number }) => [nutrient_id, number]))
      )
    })
  )
