/** Kills a server 200 times, and PostgreSQL as often, in about half an hour. */
import { testSharedLedgerKills } from "../crash/shared-ledger-kills.ts"

testSharedLedgerKills({ kills: 300 })
