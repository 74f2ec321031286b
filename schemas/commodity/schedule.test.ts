import { assert, describe, it } from "@effect/vitest"
import { findScheduleFault, parseSchedule } from "./schedule.ts"

describe("the schedule of a report", () => {
  it.each([
    ["daily", "every working day, 11:00", { day: null, shift: 0, time: "11:00", months: [] }],
    ["weekly", "Friday of the same week, 09:00", { day: 5, shift: 0, time: "09:00", months: [] }],
    ["weekly", "Tuesday of the next week, 13:15", { day: 2, shift: 1, time: "13:15", months: [] }],
    ["biweekly", "Monday of the week 12 weeks later, 23:59", { day: 1, shift: 12, time: "23:59", months: [] }],
    [
      "monthly",
      "day 28 of the month before, 00:00, for March, June, September and December",
      { day: 28, shift: -1, time: "00:00", months: ["March", "June", "September", "December"] }
    ],
    [
      "monthly",
      "day 1 of the month 2 months later, 12:00, for May",
      { day: 1, shift: 2, time: "12:00", months: ["May"] }
    ],
    ["annual", "day 15 of the next month, 15:00", { day: 15, shift: 1, time: "15:00", months: [] }]
  ] as const)("of a %s one can be: %s", (frequency, publishes_on, schedule) => {
    assert.deepStrictEqual<unknown>(parseSchedule(publishes_on, frequency), schedule)
    assert.isUndefined(findScheduleFault(publishes_on, frequency))
  })
  it.each([
    ["daily", "every working day, 11:00, for May"],
    ["weekly", "Saturday of the next week, 13:15"],
    ["weekly", "Wednesday of the week before, 13:15"],
    ["weekly", "Wednesday of the next week, 24:00"],
    ["weekly", "Wednesday of the next week"],
    ["monthly", "day 29 of the next month, 13:15"],
    ["monthly", "day 5 of the month 1 months later, 13:15"],
    ["monthly", "day 5 of the next month, 13:15, for Jan"],
    ["annual", "day 15 of the next month, 15:00, for January"]
  ] as const)("of a %s one cannot be: %s", (frequency, publishes_on) => {
    assert.include(findScheduleFault(publishes_on, frequency), `${frequency} reports publish on a day such as`)
  })
})
