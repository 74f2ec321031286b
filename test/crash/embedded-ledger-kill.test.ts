import { testEmbeddedLedgerKills } from "./embedded-ledger-kills.ts"

testEmbeddedLedgerKills({ kills: 2 })
