/** What is written, the ledger and what the console keeps: both in one file of this process, or both in PostgreSQL. */
import { Effect, Layer, Option, type Redacted, Schema } from "effect"
import { embeddedConsole } from "./console-database/embedded.ts"
import { postgresConsole } from "./console-database/postgres.ts"
import { anchorPlace } from "./ledger/anchor.ts"
import { ledgerIn } from "./ledger/embedded/embedded-ledger.ts"
import { keepAnchor } from "./ledger/embedded/keep-anchor.ts"
import { LedgerFile } from "./ledger/embedded/ledger-file.ts"
import { Ledger } from "./ledger/ledger.ts"
import { postgresLedger } from "./ledger/postgres/postgres-ledger.ts"

type Anchor = Option.Option<Redacted.Redacted>

/** `directory` is `$LARDER_HOME/ledger`. Stopping writes the last charges first, then the anchor. */
export const storesInFile = (directory: string, anchor: Anchor) => {
  const ledger = Effect.gen(function* () {
    const file = yield* LedgerFile
    yield* keepAnchor(file, Option.map(anchor, anchorPlace))
    return yield* ledgerIn(file)
  })
  return Layer.mergeAll(Layer.effect(Ledger, ledger), embeddedConsole).pipe(Layer.provide(LedgerFile.layer(directory)))
}

class AnchorOfDatabase extends Schema.TaggedError<AnchorOfDatabase>()("AnchorOfDatabase", {}) {
  override get message() {
    return "LARDER_LEDGER_ANCHOR is for a ledger in LARDER_HOME, and LARDER_LEDGER_URL is set: a ledger in PostgreSQL has no anchor yet. Unset one of the two."
  }
}

/** `directory` keeps what must not be forgotten while the database is away. */
export const storesInPostgres = (url: Redacted.Redacted, directory: string, anchor: Anchor) => {
  const ledger = Effect.gen(function* () {
    if (Option.isSome(anchor)) return yield* new AnchorOfDatabase()
    return yield* postgresLedger(url, directory)
  })
  return Layer.mergeAll(Layer.effect(Ledger, ledger), postgresConsole(url))
}
