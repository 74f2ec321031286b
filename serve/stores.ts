/** The ledger and the console's data: both in one file of this process, or both in PostgreSQL. */
import { Effect, Layer, type Redacted } from "effect"
import {
  embeddedConsole,
  Ledger,
  LedgerFile,
  openPostgresLedger,
  openServerLedger,
  postgresConsole
} from "./ledger/index.ts"

/** `directory` is `$LARDER_HOME/ledger`. */
export const storesInFile = (directory: string) => {
  const ledger = Layer.effect(Ledger, Effect.flatMap(LedgerFile, openServerLedger))
  return Layer.mergeAll(ledger, embeddedConsole).pipe(Layer.provide(LedgerFile.layer(directory)))
}

/** `directory` is for in-doubt calls while the database is unavailable. */
export const storesInPostgres = (url: Redacted.Redacted, directory: string) =>
  Layer.mergeAll(Layer.effect(Ledger, openPostgresLedger(url, directory)), postgresConsole(url))
