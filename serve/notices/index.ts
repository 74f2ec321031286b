/** The notices that a server sends to its operator. */
export { notifyOfFreshness } from "./notify-freshness.ts"
