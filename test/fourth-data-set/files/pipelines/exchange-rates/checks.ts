/** Checks of exchange rates before they are published. Each query returns the bad rows. */
import type { Check } from "@larder/warehouse"
import { error, shrinkage, warning } from "../run/severity.ts"

export const checks: ReadonlyArray<Check> = [
  shrinkage({
    name: "rates_do_not_shrink",
    what: "rates",
    before: "select count(*) from live.exchange_rate.rate",
    now: "select count(*) from exchange_rate.rate",
    percent: 5
  }),
  error(
    "rates_are_positive",
    "every rate is above zero",
    "select currency, day, rate_text from exchange_rate.rate where rate <= 0"
  ),
  error(
    "days_are_past",
    "no rate is dated after the day on which it was fetched",
    "select currency, day, fetched_at from exchange_rate.rate where day > fetched_at::date"
  ),
  warning(
    "rates_move_little",
    "no rate differs from the previous one by more than half",
    `select currency, day, rate_text from exchange_rate.rate
     qualify abs(rate / lag(rate) over (partition by currency order by day) - 1) > 0.5`
  )
]
