/**
 * Where the ledger of a server under test is kept: in its folder in `npm test`, in PostgreSQL where `npm run test:all` runs the
 * same files a second time. What a caller meets is the same.
 */
import { inject } from "vitest"
import { newDatabase } from "../postgres/new-database.ts"
import type { Environment } from "../programs.ts"
import { operateIn } from "./operator.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly ledger: "in its folder" | "in PostgreSQL"
  }
}

/** Settings for a server over this home. The database is new. */
export const ledgerSettings = async (home: string): Promise<Environment> => {
  if (inject("ledger") === "in its folder") return {}
  const url = await newDatabase(inject("postgresUrl"))
  operateIn(home, url)
  return { LARDER_LEDGER_URL: url }
}
