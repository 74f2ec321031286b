import { sharedLedgerKills } from "../crash/shared-ledger-kills.ts"

sharedLedgerKills({ kills: 70 })
