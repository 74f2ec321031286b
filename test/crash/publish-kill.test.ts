/** A kill before the commit and one at it, of fourteen moments that `test/long/publish-kills.test.ts` has. */
import { testPublishKills } from "./publish-kills.ts"

testPublishKills(["it writes to the copy", "its manifest appears"], { rounds: 0 })
