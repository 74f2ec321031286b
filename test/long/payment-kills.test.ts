/** Many kills of processes that work with money. Half an hour. */
import { testPaymentKills } from "../payments/payment-kills.ts"

testPaymentKills({ kills: 70 })
