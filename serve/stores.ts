/** The ledger and the console's data: both in one file of this process, or both in PostgreSQL. */
import { Effect, Layer, Option, type Redacted } from "effect"
import {
  anchorPlace,
  connect,
  embeddedConsole,
  keepDatabaseAnchor,
  keepFileAnchor,
  Ledger,
  LedgerFile,
  openLedgerInFile,
  openLedgerInPostgres,
  postgresConsole,
  redactedUrl
} from "./ledger/index.ts"

type Anchor = Option.Option<Redacted.Redacted>

/** `directory` is `$LARDER_HOME/ledger`. On stop, the last charges are written first, then the anchor. */
export const storesInFile = (directory: string, anchor: Anchor) => {
  const ledger = Effect.gen(function* () {
    const file = yield* LedgerFile
    return yield* keepFileAnchor(file, Option.map(anchor, anchorPlace), openLedgerInFile(file))
  })
  return Layer.mergeAll(Layer.effect(Ledger, ledger), embeddedConsole).pipe(Layer.provide(LedgerFile.layer(directory)))
}

/** `directory` is for in-doubt calls while the database is unavailable. */
export const storesInPostgres = (url: Redacted.Redacted, directory: string, anchor: Anchor) => {
  const ledger = Effect.gen(function* () {
    const sql = yield* connect(url)
    const opened = openLedgerInPostgres(sql, redactedUrl(url), directory)
    return yield* keepDatabaseAnchor(sql, Option.map(anchor, anchorPlace), opened)
  })
  return Layer.mergeAll(Layer.effect(Ledger, ledger), postgresConsole(url))
}
