/**
 * What a key has spent in the periods of its budgets, and what its calls hold, by the UTC day of their admission. A
 * budget that is added while calls are running counts those calls, too.
 */
import type { ApiKey } from "../chain/records.ts"
import { type DateRange, dateOfDay, mondayOf, monthOfDay } from "../utc-calendar.ts"

export type CapReached = "daily_spend_cap_reached" | "weekly_spend_cap_reached" | "monthly_spend_cap_reached"

/** A kind of budget period. Each day belongs to one period of each kind. Period numbers are unique for 2,000 years. */
interface PeriodKind {
  readonly periodOf: (day: number) => number
  readonly refusal: CapReached
}

const firstOfDays = 1_000_000
const firstOfWeeks = 2_000_000
let latestMonth = { day: 0, month: monthOfDay(0) }

const daily: PeriodKind = { periodOf: (day) => firstOfDays + day, refusal: "daily_spend_cap_reached" }
const weekly: PeriodKind = { periodOf: (day) => firstOfWeeks + mondayOf(day), refusal: "weekly_spend_cap_reached" }
const monthly: PeriodKind = {
  periodOf: (day) => {
    if (latestMonth.day !== day) latestMonth = { day, month: monthOfDay(day) }
    return latestMonth.month
  },
  refusal: "monthly_spend_cap_reached"
}

/** The first and the last day of a period that is not a month. */
const daysOfPeriod = (period: number): readonly [first: number, last: number] => {
  if (period < firstOfWeeks) return [period - firstOfDays, period - firstOfDays]
  return [period - firstOfWeeks, period - firstOfWeeks + 6]
}

interface Budget extends PeriodKind {
  readonly credits: number
}

/** The shortest period comes first, so its budget refuses before the others. */
export const listBudgets = ({ budget_credits, daily_budget_credits, weekly_budget_credits }: ApiKey) => {
  const budgets: Array<Budget> = []
  if (daily_budget_credits !== null) budgets.push({ ...daily, credits: daily_budget_credits })
  if (weekly_budget_credits !== null) budgets.push({ ...weekly, credits: weekly_budget_credits })
  budgets.push({ ...monthly, credits: budget_credits })
  return budgets
}

export interface Spending {
  readonly period: number
  spent: number
}

export interface DayOfKey {
  readonly key_id: string
  readonly day: number
  /** Held for calls that were admitted on this day and have not ended. */
  held: number
  /** The part of `held` that other servers have reserved for their next calls. */
  reserved: number
}

/** What was spent before the start. Read on demand. */
export interface StoredSpending {
  /** Spending of this and later months was read at the start. */
  readonly month: number
  /** The same for days, for keys that had a daily or weekly budget: a Monday. */
  readonly day: number
  readonly readMonth: (accountId: string, keyId: string, month: number) => number
  readonly readDays: (accountId: string, keyId: string, days: DateRange) => number
}

export interface KeySpending {
  readonly record: ApiKey
  readonly budgets: ReadonlyArray<Budget>
  /** By period number. Days and weeks are included only while the key has such a budget. */
  readonly periods: Map<number, Spending>
  days: ReadonlyArray<DayOfKey>
  /** Days and weeks that begin on this day or later are in `periods`, unless nothing was spent in them. */
  firstCountedDay: number
  readonly stored: StoredSpending | undefined
}

export const noDays: ReadonlyArray<DayOfKey> = []

export const openDay = (key: KeySpending, day: number): DayOfKey => {
  for (const known of key.days) if (known.day === day) return known
  const newDay = { key_id: key.record.id, day, held: 0, reserved: 0 }
  key.days = [...key.days.filter(({ held }) => held > 0), newDay]
  return newDay
}

/** With this many periods, days and weeks that ended over a week earlier are deleted, and read again on demand. */
const maxPeriods = 50
const keptDays = 7

const isMonth = (period: number) => period < firstOfDays

/** Reading blocks the main thread for a millisecond or more, so what the start has counted is not read again. */
const readSpent = ({ firstCountedDay, record: { account_id, id }, stored }: KeySpending, period: number): number => {
  if (stored === undefined) return 0
  if (isMonth(period)) return period < stored.month ? stored.readMonth(account_id, id, period) : 0
  const [first, last] = daysOfPeriod(period)
  if (first >= firstCountedDay) return 0
  return stored.readDays(account_id, id, { from: dateOfDay(first), to: dateOfDay(last) })
}

const loadSpending = (key: KeySpending, period: number): Spending => {
  const known = key.periods.get(period)
  if (known !== undefined) return known
  if (!isMonth(period) && key.periods.size >= maxPeriods) {
    const [first] = daysOfPeriod(period)
    deletePeriods(key, (other) => !isMonth(other) && daysOfPeriod(other)[1] < first - keptDays)
    key.firstCountedDay = Math.max(key.firstCountedDay, first - keptDays)
  }
  const spending = { period, spent: readSpent(key, period) }
  key.periods.set(period, spending)
  return spending
}

const deletePeriods = ({ periods }: KeySpending, shouldDelete: (period: number) => boolean) => {
  for (const period of periods.keys()) if (shouldDelete(period)) periods.delete(period)
}

