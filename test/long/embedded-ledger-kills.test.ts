import { embeddedLedgerKills } from "../crash/embedded-ledger-kills.ts"

embeddedLedgerKills({ kills: 200 })
