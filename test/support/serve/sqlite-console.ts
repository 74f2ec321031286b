/** The console's tables in a ledger's folder, without the ledger. */

import { embeddedConsole, LedgerFile } from "@larder/serve/ledger"
import { Layer } from "effect"

export const consoleIn = (ledgerDirectory: string) => Layer.provide(embeddedConsole, LedgerFile.layer(ledgerDirectory))
