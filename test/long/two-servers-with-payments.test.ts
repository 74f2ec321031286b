/** Long histories of two servers on one ledger, with each processor on each kind of store. Some minutes. */
import { everyPair } from "../payments/setup.ts"
import { describeTwoServers } from "../payments/two-servers.ts"

describeTwoServers(everyPair, 600)
