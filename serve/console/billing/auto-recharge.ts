/**
 * Auto-recharge: the amount, the trigger, whether it is on, and why it was switched off automatically. Saving a trigger
 * above the balance charges the card immediately, so the user confirms it first.
 */
import { Effect } from "effect"
import {
  Billing,
  type BillingSettings,
  centsToCredits,
  formatCard,
  isValidTrigger,
  maxTrigger,
  minTrigger,
  type RechargeChoice,
  type SavedCard,
  savedCardExplanation
} from "../../billing/index.ts"
import { button, dollarField, hiddenInput, type Problems, parseCredits, postForm, problemSummary } from "../web/form.ts"
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
  usdText
} from "../web/html.ts"
import { type FormContext, type Page, type PageContext, redirect, show } from "../web/page.ts"
import { readSettings, savedCardText, simulationNotice } from "./payment-pieces.ts"
import { parseAmount, topUpPath } from "./top-up.ts"

export const rechargePath = "/billing/auto-recharge"
const title = "Auto-recharge"

const triggerRange = `${usdText(minTrigger)} to ${usdText(maxTrigger)}`

/** Parses a trigger in dollars: its credits, or what is wrong with it. */
const parseTrigger = (text: string): { readonly credits: number } | { readonly problem: string } => {
  if (text === "") return { problem: "Enter a balance in US dollars." }
  const credits = parseCredits(text)
  if (credits === undefined) return { problem: "Enter an amount in dollars and cents, such as 20 or 20.50." }
  return isValidTrigger(credits) ? { credits } : { problem: `Enter a balance from ${triggerRange}.` }
}

/** Values of the fields, as typed or as saved. */
interface FieldValues {
  readonly recharge_amount: string
  readonly trigger: string
}

const formatDollars = (credits: number) => (credits / 1_000).toFixed(credits % 10 === 0 ? 2 : 3)
const fillFieldValues = ({ recharge }: BillingSettings): FieldValues => ({
  recharge_amount: formatDollars(recharge.cents * 10),
  trigger: formatDollars(recharge.trigger_credits)
})

const renderFields = (balance: number, typed: FieldValues, problems: Problems) => {
  const amountField = (name: keyof FieldValues, label: string, hint: string) =>
    dollarField({ name, label, hint, value: typed[name], error: problems[name], maxlength: 20, required: true })
  return html`${amountField("recharge_amount", "Amount", "$10 to $50,000 for each recharge")}${amountField(
    "trigger",
    "When the balance falls below",
    `$1 to $50,000. If this is above the current balance of ${usdText(balance)}, the card is charged right away, after you confirm.`
  )}`
}

/**
 * Why auto-recharge was switched off automatically, with links, for other pages. False if it is on, or if
 * a person switched it off or left it off.
 */
