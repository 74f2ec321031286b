/** The console's tables without the ledger, in a folder that is its. */

import { embeddedConsole, LedgerFile } from "@larder/serve/ledger"
import { Layer } from "effect"

export const consoleIn = (ledgerDirectory: string) => Layer.provide(embeddedConsole, LedgerFile.layer(ledgerDirectory))
