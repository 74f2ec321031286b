import { sharedLedgerKills } from "./shared-ledger-kills.ts"

sharedLedgerKills({ blows: 2 })
