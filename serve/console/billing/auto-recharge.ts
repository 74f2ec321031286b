/**
 * Auto-recharge: the amount, the trigger, the ceilings and what is used of them, and whether it is on. Saving a trigger
 * above the balance charges the card, so the user confirms it first.
 */
import { Effect } from "effect"
import {
  Billing,
  type BillingSettings,
  ceilingFactors,
  centsToCredits,
  findLimit,
  formatCard,
  type RechargeChoice,
  type RechargeLimit,
  type SavedCard,
  savedCardExplanation
} from "../../billing/index.ts"
import { button, hiddenInput, type Problems, postForm, problemSummary } from "../web/form.ts"
import {
  badge,
  centsText,
  countText,
  facts,
  type Html,
  html,
  linkButton,
  notice,
  renderEmptyState,
  section,
  timeText,
  usdText
} from "../web/html.ts"
import { type FormContext, type Page, type PageContext, redirect, show } from "../web/page.ts"
import { readSettings, savedCardText, simulationNotice } from "./payment-pieces.ts"
import {
  type FieldValues,
  fillFieldValues,
  parseFieldValues,
  readFieldValues,
  renderFields
} from "./recharge-fields.ts"
import { topUpPath } from "./top-up.ts"

export const rechargePath = "/billing/auto-recharge"
const title = "Auto-recharge"

/** For every page of an account whose auto-recharge was stopped, until a person switches it on. */
export const rechargeStopNotice = (reason: string) =>
  notice(
    "warning",
    html`<p>Auto-recharge was switched off. ${reason} <a href="${rechargePath}">Switch auto-recharge on again</a></p>`
  )

interface PageProps {
  readonly context: PageContext
  readonly settings: BillingSettings
  readonly typed?: FieldValues
  readonly problems?: Problems
  readonly message?: Html
  readonly status?: number
}

/**
 * Version of the settings and the card that the page shows. The form sends it back, because settings may change after a
 * page was opened: an old form must not switch auto-recharge on again, neither after a refund nor with a card that it did
 * not show.
 */
const formatVersion = ({ card, recharge }: BillingSettings) => {
  const { cents, daily_ceiling_cents, is_on, monthly_ceiling_cents, position, trigger_credits } = recharge
  const amounts = [cents, trigger_credits, daily_ceiling_cents, monthly_ceiling_cents]
  return [is_on ? "on" : "off", ...amounts, position, card?.fingerprint].join(" ")
}
const versionInput = (settings: BillingSettings) => hiddenInput("shown", formatVersion(settings))

const ceilingsText = ({ daily_ceiling_cents, monthly_ceiling_cents }: RechargeChoice) =>
  `at most ${centsText(daily_ceiling_cents)} a day and ${centsText(monthly_ceiling_cents)} a month`

const changedNotice = (recharge: RechargeChoice, card: SavedCard) => {
  const { cents, is_on, trigger_credits } = recharge
  return notice(
    "warning",
    `Nothing was saved: the settings changed, or the ledger has a refund or an adjustment, since you opened this page. Auto-recharge is now ${is_on ? "on" : "off"}, ${centsText(cents)} below ${usdText(trigger_credits)}, ${ceilingsText(recharge)}, with ${formatCard(card)}. Your input is kept below.`
  )
}

/** When the next recharge may begin, if a limit forbids one now. */
export const limitText = (limit: RechargeLimit | undefined): string | undefined => {
  if (limit === undefined) return undefined
  const until = timeText(new Date(limit.until).toISOString())
  return limit.by === "pause"
    ? `The next recharge begins at ${until} at the earliest, a minute after the last one.`
    : `Another recharge would exceed the ceiling of this ${limit.by}. The card is not charged before ${until}; calls go on until the balance is used up.`
}

const usedText = (requested: number, ceiling: number) => `${centsText(requested)} of ${centsText(ceiling)}`

