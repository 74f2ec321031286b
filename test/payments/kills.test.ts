/** One kill of a process that runs `Billing`, at a random stage; `test/long/payment-kills.test.ts` has many. */
import { testPaymentKills } from "./payment-kills.ts"

testPaymentKills({ kills: 1 })
