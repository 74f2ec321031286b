/** What a server tells its operator. */
export { tellFreshnessEachMinute } from "./tell-freshness.ts"
