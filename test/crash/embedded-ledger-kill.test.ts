import { embeddedLedgerKills } from "./embedded-ledger-kills.ts"

embeddedLedgerKills({ kills: 2 })
