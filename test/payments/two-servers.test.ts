/** A short history of two servers on one ledger; `test/long/two-servers-with-payments.test.ts` has the long ones. */
import { pairs } from "./shop.ts"
import { inTwoServers } from "./two-servers.ts"

inTwoServers(pairs, 30)
