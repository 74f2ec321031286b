/** What a server sends by itself: notices to its operator, and mails to the people of accounts. */
export { countMails, type Deliveries, makeDeliveries } from "./deliveries.ts"
export { mailAccounts } from "./mail-accounts.ts"
export { notifyOfFreshness } from "./notify-freshness.ts"
