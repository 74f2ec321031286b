/** A few kills of processes that work with money; `test/long/payment-kills.test.ts` has the many. */
import { hitByKills } from "./payment-kills.ts"
import { pairs } from "./shop.ts"

hitByKills(pairs, 2)
