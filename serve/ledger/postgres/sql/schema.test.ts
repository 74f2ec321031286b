import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { MigrationError } from "effect/sql/Migrator"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { failOnOutage } from "./schema.ts"

const outage = new SqlError({
  reason: new ConnectionError({ cause: new Error("read ECONNRESET"), operation: "query" })
})

describe("work in the database", () => {
  it.effect("fails with the SQL error when its connection is lost, even in a rollback or a migration", () =>
    Effect.gen(function* () {
      const migration = new MigrationError({ cause: outage, kind: "Failed", message: "Migration failed" })
      for (const defect of [outage, migration]) {
        const error = yield* Effect.flip(failOnOutage(Effect.die(defect)))
        assert.strictEqual(error, outage)
      }
    })
  )

  it.effect("still reports a bug as a defect", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(failOnOutage(Effect.die(new TypeError("a bug"))))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    })
  )
})
