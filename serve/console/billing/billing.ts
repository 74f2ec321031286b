/** The billing page: the balance, top-ups, the saved card, auto-recharge and the latest payments; removal of the card. */
import { Effect } from "effect"
import { amountPresets, Billing, type BillingSettings, formatCard, savedCardExplanation } from "../../billing/index.ts"
import type { AccountSummary } from "../../ledger/index.ts"
import { button, postForm } from "../web/form.ts"
import {
  badge,
  centsText,
  creditsText,
  facts,
  type Html,
  html,
  keyFigures,
  linkButton,
  notice,
  renderEmptyState,
  section,
  usdText
} from "../web/html.ts"
import { type Page, type PageContext, redirect, show } from "../web/page.ts"
import { limitText, rechargePath } from "./auto-recharge.ts"
import { lowBalancePage, lowBalanceSection } from "./low-balance.ts"
import {
  paymentsPath,
  paymentsTable,
  readSettings,
  savedCardText,
  shownCardInput,
  simulationNotice
} from "./payment-pieces.ts"
import { amountForm, formatWholeAmount, topUpPath } from "./top-up.ts"

const latestPayments = 5
const cardPath = "/billing/card"

const topUpSection = ({ name }: AccountSummary, { is_simulated }: BillingSettings) =>
  section(
    "Add credits",
    html`<div class="stack"><div class="amounts">${amountPresets.map((cents) => linkButton(`${topUpPath}?amount=${cents / 100}`, formatWholeAmount(cents)))}</div>
${amountForm("Or any amount")}</div>
<p class="hint">For the account ${name}. You see the amount before you pay.${
      !is_simulated && " The card processor handles your card; Larder never sees its number."
    }</p>`
  )

const cardSection = ({ card }: BillingSettings) =>
  section(
    "Saved card",
    card === null
      ? renderEmptyState("No card saved", `Make one payment by card. ${savedCardExplanation}`)
      : html`${facts([["Card", savedCardText(card)]])}
<p class="hint">To replace it, add credits and pay with another card.</p>`,
    card !== null && linkButton(cardPath, "Remove")
  )

const rechargeSection = (settings: BillingSettings) => {
  const { card, recharge } = settings
  const { cents, is_configured, is_on, is_recharging, trigger_credits } = recharge
  const limit = is_on ? limitText(recharge.limit) : undefined
  const offLabel = is_configured ? "Switch on" : "Set up"
  const body =
    card === null
      ? renderEmptyState("Off", "Auto-recharge needs a saved card. It charges the card before your credits run out.")
      : facts([
          ["State", is_on ? badge("On", "good") : badge("Off")],
          is_configured && [
            is_on ? "Charges" : "Last used",
            `${centsText(cents)} whenever the balance falls below ${usdText(trigger_credits)}`
          ],
          is_recharging && ["Now", "A recharge is in progress."],
          limit !== undefined && ["Limit", limit]
        ])
  const linkText = is_on ? "Change" : offLabel
  return section("Auto-recharge", body, linkButton(rechargePath, card === null ? "How it works" : linkText))
}

const billingPage: Page<Billing> = {
  path: "/billing",
  nav: "Billing",
  get: Effect.fnUntraced(function* (context) {
    const { account } = context
    const billing = yield* Billing
    const settings = yield* billing.settings(account.id)
    const payments = yield* billing.payments(account.id, { before: null, limit: latestPayments })
    const balance = account.balance_credits
    return show(
      "Billing",
      html`${
        balance < 0 &&
        notice(
          "bad",
          "The balance is below zero because a payment was returned or credits were deducted. Calls are rejected until you add credits."
        )
      }
${simulationNotice(settings)}${keyFigures([
  {
    label: "Balance",
    value: usdText(balance),
    details: html`${creditsText(balance)}<br><a href="/billing/ledger">See every credit in the ledger</a>`
  }
])}
${topUpSection(account, settings)}
<div class="cards">${cardSection(settings)}${rechargeSection(settings)}${lowBalanceSection(settings, context)}</div>
${section(
  "Payments",
  payments.length === 0
    ? renderEmptyState("No payments yet", "Payments by card are listed here, with their receipts.")
    : paymentsTable(payments),
  payments.length > 0 && html`<a href="${paymentsPath}">All payments</a>`
)}`
    )
  })
}

const removalPage = (context: PageContext, settings: BillingSettings, message?: Html, status?: number) => {
  const { card, recharge } = settings
  if (card === null) return redirect("/billing")
  return show(
    "Remove the saved card?",
    html`${message}${simulationNotice(settings)}<p>${formatCard(card)} is deleted here and at the card processor. You keep your credits.</p>
${recharge.is_on && notice("warning", "Auto-recharge is on. Removing the card switches it off.")}
${postForm(context, html`${shownCardInput(card)}<div class="row">${button("Remove the card", "danger")} ${linkButton("/billing", "Keep it")}</div>`)}`,
    status
  )
}

const cardPage: Page<Billing> = {
  path: cardPath,
  get: (context) => Effect.map(readSettings(context), (settings) => removalPage(context, settings)),
  post: Effect.fnUntraced(function* (context) {
    const settings = yield* readSettings(context)
    const { card } = settings
    if (card !== null && card.fingerprint !== context.form.text("card")) {
      return removalPage(
        context,
        settings,
        notice("warning", "Nothing was removed: another card was saved since this page was opened."),
        409
      )
    }
    return yield* Billing.use((billing) => billing.removeCard(context.account.id)).pipe(
      Effect.as(redirect("/billing", "The card was removed.")),
      Effect.catchTag("BillingUnavailable", ({ problem }) =>
        Effect.succeed(removalPage(context, settings, notice("bad", problem), 503))
      )
    )
  })
}

export const billingPages: ReadonlyArray<Page<Billing>> = [billingPage, cardPage, lowBalancePage]
