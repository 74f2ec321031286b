/**
 * The limits of auto-recharge: a pause between two recharges, and ceilings per UTC day and month. Every recharge that was
 * requested from the processor counts, at the time of its last request, even if it failed or was refunded later.
 */
import { Duration, Effect, Schema } from "effect"
import { timestampOf } from "../../ledger/index.ts"
import type { Statements } from "../../persistence/index.ts"
import type { RechargeChoice } from "./rows.ts"

export const pauseMs = Duration.toMillis("1 minute")

/** What recharges of an account have requested, in US cents. */
const Requested = Schema.Struct({
  today_cents: Schema.Int,
  this_month_cents: Schema.Int,
  /** When a recharge was last requested, if that was this month or less than a pause ago; it can be another server's time. */
  last_at: Schema.NullOr(Schema.String)
})
export type Requested = typeof Requested.Type

/** The first moment of the UTC day, and of the month, `days` or `months` later. */
const startOfDay = (now: number, days = 0) => {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + days)
}
const startOfMonth = (now: number, months = 0) => {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months)
}

export const millisecondsToNextDay = (now: number): number => startOfDay(now, 1) - now

/** `except` is the id of a payment that does not count, because it may be requested now. */
export const sumRequested = (db: Statements, account_id: string, now: number, except = "") =>
  Effect.map(
    db.all(
      Requested,
      `select cast(coalesce(sum(case when asked_at >= $2 then cents else 0 end), 0) as double precision) as today_cents,
         cast(coalesce(sum(case when asked_at >= $3 then cents else 0 end), 0) as double precision) as this_month_cents,
         max(asked_at) as last_at
       from console.payment
       where account_id = $1 and kind = 'auto_recharge' and asked_at >= $4 and id <> $5`,
      [
        account_id,
        timestampOf(startOfDay(now)),
        timestampOf(startOfMonth(now)),
        timestampOf(Math.min(startOfMonth(now), now - pauseMs)),
        except
      ]
    ),
    ([requested]): Requested => requested ?? { today_cents: 0, this_month_cents: 0, last_at: null }
  )

export interface RechargeLimit {
  readonly by: "pause" | "day" | "month"
  /** In Unix milliseconds. */
  readonly until: number
}

/** The limit that forbids another recharge now; undefined if none does. */
export const findLimit = (
  { cents, daily_ceiling_cents, monthly_ceiling_cents }: RechargeChoice,
  { last_at, this_month_cents, today_cents }: Requested,
  now: number
): RechargeLimit | undefined => {
  if (this_month_cents + cents > monthly_ceiling_cents) return { by: "month", until: startOfMonth(now, 1) }
  if (today_cents + cents > daily_ceiling_cents) return { by: "day", until: startOfDay(now, 1) }
  const pauseEnd = last_at === null ? 0 : Date.parse(last_at) + pauseMs
  // a request that seems to be far in the future was made while a clock was wrong
  return pauseEnd > now && pauseEnd <= now + 2 * pauseMs ? { by: "pause", until: pauseEnd } : undefined
}