const actionText = ({ recharge }: BillingSettings) => (recharge.is_on ? "Save" : "Switch on")

const switchOffForm = (context: PageContext) =>
  postForm(context, button("Switch off", "plain", { name: "is_on", value: "no" }))

const showPage = ({
  context,
  message,
  problems = {},
  settings,
  status,
  typed = fillFieldValues(settings)
}: PageProps) => {
  const { card, recharge } = settings
  const { daily_ceiling_cents, is_configured, is_on, is_recharging, monthly_ceiling_cents, requested } = recharge
  const simulated = simulationNotice(settings)
  if (card === null) {
    const topUpLink = linkButton(topUpPath, "Add credits", "primary")
    const noCard = renderEmptyState(
      "Auto-recharge needs a saved card",
      `Make one payment by card. ${savedCardExplanation}`,
      topUpLink
    )
    return show(title, html`${message}${simulated}<div class="card">${noCard}</div>`, status)
  }
  const fields = renderFields(context.account.balance_credits, typed, problems)
  const limit = is_on ? limitText(recharge.limit) : undefined
  const form = postForm(
    context,
    html`${versionInput(settings)}${
      is_configured
        ? fields
        : html`<div class="stack" data-suggest-ceilings="${JSON.stringify(ceilingFactors)}">${fields}</div>`
    }
<div class="row">${button(actionText(settings), "primary", { name: "is_on", value: "yes" })} ${linkButton("/billing", "Cancel")}</div>`
  )
  return show(
    title,
    html`${message}${problemSummary(problems)}${simulated}
<p class="lead">The saved card is charged automatically before your credits run out, one payment after another and at least a minute
apart, until the balance is at least the one that you set below. Key budgets still apply. A declined card, a refund, a dispute, or a
deduction by the operator below that balance switches auto-recharge off. Adding credits with another card replaces the card.</p>
<div class="cards uneven">${section(
      "State",
      html`${facts([
        ["Account", context.account.name],
        ["Auto-recharge", is_on ? badge("On", "good") : badge("Off")],
        ["Card", savedCardText(card)],
        ["Today", usedText(requested.today_cents, daily_ceiling_cents)],
        ["This month", usedText(requested.this_month_cents, monthly_ceiling_cents)],
        is_recharging && ["Now", "A recharge is in progress."],
        limit !== undefined && ["Limit", limit]
      ])}
<p class="hint">Days and months are in UTC. Refunded and failed recharges count.</p>${is_on && switchOffForm(context)}`
    )}${section(
      "Amount and balance",
      html`${!is_configured && html`<p class="hint">These are suggested amounts; nothing is saved yet.</p>`}${form}`
    )}</div>`,
    status
  )
}

/** Number of payments until the balance reaches the trigger. */
const countPayments = (balance: number, { cents, trigger_credits }: RechargeChoice) =>
  Math.max(0, Math.ceil((trigger_credits - balance) / centsToCredits(cents)))

