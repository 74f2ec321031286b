/** One kill of a process that works with money, at a stage that chance chooses; `test/long/payment-kills.test.ts` has the many. */
import { hitByKills } from "./payment-kills.ts"
import { pairs } from "./shop.ts"

hitByKills(pairs, 1)
