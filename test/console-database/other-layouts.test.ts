/** A ledger and a console's tables that another version made are refused, and the error states what to use instead. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { inject } from "vitest"
import { withConnection } from "../ledger/outage.ts"
import { type Location, storesIn } from "../payments/stores.ts"
import { newDatabase } from "../support/postgres/new-database.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-earlier-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)
const open = (location: Location) => Effect.scoped(Layer.build(storesIn(location)))

describe("the layout of another version is refused", () => {
  it.live("in a folder, whose file has the ledger and the console's tables", () =>
    Effect.gen(function* () {
      const location = { folder: yield* folder, url: undefined }
      yield* open(location)
      const file = new DatabaseSync(path.join(location.folder, "ledger.sqlite"))
      file.exec("pragma user_version = 2")
      file.close()
      assert.match(
        String(yield* Effect.flip(open(location))),
        /ledger\.sqlite: an earlier version of Larder has written it, and no version converts it: use a new LARDER_HOME/
      )
    }).pipe(Effect.scoped)
  )

  it.live.each([
    [
      "ledger",
      "an earlier",
      1,
      /an earlier version of Larder has written the tables of this database, and no version converts them: use a new database/
    ],
    [
      "console",
      "an earlier",
      1,
      /an earlier version of Larder has written the tables of this database, and no version converts them: use a new database/
    ],
    ["ledger", "a newer", 99, /a newer version of Larder has written the tables of this database: use that version/],
    ["console", "a newer", 99, /a newer version of Larder has written the tables of this database: use that version/]
  ] as const)("in PostgreSQL: the schema %s of %s version", ([schema, , layout, problem]) =>
    Effect.gen(function* () {
      const url = yield* Effect.promise(() => newDatabase(inject("postgresUrl")))
      const location = { folder: yield* folder, url }
      yield* open(location)
      yield* Effect.promise(() =>
        withConnection(url, (sql) => sql.unsafe(`update ${schema}.migration set migration_id = ${layout}`))
      )
      assert.match(String(yield* Effect.flip(open(location))), problem)
    }).pipe(Effect.scoped)
  )
})
