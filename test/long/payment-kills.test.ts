/** Many kills of processes that work with money. Half an hour; `LARDER_CRASH_KILLS` says how many on each pair. */
import { hitByKills } from "../payments/payment-kills.ts"
import { everyPair } from "../payments/shop.ts"

hitByKills(everyPair, Number(process.env.LARDER_CRASH_KILLS ?? 70))
