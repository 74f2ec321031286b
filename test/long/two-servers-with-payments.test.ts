/** Long histories of two servers on one ledger, with each processor and each kind of store. A few minutes. */
import { everyPair } from "../payments/shop.ts"
import { inTwoServers } from "../payments/two-servers.ts"

inTwoServers(everyPair, 600)
