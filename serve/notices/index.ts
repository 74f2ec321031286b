/** The notices that a server sends to its operator. */
export { notifyEachMinute } from "./notify-freshness.ts"
