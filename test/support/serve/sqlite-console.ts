/** The console's tables without the ledger, in a folder that is its. */

import { embeddedConsole } from "@larder/serve/ledger/embedded/embedded-console.ts"
import { LedgerFile } from "@larder/serve/ledger/embedded/ledger-file.ts"
import { Layer } from "effect"

export const consoleIn = (ledgerDirectory: string) => Layer.provide(embeddedConsole, LedgerFile.layer(ledgerDirectory))
