/** The fields of auto-recharge: the amount, the trigger and the ceilings. */
import {
  type BillingSettings,
  centsToCredits,
  isValidCeiling,
  isValidTrigger,
  maxCeiling,
  maxTrigger,
  minTrigger,
  type RechargeChoice,
  suggestCeilings
} from "../../billing/index.ts"
import { dollarField, type Problems, parseCents, parseCredits, type SentForm } from "../web/form.ts"
import { centsText, html, usdText } from "../web/html.ts"
import { parseAmount } from "./top-up.ts"

const triggerRange = `${usdText(minTrigger)} to ${usdText(maxTrigger)}`

/** Parses a trigger in dollars: its credits, or what is wrong with it. */
export const parseTrigger = (text: string): { readonly credits: number } | { readonly problem: string } => {
  if (text === "") return { problem: "Enter a balance in US dollars." }
  const credits = parseCredits(text)
  if (credits === undefined) return { problem: "Enter an amount in dollars and cents, such as 20 or 20.50." }
  return isValidTrigger(credits) ? { credits } : { problem: `Enter a balance from ${triggerRange}.` }
}

/** An empty ceiling becomes the suggested one. */
const parseCeiling = (text: string, cents: number, suggested: number) => {
  const ceiling = text === "" ? suggested : parseCents(text)
  if (ceiling === undefined) return { problem: "Enter an amount in dollars and cents, such as 500 or 500.50." }
  return isValidCeiling(ceiling, cents)
    ? { cents: ceiling }
    : { problem: `Enter at least the amount of one recharge, and at most ${centsText(maxCeiling)}.` }
}

/** Values of the fields, as typed or as saved. */
export interface FieldValues {
  readonly recharge_amount: string
  readonly trigger: string
  readonly daily_ceiling: string
  readonly monthly_ceiling: string
}

export const readFieldValues = ({ text }: SentForm): FieldValues => ({
  recharge_amount: text("recharge_amount"),
  trigger: text("trigger"),
  daily_ceiling: text("daily_ceiling"),
  monthly_ceiling: text("monthly_ceiling")
})

/** The choice that switches auto-recharge on with these values, or the problem of each field. */
export const parseFieldValues = (typed: FieldValues): RechargeChoice | { readonly problems: Problems } => {
  const amount = parseAmount(typed.recharge_amount)
  const trigger = parseTrigger(typed.trigger)
  const cents = "cents" in amount ? amount.cents : 0
  const suggested = suggestCeilings(cents)
  const daily = parseCeiling(typed.daily_ceiling, cents, suggested.daily_ceiling_cents)
  const monthly = parseCeiling(typed.monthly_ceiling, cents, suggested.monthly_ceiling_cents)
  if ("problem" in amount || "problem" in trigger || "problem" in daily || "problem" in monthly) {
    const parsed = { recharge_amount: amount, trigger, daily_ceiling: daily, monthly_ceiling: monthly }
    return {
      problems: Object.fromEntries(
        Object.entries(parsed).flatMap(([name, field]) => ("problem" in field ? [[name, field.problem]] : []))
      )
    }
  }
  const ceilings = { daily_ceiling_cents: daily.cents, monthly_ceiling_cents: monthly.cents }
  return { is_on: true, cents, trigger_credits: trigger.credits, ...ceilings }
}

/** As in a field: `20.00`. */
export const formatDollars = (credits: number) => (credits / 1_000).toFixed(credits % 10 === 0 ? 2 : 3)
export const fillFieldValues = ({ recharge }: BillingSettings): FieldValues => ({
  recharge_amount: formatDollars(centsToCredits(recharge.cents)),
  trigger: formatDollars(recharge.trigger_credits),
  daily_ceiling: formatDollars(centsToCredits(recharge.daily_ceiling_cents)),
  monthly_ceiling: formatDollars(centsToCredits(recharge.monthly_ceiling_cents))
})

export const renderFields = (balance: number, typed: FieldValues, problems: Problems) => {
  const amountField = (name: keyof FieldValues, label: string, hint: string, required: boolean) =>
    dollarField({ name, label, hint, value: typed[name], error: problems[name], maxlength: 20, required })
  const triggerHint = `$1 to $50,000. If this is above the current balance of ${usdText(balance)}, the card is charged right away, after you confirm.`
  const [day, month] = ["day", "calendar month"].map((period) => `The sum of all recharges of a ${period} in UTC.`)
  return html`${amountField("recharge_amount", "Amount", "$10 to $50,000 for each recharge", true)}
${amountField("trigger", "When the balance falls below", triggerHint, true)}
${amountField("daily_ceiling", "At most per day", `${day} If left empty: 5 times the amount.`, false)}
${amountField("monthly_ceiling", "At most per month", `${month} If left empty: 100 times the amount.`, false)}`
}
