/** Some half an hour, in which a server is killed 200 times, and PostgreSQL as often. */
import { sharedLedgerKills } from "../crash/shared-ledger-kills.ts"

sharedLedgerKills({ blows: 300 })
