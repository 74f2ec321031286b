import { assert, describe, it } from "@effect/vitest"
import { aRun } from "@larder/test/support/warehouse/example-data-set.ts"
import { DuckDb, rejectTable } from "@larder/warehouse"
import { Effect } from "effect"
import { define } from "../../../warehouse/tables/dictionary.ts"
import { ingestTables, ingestViews, runTable } from "../../../warehouse/tables/ingest-tables.ts"
import { toCells } from "../../../warehouse/tables/tables.ts"
import { cursorFormat, readRejects } from "./rejects-read.ts"

const makeRejects = (run_id: string) =>
  [1, 2, 3].map((position) => ({
    pipeline: "example",
    feed: "shop",
    run_id,
    raw_sha256: run_id,
    position,
    reason: "is invalid",
    payload: "{}"
  }))

/** Rejects of two runs; the second run's clock was behind. */
const withRejects = Effect.gen(function* () {
  const db = yield* DuckDb.memory
  yield* define(db, { tables: ingestTables, views: ingestViews })
  for (const [index, run_id] of ["2026-first", "2025-second"].entries()) {
    const run = { ...aRun({ run_id }), recorded_in: `larder-00000${index + 1}`, rolled_back_by: null }
    yield* db.append("ingest", runTable.name, toCells(runTable, [run]))
    yield* db.append("ingest", rejectTable.name, toCells(rejectTable, makeRejects(run_id)))
  }
  return db
})

const readPage = (db: DuckDb["Service"], before?: string) =>
  Effect.map(readRejects(db, { before, limit: 2 }), ({ rows }) => ({
    rows: rows.map(({ position, run_id }) => `${run_id} ${position}`),
    last: rows.at(-1)?.page_cursor ?? ""
  }))

describe("pages of rejects", () => {
  it.effect("continue after the previous page, even if a rebuild wrote the rejects of its runs again", () =>
    Effect.gen(function* () {
      const db = yield* withRejects
      const first = yield* readPage(db)
      assert.match(first.last, cursorFormat)
      assert.deepStrictEqual(first.rows, ["2025-second 3", "2025-second 2"])
      yield* db.run("delete from ingest.reject where run_id = '2026-first'")
      yield* db.append("ingest", rejectTable.name, toCells(rejectTable, makeRejects("2026-first")))
      const second = yield* readPage(db, first.last)
      assert.deepStrictEqual(second.rows, ["2025-second 1", "2026-first 3"])
      assert.deepStrictEqual((yield* readPage(db, second.last)).rows, ["2026-first 2", "2026-first 1"])
    }).pipe(Effect.scoped)
  )
})
