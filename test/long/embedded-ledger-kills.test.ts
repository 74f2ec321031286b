/** Kills a server 200 times, in about twenty minutes. */
import { embeddedLedgerKills } from "../crash/embedded-ledger-kills.ts"

embeddedLedgerKills({ kills: 200 })
