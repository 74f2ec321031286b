/** Long histories of two servers on one ledger, with each processor on each kind of store. Some minutes. */
import { everyPair } from "../payments/shop.ts"
import { inTwoServers } from "../payments/two-servers.ts"

inTwoServers(everyPair, 600)
