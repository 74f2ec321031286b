/** Times of payments as text. */
import { Clock, Effect } from "effect"
import { timestampOf } from "../ledger/index.ts"

/** As the tables have it. */
export const nowText = Effect.map(Clock.currentTimeMillis, timestampOf)

const minuteFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" })
/** For people: `29 Nov 2026, 07:05 UTC`. */
export const formatMinute = (timestamp: string): string => `${minuteFormat.format(new Date(timestamp))} UTC`