/** Asks the user to confirm a choice that charges the card now. The form submits the number of payments shown. */
const showConfirmation = (
  context: PageContext,
  card: SavedCard,
  choice: RechargeChoice,
  settings: BillingSettings,
  typed: FieldValues
) => {
  const { balance_credits: balance, name } = context.account
  const payments = countPayments(balance, choice)
  const [amount, trigger] = [centsText(choice.cents), usdText(choice.trigger_credits)]
  const total = `about ${countText(payments)} payments, ${centsText(choice.cents * payments)} in total`
  const limit = limitText(findLimit(choice, settings.recharge.requested, context.now))
  const charged = html`${formatCard(card)} is charged <strong>${amount}${limit === undefined ? " now" : ""}</strong>`
  const action = limit === undefined ? `${actionText(settings)} and charge ${amount}` : actionText(settings)
  const confirm = button(action, "primary", { name: "is_on", value: "yes" })
  const isSpread = choice.cents * payments > choice.daily_ceiling_cents
  const form = postForm(
    context,
    html`${versionInput(settings)}${hiddenInput("recharge_amount", typed.recharge_amount)}
${hiddenInput("trigger", typed.trigger)}
${hiddenInput("daily_ceiling", typed.daily_ceiling)}
${hiddenInput("monthly_ceiling", typed.monthly_ceiling)}
${hiddenInput("payments", payments)}
<div class="row">${confirm} ${button("Back", "plain", { name: "is_on", value: "not_yet" })}</div>`
  )
  return show(
    limit === undefined ? "Charge the card now?" : "Charge the card?",
    html`${simulationNotice(settings)}<div class="card stack">${facts([["Account", name]])}<p>The balance is ${usdText(balance)}, below the ${trigger} that you chose. ${
      limit === undefined ? charged : html`${limit} Then ${charged}`
    }${
      payments > 1
        ? html`, and again as calls are made, until the balance is at least ${trigger}: ${total}, plus the cost of those calls${isSpread ? "; the ceilings spread them over days or months" : ""}`
        : ""
    }. After that it is charged ${amount} whenever the balance falls below ${trigger}. Recharges are at least a minute apart, and ${ceilingsText(choice)}.</p>
${form}</div>`
  )
}

const save = (context: FormContext, settings: BillingSettings, choice: RechargeChoice, typed: FieldValues) => {
  const showAgain = (message: Html, status: number) => showPage({ context, settings, typed, message, status })
  const { cents, is_on, trigger_credits } = choice
  const isDue = context.account.balance_credits < trigger_credits
  const describeSaved = ({ recharge }: BillingSettings) => {
    if (!is_on)
      return `Auto-recharge is off.${recharge.is_recharging ? " A recharge already in progress may still be charged." : ""}`
    const saved = `Auto-recharge is on: ${centsText(cents)} whenever the balance falls below ${usdText(trigger_credits)}, ${ceilingsText(choice)}.`
    return isDue ? `${saved} ${limitText(recharge.limit) ?? "The card is being charged now."}` : saved
  }
  return Billing.use((billing) => billing.saveRecharge(context.account.id, choice, settings.recharge.position)).pipe(
    Effect.map((saved) => redirect("/billing", describeSaved(saved))),
    Effect.catchTags({
      // the fields were checked before
      InvalidChoice: ({ problem }) => Effect.succeed(showAgain(notice("bad", problem), 422)),
      NoSavedCard: ({ message }) => Effect.succeed(showAgain(notice("bad", message), 422)),
      BillingUnavailable: ({ problem }) => Effect.succeed(showAgain(notice("bad", problem), 503))
    })
  )
}

export const rechargePage: Page<Billing> = {
  path: rechargePath,
  get: (context) => Effect.map(readSettings(context), (settings) => showPage({ context, settings })),
  post: Effect.fnUntraced(function* (context) {
    const settings = yield* readSettings(context)
    const { form } = context
    // switching off never depends on the fields
    if (form.text("is_on") === "no") {
      return yield* save(context, settings, { ...settings.recharge, is_on: false }, fillFieldValues(settings))
    }
    const typed = readFieldValues(form)
    if (form.text("is_on") === "not_yet") return showPage({ context, settings, typed })
    const choice = parseFieldValues(typed)
    if ("problems" in choice) return showPage({ context, settings, typed, problems: choice.problems, status: 422 })
    const balance = context.account.balance_credits
    // the balance may have dropped since, so that more payments are needed than the user confirmed
    const isConfirmed = countPayments(balance, choice) <= Number(form.text("payments"))
    const { card } = settings
    if (card !== null && form.text("shown") !== formatVersion(settings)) {
      return showPage({ context, settings, typed, message: changedNotice(settings.recharge, card), status: 409 })
    }
    if (card !== null && !isConfirmed) return showConfirmation(context, card, choice, settings, typed)
    return yield* save(context, settings, choice, typed)
  })
}
