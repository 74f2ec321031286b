import { describe, inject } from "vitest"
import { newDatabase } from "../../support/postgres/new-database.ts"
import { histories } from "./histories.ts"
import { overPostgres } from "./postgres-subject.ts"

export const historiesInPostgres = ({ runs }: { readonly runs: number }) =>
  describe("random histories of the ledger in PostgreSQL", () => {
    histories(
      overPostgres(() => newDatabase(inject("postgresUrl"))),
      { runs, steps: 400 }
    )
  })
