/** A short history of two servers on one ledger; `test/long/two-servers-with-payments.test.ts` has the long ones. */
import { describeTwoServers } from "./two-servers.ts"

describeTwoServers(30)
