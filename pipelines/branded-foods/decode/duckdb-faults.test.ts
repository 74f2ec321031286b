import { assert, describe, it } from "@effect/vitest"
import { DuckDb, DuckDbError } from "@larder/warehouse"
import { Effect } from "effect"
import { isMachineFault, isRecordError } from "./duckdb-faults.ts"

const failWith = (sql: string) =>
  Effect.gen(function* () {
    const db = yield* DuckDb.memory
    return yield* Effect.flip(db.run(sql))
  }).pipe(Effect.scoped)

describe("an error of DuckDB", () => {
  it.effect.each([
    ["a value of another type", "select 'x'::integer", true],
    ["a name without text", 'select 1 as ""', false],
    ["a column that does not exist", "select missing from (select 1)", false],
    ["a statement that is none", "select from from", false]
  ] as const)("may come from the data: %s", ([, sql, isOfRecord]) =>
    Effect.map(failWith(sql), (error) => {
      assert.deepStrictEqual([isMachineFault(error), isRecordError(error)], [false, isOfRecord], error.message)
    })
  )

  it.effect.each([
    ["a folder that cannot be written", "copy (select 1) to '/proc/none/x.csv'"],
    [
      "too little memory",
      "set memory_limit = '4MB'; set max_temp_directory_size = '0KB'; create table t as select range, range::varchar from range(10_000_000)"
    ]
  ] as const)("may be a fault of this machine: %s", ([, sql]) =>
    Effect.map(failWith(sql), (error) => {
      assert.deepStrictEqual([isMachineFault(error), isRecordError(error)], [true, false], error.message)
    })
  )

  it.each([
    "INTERRUPT Error: Interrupted!",
    "TransactionContext Error: Failed to commit: Could not write file: No space left on device",
    "FATAL Error: Failed: database has been invalidated",
    "Failed to append"
  ])("may be a fault of this machine: %s", (message) => {
    assert.isTrue(isMachineFault(new DuckDbError({ sql: "", cause: new Error(message) })))
  })
})