/** Adds a day that was read at the start. */
export const addStoredDay = (key: KeySpending, day: number, spent: number): void => {
  for (const { periodOf } of key.budgets) {
    const period = periodOf(day)
    if (isMonth(period)) continue
    const known = key.periods.get(period)
    if (known === undefined) key.periods.set(period, { period, spent })
    else known.spent += spent
  }
}

/** Called when the record has changed: days and weeks were counted only while the key had such a budget. */
export const dropPeriodsWithoutBudget = (key: KeySpending, before: ApiKey): void => {
  const { daily_budget_credits, weekly_budget_credits } = key.record
  const isNew =
    (before.daily_budget_credits === null && daily_budget_credits !== null) ||
    (before.weekly_budget_credits === null && weekly_budget_credits !== null)
  if (isNew) key.firstCountedDay = Number.POSITIVE_INFINITY
  deletePeriods(key, (period) => {
    if (isMonth(period)) return false
    return (period >= firstOfWeeks ? weekly_budget_credits : daily_budget_credits) === null
  })
}

const sumDays = (
  { days }: KeySpending,
  { periodOf }: PeriodKind,
  period: number,
  getHeld: (day: DayOfKey) => number
): number => {
  let sum = 0
  for (const day of days) if (periodOf(day.day) === period) sum += getHeld(day)
  return sum
}
const getTotalHeld = ({ held }: DayOfKey) => held
const getHeldByCalls = ({ held, reserved }: DayOfKey) => held - reserved

const leftInBudget = (key: KeySpending, budget: Budget, day: number, getHeld: (day: DayOfKey) => number): number => {
  const period = budget.periodOf(day)
  return budget.credits - loadSpending(key, period).spent - sumDays(key, budget, period, getHeld)
}
const findLeastLeft = (key: KeySpending, day: number, getHeld: (day: DayOfKey) => number): number => {
  let left = Number.POSITIVE_INFINITY
  for (const budget of key.budgets) left = Math.min(left, leftInBudget(key, budget, day, getHeld))
  return left
}

/** The refusal of the first budget that does not allow this many more credits on this day; undefined if all do. */
export const findReachedCap = (key: KeySpending, credits: number, day: number): CapReached | undefined => {
  for (const budget of key.budgets) if (leftInBudget(key, budget, day, getTotalHeld) < credits) return budget.refusal
  return undefined
}

/** Credits that all budgets still allow to be held on this day. */
export const leftInBudgets = (key: KeySpending, day: number): number => findLeastLeft(key, day, getTotalHeld)
/** The same, but what other servers have reserved counts as available. */
export const unspentInBudgets = (key: KeySpending, day: number): number => findLeastLeft(key, day, getHeldByCalls)

/** Counts a charge. A period that is not loaded is read on demand later, including this charge. */
export const addSpent = ({ budgets, periods }: KeySpending, day: number, credits: number): void => {
  for (const { periodOf } of budgets) {
    const spending = periods.get(periodOf(day))
    if (spending !== undefined) spending.spent += credits
  }
}

/** Spending that the caller has read from the database. */
export interface ReadSpending {
  readonly sumMonth: (month: number) => number
  readonly sumDay: (day: number) => number
}

/** Replaces what was spent in the periods that contain a day. */
export const setSpent = (key: KeySpending, day: number, { sumDay, sumMonth }: ReadSpending): void => {
  for (const { periodOf } of key.budgets) {
    const period = periodOf(day)
    const spending = loadSpending(key, period)
    if (isMonth(period)) {
      spending.spent = sumMonth(period)
      continue
    }
    const [first, last] = daysOfPeriod(period)
    spending.spent = 0
    for (let number = first; number <= last; number++) spending.spent += sumDay(number)
  }
}

/** Whether all periods that contain a day are loaded and valid. */
export const areLoaded = (key: KeySpending, day: number, isValid: (spending: Spending) => boolean): boolean => {
  for (const { periodOf } of key.budgets) {
    const spending = key.periods.get(periodOf(day))
    if (spending === undefined || !isValid(spending)) return false
  }
  return true
}

export const listSpendings = (key: KeySpending, day: number): ReadonlyArray<Spending> =>
  key.budgets.map(({ periodOf }) => loadSpending(key, periodOf(day)))

/** Whether two days belong to the same period of a budget. */
export const areInOnePeriod = (refusal: CapReached, day: number, otherDay: number): boolean =>
  [daily, weekly, monthly].some((kind) => kind.refusal === refusal && kind.periodOf(day) === kind.periodOf(otherDay))

export const spentInMonth = (key: KeySpending, day: number): number => loadSpending(key, monthly.periodOf(day)).spent
/** Null if the key has no such budget. */
export const spentOnDay = (key: KeySpending, day: number): number | null =>
  key.record.daily_budget_credits === null ? null : loadSpending(key, daily.periodOf(day)).spent
export const spentInWeek = (key: KeySpending, day: number): number | null =>
  key.record.weekly_budget_credits === null ? null : loadSpending(key, weekly.periodOf(day)).spent
