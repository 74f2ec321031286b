/** `storefront.variant_as_of` returns what was listed at a time, in every time zone of the session. */
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { timeZones } from "@larder/test/support/warehouse/analyst.ts"
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import { define } from "./dictionary.ts"
import { storefront } from "./storefront/data-set.ts"

const changes = [
  ["rye", "2026-07-01 08:00:00", "first_seen", "2.50", "true"],
  ["rye", "2026-07-03 08:00:00", "changed", "2.75", "true"],
  ["rye", "2026-07-05 08:00:00", "gone", null, null],
  ["rye", "2026-07-08 23:59:59.5", "back", "3.00", "false"],
  ["oat", "2026-07-03 08:00:00", "first_seen", "1.10", "true"]
]
const rows = changes
  .map(
    ([variant, seen_at, change, price, available]) =>
      `('${variant}', 'p', 's', '${seen_at}', '${change}', ${price}, null, ${price && "'EUR'"}, ${available})`
  )
  .join(", ")

const expected = {
  "date '2026-06-30'": "",
  "'2026-07-01'": "rye 2.5000 true",
  "timestamp '2026-07-03 07:59:59'": "rye 2.5000 true",
  "'2026-07-03T08:00:00Z'": "oat 1.1000 true, rye 2.7500 true",
  "'2026-07-03 09:00:00+02:00'": "rye 2.5000 true",
  "'2026-07-06'": "oat 1.1000 true",
  "'2026-07-08'": "oat 1.1000 true, rye 3.0000 false",
  "timestamptz '2026-07-08 23:00:00+00'": "oat 1.1000 true"
}

describe("variants as of a time, in sessions of any time zone", () => {
  itLive("are those that the reads until then had found, with the price of then", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-variants-" })
      const db = yield* DuckDb.readWrite(`${folder}/stores.duckdb`)
      yield* define(db, { ...storefront, views: storefront.views.filter(({ name }) => name === "variant_as_of") })
      yield* db.run(`insert into storefront.variant_change values ${rows}`)
      for (const zone of timeZones) {
        yield* db.run(`set TimeZone = '${zone}'`)
        const listed: Record<string, unknown> = {}
        for (const moment of Object.keys(expected)) {
          const [row] = yield* db.rows(
            `select coalesce(string_agg(concat_ws(' ', variant_id, price, available), ', ' order by variant_id), '') as listed
             from storefront.variant_as_of(${moment})`
          )
          listed[moment] = row?.listed
        }
        assert.deepStrictEqual(listed, expected, zone)
      }
      const error = yield* Effect.flip(db.rows("from storefront.variant_as_of(null)"))
      assert.match(error.message, /needs a day or a time, not null/)
    })
  )
})
