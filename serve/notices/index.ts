/** What a server tells its operator. */
export { notifyEachMinute } from "./notify-freshness.ts"
