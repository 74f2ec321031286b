/** Many kills of processes that work with money. Half an hour. */
import { testPaymentKills } from "../payments/payment-kills.ts"
import { everyPair } from "../payments/setup.ts"

testPaymentKills(everyPair, { kills: 70 })
