/**
 * The ledger of a server under test: in its folder in `npm test`, and in PostgreSQL when `npm run test:all` runs the same
 * files a second time. The API behaves the same.
 */
import { inject } from "vitest"
import { newDatabase } from "../postgres/new-database.ts"
import type { Environment } from "../programs.ts"
import { setLedgerUrl } from "./operator.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly ledger: "in its folder" | "in PostgreSQL"
  }
}

/** Creates the settings for a server with this home; for PostgreSQL, with a new database. */
export const makeLedgerSettings = async (home: string): Promise<Environment> => {
  if (inject("ledger") === "in its folder") return {}
  const url = await newDatabase(inject("postgresUrl"))
  setLedgerUrl(home, url)
  return { LARDER_LEDGER_URL: url }
}
