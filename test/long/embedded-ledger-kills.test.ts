/** Some twenty minutes, in which a server is killed 200 times. */
import { embeddedLedgerKills } from "../crash/embedded-ledger-kills.ts"

embeddedLedgerKills({ kills: 200 })
