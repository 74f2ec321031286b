/** `commodity.observation_as_of` returns the values known at a time, in every time zone of the session. */
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { timeZones } from "@larder/test/support/warehouse/analyst.ts"
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import { commodity } from "./commodity/data-set.ts"
import { define } from "./dictionary.ts"

/** Published at noon, at the end of the day and on the next day, in the report's local time. */
const versions = ["2026-07-10 12:00:00", "2026-07-10 23:59:59.5", "2026-07-11 00:00:00"]
  .map(
    (moment, row) =>
      `('butter', '2026-07-04', ${row + 1}, '${row + 1}', '${moment}', null, null, 'run', 'sha', '2026-07-12', ${row})`
  )
  .join(", ")

/** One connection, so that the time zone of the session applies to every query. */
const session = oncePerFile(
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-as-of-" })
    const db = yield* DuckDb.readWrite(`${folder}/prices.duckdb`)
    yield* define(db, commodity)
    yield* db.run(`insert into commodity.observation_version values ${versions}`)
    return db
  })
)

/** The values known at a time: one string if it is the same in all time zones, otherwise the different strings. */
const queryAsOf = (db: DuckDb["Service"], moment: string) =>
  Effect.gen(function* () {
    const results = new Set<string>()
    for (const zone of timeZones) {
      yield* db.run(`set TimeZone = '${zone}'`)
      const rows = yield* db.rows(`select value_text from commodity.observation_as_of(${moment})`)
      results.add(rows.map(({ value_text }) => value_text).join())
    }
    return [...results].join(" or ")
  })

const expected = {
  "a day includes everything that was published on it": {
    "date '2026-07-09'": "",
    "date '2026-07-10'": "2",
    "'2026-07-10'": "2",
    "date '2026-07-11'": "3"
  },
  "a time without a zone is compared with the report's local time": {
    "timestamp '2026-07-10 11:59:59'": "",
    "timestamp '2026-07-10 12:00:00'": "1",
    "timestamp '2026-07-10 00:00:00'": "",
    "'2026-07-10 12:00:00'": "1",
    "'2026-07-10T12:00'": "1",
    "'2026-07-10 23:59:59.499'": "1",
    "timestamp_ns '2026-07-11 00:00:00'": "3"
  },
  "a time with a zone is compared as six hours behind UTC": {
    "timestamptz '2026-07-10 12:00:00+00'": "",
    "timestamptz '2026-07-10 15:59:59+00'": "", // before noon everywhere in the United States
    "timestamptz '2026-07-10 17:59:59+00'": "",
    "timestamptz '2026-07-10 18:00:00+00'": "1",
    "timestamptz '2026-07-10 23:30:00+05:30'": "1",
    "'2026-07-10T12:00:00Z'": "",
    "'2026-07-10 18:00:00+00'": "1",
    "'2026-07-10 18:00:00 UTC'": "1",
    "'2026-07-10 11:30:00-05:00'": "",
    "'2026-07-10 12:00:00.000-06'": "1",
    "'2026-07-10 12:00:00 America/New_York'": "",
    "'2026-07-10 13:00:00 America/Chicago'": "1",
    "timestamptz '2026-07-11 05:59:59+00'": "1",
    "timestamptz '2026-07-11 06:00:00+00'": "3"
  }
}

describe("observations as of a time, in sessions of any time zone", () => {
  for (const [rule, moments] of Object.entries(expected)) {
    itLive(`return the values published by then: ${rule}`, () =>
      Effect.gen(function* () {
        const db = yield* session
        const known: Record<string, string> = {}
        for (const moment of Object.keys(moments)) known[moment] = yield* queryAsOf(db, moment)
        assert.deepStrictEqual(known, { ...moments })
      })
    )
  }
  itLive("show a value without a time from the time its payload was fetched", () =>
    Effect.gen(function* () {
      const db = yield* session
      yield* db.run(`
        insert into commodity.observation_version values
          ('butter', '2026-08-01', 9, '9', '2026-08-01 23:59:59.999999', null, null, 'run', 'fetched',
            '2026-08-05 16:00:00', 1)`)
      const from = "select value_text from commodity.observation_as_of"
      const known: Record<string, ReadonlyArray<unknown>> = {}
      for (const moment of [
        ...["date '2026-08-01'", "date '2026-08-04'", "timestamp '2026-08-05 11:59:59'"],
        ...["timestamp '2026-08-05 12:00:00'", "date '2026-08-05'", "'2026-08-05T18:00:00Z'"]
      ]) {
        const rows = yield* db.rows(`${from}(${moment}) where observed_on = '2026-08-01'`)
        known[moment] = rows.map(({ value_text }) => value_text)
      }
      yield* db.run("delete from commodity.observation_version where raw_sha256 = 'fetched'")
      assert.deepStrictEqual(known, {
        "date '2026-08-01'": [],
        "date '2026-08-04'": [],
        "timestamp '2026-08-05 11:59:59'": [],
        "timestamp '2026-08-05 12:00:00'": ["9"], // fetched at 16:00 UTC: 12:00 in a report's local time at UTC-4
        "date '2026-08-05'": ["9"],
        "'2026-08-05T18:00:00Z'": ["9"]
      })
    })
  )
  itLive("show everything as of now", () =>
    Effect.gen(function* () {
      const db = yield* session
      for (const moment of ["now()", "current_timestamp", "now() at time zone 'UTC'"]) {
        assert.strictEqual(yield* queryAsOf(db, moment), "3")
      }
    })
  )
  itLive("reject a string that is not a time", () =>
    Effect.gen(function* () {
      const db = yield* session
      for (const moment of ["'July'", "'2026-07-10 12'", "'2026-07-10 12:00 or so'", "'2026-07-10 12:00:00 Chicago'"]) {
        assert.match((yield* Effect.flip(queryAsOf(db, moment))).message, /Conversion Error|Unknown TimeZone/)
      }
    })
  )
  itLive("reject null, which a missing parameter is", () =>
    Effect.gen(function* () {
      const db = yield* session
      for (const sql of ["observation_as_of(null)", "observation_as_of($moment)"]) {
        const error = yield* Effect.flip(db.rows(`from commodity.${sql}`, sql.includes("$") ? { moment: null } : {}))
        assert.match(error.message, /needs a day or a time, not null/)
      }
    })
  )
  itLive("accept a parameter", () =>
    Effect.gen(function* () {
      const db = yield* session
      const sql = "select value_text from commodity.observation_as_of($moment)"
      assert.deepStrictEqual(yield* db.rows(sql, { moment: "2026-07-10" }), [{ value_text: "2" }])
    })
  )
})
