/** One kill of a process that runs `Billing`, at a random stage; `test/long/payment-kills.test.ts` has many. */
import { describeKills } from "./payment-kills.ts"
import { pairs } from "./setup.ts"

describeKills(pairs, 1)
