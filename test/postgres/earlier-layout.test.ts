import { assert, describe, it } from "@effect/vitest"
import { postgresConsole } from "@larder/serve/ledger"
import { Effect, Layer, Redacted } from "effect"
import { inject } from "vitest"
import { withConnection } from "../ledger/outage.ts"
import { newDatabase } from "../support/postgres/new-database.ts"

describe("a database with tables of an earlier version", () => {
  it.live("is refused, and the error names the remedy", () =>
    Effect.gen(function* () {
      const url = yield* Effect.promise(() => newDatabase(inject("postgresUrl")))
      const open = Effect.scoped(Layer.build(postgresConsole(Redacted.make(url))))
      yield* open
      yield* Effect.promise(() =>
        withConnection(url, (sql) => sql.unsafe("update console.migration set migration_id = 1"))
      )
      assert.match(
        String(yield* Effect.flip(open)),
        /an earlier version of Larder has written the tables of this database, and no version converts them: use a new database/
      )
    })
  )
})
