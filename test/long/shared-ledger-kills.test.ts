/** 200 kills of a server and 200 of PostgreSQL. */
import { sharedLedgerKills } from "../crash/shared-ledger-kills.ts"

sharedLedgerKills({ blows: 300 })
