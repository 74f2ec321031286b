/** Where the console's tables are: with the ledger, in its folder or in its PostgreSQL database. */
import type { OpenError } from "@larder/warehouse/duckdb.ts"
import { type Layer, Option, type Redacted } from "effect"
import type { LedgerUnavailable } from "../ledger/errors.ts"
import { ledgerDirectoryIn } from "../ledger/reach.ts"
import type { ConsoleDatabase, ConsoleUnavailable } from "./console-database.ts"
import { embeddedConsole } from "./embedded.ts"
import { postgresConsole } from "./postgres.ts"

/**
 * In a folder the ledger must be held already: whoever holds the one is the only one who opens the other, so that a command
 * never takes the tables away from a server that is starting.
 */
export const layerConsoleDatabase = (
  home: string,
  ledgerUrl: Option.Option<Redacted.Redacted>
): Layer.Layer<ConsoleDatabase, OpenError | ConsoleUnavailable | LedgerUnavailable> =>
  Option.isSome(ledgerUrl) ? postgresConsole(ledgerUrl.value) : embeddedConsole(ledgerDirectoryIn(home))
