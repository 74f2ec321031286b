import { describe, inject } from "vitest"
import { newDatabase } from "../../support/postgres/new-database.ts"
import { histories } from "./histories.ts"
import { overPostgres } from "./postgres-subject.ts"

describe("random histories of the ledger in PostgreSQL", () => {
  histories(
    overPostgres(() => newDatabase(inject("postgresUrl"))),
    { runs: 4, steps: 400 }
  )
})
