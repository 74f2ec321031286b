/** Kills a server 200 times, in about twenty minutes. */
import { testEmbeddedLedgerKills } from "../crash/embedded-ledger-kills.ts"

testEmbeddedLedgerKills({ kills: 200 })
