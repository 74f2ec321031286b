import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { Effect } from "effect"
import { DuckDb } from "../duckdb.ts"
import { createUncommentedTables } from "../tables/dictionary.ts"
import { oddValueTable, stagedIngestTables } from "../tables/ingest-tables.ts"
import { toCells } from "../tables/tables.ts"
import { stagedByFailedRun } from "./records.ts"

describe("the records of a failed run", () => {
  itLive("have each row once, as it was first staged, although nothing was merged", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* createUncommentedTables(db, stagedIngestTables)
      const odd = { run_id: "run", pipeline: "shop", feed: "bread", kind: "unreadable", field: "price", said: "cheap" }
      const staged = [
        { ...odd, rows: 3 },
        { ...odd, said: "dear", rows: 2 },
        { ...odd, rows: 5 }
      ]
      yield* db.append("ingest", oddValueTable.name, toCells(oddValueTable, staged))
      const { queries } = stagedByFailedRun(db)
      assert.deepStrictEqual(
        yield* db.rows(`select said, rows::integer as rows from (${queries[oddValueTable.name]})`),
        [
          { said: "cheap", rows: 3 },
          { said: "dear", rows: 2 }
        ]
      )
      for (const query of Object.values(queries)) yield* db.rows(query ?? "")
    })
  )
})
