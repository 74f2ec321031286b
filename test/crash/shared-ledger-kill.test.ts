import { sharedLedgerKills } from "./shared-ledger-kills.ts"

sharedLedgerKills({ kills: 2 })
