/**
 * The macros `weekly` and `monthly`. Both are made from `by_period.sql`: a macro that they called would not be found from
 * another database.
 */
import type { Frequency } from "@larder/schemas"
import { literal } from "../../duckdb.ts"
import { readSql, type View } from "../tables.ts"

const aboutWeekly =
  "One row per week of a daily or weekly metric: the unweighted mean of its prices or percentages, or the sum of its pounds or counts, and the number of observations, which shows whether the newest week is complete. `week` is the Monday of the ISO week that contains the end of the period, so a week of a survey (ending on Saturday) and one of an exchange (ending on Friday) can be joined. A metric of longer periods is an error."

const aboutMonthly =
  "One row per month of a metric that is not annual: the unweighted mean of its prices or percentages, or the sum of its pounds or counts, and the number of observations. `month` is the first day of the month that contains the end of the period: a week belongs to the month in which it ends. Where a report has a monthly average of its own, such as `butter_survey_average_monthly`, this is another number: that one may be weighted, and count a week to another month."

const byPeriod = (name: string, period: "week" | "month", longer: ReadonlyArray<Frequency>, about: string): View => {
  const macro = readSql("commodity", "by_period", { name, period, longer: longer.map(literal).join(", ") })
  return {
    schema: "commodity",
    name,
    ddl: `${macro}\n;\ncomment on macro table commodity.${name} is ${literal(about)}`
  }
}

export const weekly = byPeriod("weekly", "week", ["biweekly", "monthly", "annual"], aboutWeekly)
export const monthly = byPeriod("monthly", "month", ["annual"], aboutMonthly)
