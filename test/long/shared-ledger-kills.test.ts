/** Kills a server 200 times, and PostgreSQL as often, in about half an hour. */
import { sharedLedgerKills } from "../crash/shared-ledger-kills.ts"

sharedLedgerKills({ kills: 300 })
