/** Long histories of two servers on one ledger, with each processor and each kind of store. A few minutes. */
import { describeTwoServers } from "../payments/two-servers.ts"

describeTwoServers(600)
