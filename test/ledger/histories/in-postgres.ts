import { describe, inject } from "vitest"
import { newDatabase } from "../../support/postgres/new-database.ts"
import { type HistoryOptions, histories } from "./histories.ts"
import { overPostgres } from "./postgres-subject.ts"

export const historiesInPostgres = (options: Partial<HistoryOptions> & Pick<HistoryOptions, "runs">) =>
  describe("random histories of the ledger in PostgreSQL", () => {
    for (const servers of [1, 2]) {
      histories(
        overPostgres(() => newDatabase(inject("postgresUrl")), servers),
        { steps: 400, ...options }
      )
    }
  })
