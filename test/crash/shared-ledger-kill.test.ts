import { testSharedLedgerKills } from "./shared-ledger-kills.ts"

testSharedLedgerKills({ kills: 2 })
