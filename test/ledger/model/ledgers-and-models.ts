/** Runs the same steps over every store. */
import { describe, inject } from "vitest"
import { newDatabase } from "../../support/postgres/new-database.ts"
import { agreesWithModel } from "./agrees-with-model.ts"
import { inFolder, inPostgres } from "./ledgers.ts"

export const ledgersAndModels = ({ steps }: { readonly steps: number }) =>
  describe("a ledger and a plain model of it", () => {
    agreesWithModel("a folder", async () => inFolder, steps)
    for (const servers of [1, 2]) {
      const open = async () => inPostgres(await newDatabase(inject("postgresUrl")), servers)
      agreesWithModel(`PostgreSQL with ${servers} ${servers === 1 ? "server" : "servers"}`, open, steps)
    }
  })