export const rechargeOffNotice = ({ recharge: { off_reason } }: BillingSettings) =>
  off_reason !== null &&
  notice(
    "warning",
    html`<p>Auto-recharge was switched off. ${off_reason}</p>
<p>If the card is the problem, <a href="${topUpPath}">add credits with another card</a>: it replaces the saved card. Then <a href="${rechargePath}">switch auto-recharge on again, or leave it off</a>.</p>`
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
 * page was opened: an old form must not switch auto-recharge on again, nor charge a card that it did not show.
 */
const formatVersion = ({ card, recharge: { cents, is_on, trigger_credits } }: BillingSettings) =>
  [is_on ? "on" : "off", cents, trigger_credits, card?.fingerprint].join(" ")
const versionInput = (settings: BillingSettings) => hiddenInput("shown", formatVersion(settings))

const changedNotice = ({ cents, is_on, trigger_credits }: RechargeChoice, card: SavedCard) =>
  notice(
    "warning",
    `Nothing was saved: the settings changed after you opened this page. Auto-recharge is now ${is_on ? "on" : "off"}, ${centsText(cents)} below ${usdText(trigger_credits)}, with ${formatCard(card)}. Your input is kept below.`
  )

const actionText = ({ recharge }: BillingSettings) => (recharge.is_on ? "Save" : "Switch on")

const dismissButton = postForm(button("Leave it off", "plain", { name: "is_on", value: "no" }))
const switchOffButton = postForm(button("Switch off", "plain", { name: "is_on", value: "no" }))

const showPage = ({
  context,
  message,
  problems = {},
  settings,
  status,
  typed = fillFieldValues(settings)
}: PageProps) => {
  const { card, recharge } = settings
  const { is_configured, is_on, is_recharging, off_reason } = recharge
  const reason = off_reason !== null && notice("warning", `Auto-recharge was switched off. ${off_reason}`)
  const simulated = simulationNotice(settings)
  if (card === null) {
    const topUpLink = linkButton(topUpPath, "Add credits", "primary")
    const noCard = renderEmptyState(
      "Auto-recharge needs a saved card",
      `Make one payment by card. ${savedCardExplanation}`,
      topUpLink
    )
    return show(
      title,
      html`${message}${reason}${simulated}<div class="card">${noCard}</div>${reason && dismissButton}`,
      status
    )
  }
  const form = postForm(html`${versionInput(settings)}${renderFields(context.account.balance_credits, typed, problems)}
<div class="row">${button(actionText(settings), "primary", { name: "is_on", value: "yes" })} ${linkButton("/billing", "Cancel")}</div>`)
  return show(
    title,
    html`${message}${problemSummary(problems)}${reason}${simulated}
<p class="lead">The saved card is charged automatically before your credits run out, one payment after another, until the balance is at
least the one that you set below. Key budgets still apply. A declined card switches auto-recharge off.</p>
<div class="cards uneven">${section(
      "State",
      html`${facts([
        ["Auto-recharge", is_on ? badge("On", "good") : badge("Off")],
        ["Card", savedCardText(card)],
        is_recharging && ["Now", "A recharge is in progress."]
      ])}${is_on && switchOffButton}${reason && dismissButton}`
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
  balance: number,
  card: SavedCard,
  choice: RechargeChoice,
  settings: BillingSettings,
  typed: FieldValues
) => {
  const payments = countPayments(balance, choice)
  const [amount, trigger] = [centsText(choice.cents), usdText(choice.trigger_credits)]
  const total = `about ${countText(payments)} payments, ${centsText(choice.cents * payments)} in total`
  const confirm = button(`${actionText(settings)} and charge ${amount}`, "primary", { name: "is_on", value: "yes" })
  const form = postForm(html`${versionInput(settings)}${hiddenInput("recharge_amount", typed.recharge_amount)}
${hiddenInput("trigger", typed.trigger)}
${hiddenInput("payments", payments)}
<div class="row">${confirm} ${button("Back", "plain", { name: "is_on", value: "not_yet" })}</div>`)
  return show(
    "Charge the card now?",
    html`${simulationNotice(settings)}<div class="card stack"><p>The balance is ${usdText(balance)}, below the ${trigger} that you chose. ${formatCard(card)} is charged <strong>${amount}
now</strong>${
      payments > 1
        ? html`, and again as calls are made, until the balance is at least ${trigger}: ${total}, plus the cost of those calls.`
        : "."
    } After that it is charged ${amount} whenever the balance falls below ${trigger}.</p>
${form}</div>`
  )
}

const save = (context: FormContext, settings: BillingSettings, choice: RechargeChoice, typed: FieldValues) => {
  const showAgain = (message: Html, status: number) => showPage({ context, settings, typed, message, status })
  const { cents, is_on, trigger_credits } = choice
  const isDue = context.account.balance_credits < trigger_credits
  return Billing.use((billing) => billing.saveRecharge(context.account.id, choice)).pipe(
    Effect.map(() =>
      redirect(
        "/billing",
        is_on
          ? `Auto-recharge is on: ${centsText(cents)} whenever the balance falls below ${usdText(trigger_credits)}.${isDue ? " The card is being charged now." : ""}`
          : `Auto-recharge is off.${settings.recharge.is_recharging ? " A recharge already in progress may still be charged." : ""}`
      )
    ),
    Effect.catchTags({
      InvalidChoice: ({ field, problem }) => {
        const problems = { [field === "cents" ? "recharge_amount" : "trigger"]: problem }
        return Effect.succeed(showPage({ context, settings, typed, problems, status: 422 }))
      },
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
    const typed = { recharge_amount: form.text("recharge_amount"), trigger: form.text("trigger") }
    if (form.text("is_on") === "not_yet") return showPage({ context, settings, typed })
    const amount = parseAmount(typed.recharge_amount)
    const trigger = parseTrigger(typed.trigger)
    if ("problem" in amount || "problem" in trigger) {
      const problems = {
        ...("problem" in amount && { recharge_amount: amount.problem }),
        ...("problem" in trigger && { trigger: trigger.problem })
      }
      return showPage({ context, settings, typed, problems, status: 422 })
    }
    const choice = { is_on: true, cents: amount.cents, trigger_credits: trigger.credits }
    const balance = context.account.balance_credits
    // the balance may have dropped since, so that more payments are needed than the user confirmed
    const isConfirmed = countPayments(balance, choice) <= Number(form.text("payments"))
    const { card } = settings
    if (card !== null && form.text("shown") !== formatVersion(settings)) {
      return showPage({ context, settings, typed, message: changedNotice(settings.recharge, card), status: 409 })
    }
    if (card !== null && !isConfirmed) return showConfirmation(balance, card, choice, settings, typed)
    return yield* save(context, settings, choice, typed)
  })
}
