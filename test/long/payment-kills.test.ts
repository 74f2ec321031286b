/** Many kills of processes that work with money. Half an hour. */
import { describeKills } from "../payments/payment-kills.ts"
import { everyPair } from "../payments/setup.ts"

describeKills(everyPair, 70)
