import { describe, inject } from "vitest"
import { newDatabase } from "../../support/postgres/new-database.ts"
import { histories } from "./histories.ts"
import { eager, overPostgres } from "./postgres-subject.ts"

export const historiesInPostgres = ({ runs }: { readonly runs: number }) =>
  describe("random histories of the ledger in PostgreSQL", () => {
    for (const leasePolicy of [undefined, eager]) {
      histories(
        overPostgres(() => newDatabase(inject("postgresUrl")), leasePolicy),
        { runs, steps: 400 }
      )
    }
  })
