/** Many kills of processes that work with money. Half an hour. */
import { hitByKills } from "../payments/payment-kills.ts"
import { everyPair } from "../payments/shop.ts"

hitByKills(everyPair, 70)
