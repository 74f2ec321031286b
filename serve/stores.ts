/** The ledger and the console's data: both in one file of this process, or both in PostgreSQL. */
import { Effect, Layer, Option, type Redacted } from "effect"
import {
  anchorPlace,
  connect,
  embeddedConsole,
  keepAnchorOfDatabase,
  keepAnchorOfFile,
  Ledger,
  LedgerFile,
  ledgerInFile,
  ledgerInPostgres,
  placeOf,
  postgresConsole
} from "./ledger/index.ts"

type Anchor = Option.Option<Redacted.Redacted>

/** `directory` is `$LARDER_HOME/ledger`. On stop, the last charges are written first, then the anchor. */
export const storesInFile = (directory: string, anchor: Anchor) => {
  const ledger = Effect.gen(function* () {
    const file = yield* LedgerFile
    return yield* keepAnchorOfFile(file, Option.map(anchor, anchorPlace), ledgerInFile(file))
  })
  return Layer.mergeAll(Layer.effect(Ledger, ledger), embeddedConsole).pipe(Layer.provide(LedgerFile.layer(directory)))
}

/** `directory` is for in-doubt calls while the database is unavailable. */
export const storesInPostgres = (url: Redacted.Redacted, directory: string, anchor: Anchor) => {
  const ledger = Effect.gen(function* () {
    const sql = yield* connect(url)
    const opened = ledgerInPostgres(sql, placeOf(url), directory)
    return yield* keepAnchorOfDatabase(sql, Option.map(anchor, anchorPlace), opened)
  })
  return Layer.mergeAll(Layer.effect(Ledger, ledger), postgresConsole(url))
}
