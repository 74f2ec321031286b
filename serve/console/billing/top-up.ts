/**
 * A top-up: an amount, then a page that shows how much will be charged to which card, then the payment. The form contains
 * a random string, so that repeated submissions create only one payment.
 */
import { Effect } from "effect"
import {
  Billing,
  type BillingSettings,
  centsToCredits,
  formatCard,
  isValidPayment,
  maxPayment,
  minPayment,
  type Payment,
  type SavedCard,
  type ShownCard,
  savedCardExplanation
} from "../../billing/index.ts"
import { randomString } from "../../ledger/index.ts"
import { button, dollarField, hiddenInput, parseCents, postForm } from "../web/form.ts"
import { centsText, countText, facts, type Html, html, linkButton, notice, timeTag, usdText } from "../web/html.ts"
import { type FormContext, type Page, type PageContext, redirect, redirectAway, show } from "../web/page.ts"
import { paymentPath, paymentsPath, savedCardText, shownCardInput, simulationNotice } from "./payment-pieces.ts"

export const topUpPath = "/billing/top-up"
const title = "Add credits"

export const formatWholeAmount = (cents: number): string => centsText(cents).replace(/\.00$/, "")
const [minAmount, maxAmount] = [formatWholeAmount(minPayment), formatWholeAmount(maxPayment)]

/** The cents of a valid amount, or the problem with it. */
export const parseAmount = (text: string): { readonly cents: number } | { readonly problem: string } => {
  if (text === "") return { problem: "Enter an amount in US dollars." }
  const cents = parseCents(text)
  if (cents === undefined) return { problem: "Enter an amount in dollars and cents, such as 75 or 75.50." }
  return isValidPayment(cents) ? { cents } : { problem: `Enter at least ${minAmount} and at most ${maxAmount}.` }
}

/** The form for an amount; it leads to the page that shows what is charged. */
export const amountForm = (label: string, typed?: string, error?: string): Html =>
  html`<form method="get" action="${topUpPath}" class="filters">${dollarField({
    name: "amount",
    label,
    value: typed ?? "",
    ...(error === undefined ? { hint: `${minAmount} to ${maxAmount}` } : { error, autofocus: true }),
    maxlength: 20,
    required: true
  })}${button("Continue", "plain")}</form>`

const describeNextStep = ({ card, is_simulated }: BillingSettings) => {
  const page = is_simulated ? "a page that simulates a card processor" : "a page of the card processor"
  return card === null
    ? `Nothing is charged yet: you enter the card on ${page}. ${savedCardExplanation}`
    : `The saved card is charged immediately. You enter another card on ${page}; it then replaces the saved card. Larder charges a saved card automatically only while auto-recharge is on.`
}

const payButtons = (cents: number, card: SavedCard | null, failure: string | undefined) => {
  const newCard = { name: "pay_with", value: "new_card" }
  if (card === null) return button("Continue to the card page", "primary", newCard)
  const savedCard = { name: "pay_with", value: "saved_card" }
  const withSaved = `Pay ${centsText(cents)} with ${formatCard(card)}`
  return failure === undefined
    ? html`${button(withSaved, "primary", savedCard)} ${button("Use another card", "plain", newCard)}`
    : html`${button("Pay with another card", "primary", newCard)} ${button(withSaved, "plain", savedCard)}`
}

/** Warns about an in-doubt charge: paying again now could mean paying twice. */
const inDoubtNotice = (payment: Payment) =>
  notice(
    "warning",
    html`<p>A payment of ${centsText(payment.cents)}${payment.card !== null && html` with ${formatCard(payment.card)}`}, started ${timeTag(payment.created_at)}, <a href="${paymentPath(payment)}">is not confirmed yet</a>. If you pay again now, both may be charged.</p>`
  )

/** How many of the latest payments are searched for the last completed one; open payments may be newer. */
const maxSearchedPayments = 20

/**
 * The failure of the most recently completed (succeeded or failed) payment with this card, if it failed. It is not
 * always the newest payment, because a payment page can be paid long after it was opened.
 */
const findFailure = (payments: ReadonlyArray<Payment>, saved: ShownCard | null) => {
  if (saved === null) return undefined
  const [last] = payments
    .filter(({ state }) => state === "succeeded" || state === "failed")
    .filter(({ card }) => card?.brand === saved.brand && card.last4 === saved.last4)
    .toSorted((a, b) => (b.settled_at ?? "").localeCompare(a.settled_at ?? ""))
  if (last?.state !== "failed") return undefined
  return `The last payment with ${formatCard(saved)} failed. ${last.problem ?? "It was not charged."}`
}

interface TopUpState {
  readonly context: PageContext
  /** The amount as typed; undefined if none was entered yet. */
  readonly typed: string | undefined
  /** A problem with the amount that only billing can find. */
  readonly problem?: string
  readonly submission: string
  /** Shown above the form. */
  readonly message?: Html | undefined
  readonly status?: number
}

const showTopUp = Effect.fnUntraced(function* ({ context, message, problem, status, submission, typed }: TopUpState) {
  const { balance_credits, id, name } = context.account
  const settings = yield* Billing.use((billing) => billing.settings(id))
  const { card } = settings
  const notices = html`${message}${simulationNotice(settings)}`
  const showAmount = (form: Html, status?: number) =>
    show(title, html`${notices}<div class="card stack">${facts([["Account", name]])}${form}</div>`, status)
  if (typed === undefined) return showAmount(amountForm("Amount"))
  const amount = problem === undefined ? parseAmount(typed) : { problem }
  if ("problem" in amount) {
    return showAmount(amountForm("Amount", typed, amount.problem), 422)
  }
  const { cents } = amount
  const latest = yield* Billing.use((billing) => billing.payments(id, { before: null, limit: maxSearchedPayments }))
  const failure = findFailure(latest, card)
  // a payment with an unused card page is also `open`, but needs no warning
  const inDoubt = latest.filter(({ card, state }) => state === "open" && card !== null)
  const added = centsToCredits(cents)
  const form = postForm(
    context,
    html`${hiddenInput("amount", (cents / 100).toFixed(2))}
${hiddenInput("submission", submission)}${shownCardInput(card)}
<div class="row">${payButtons(cents, card, failure)} ${linkButton("/billing", "Cancel")}</div>`,
    { action: topUpPath }
  )
  return show(
    title,
    html`${notices}${failure !== undefined && notice("warning", failure)}${inDoubt.map(inDoubtNotice)}<div class="card stack">${facts(
      [
        ["Account", name],
        ["You pay", centsText(cents)],
        ["You get", `${countText(added)} credits`],
        ["Balance afterwards", `${usdText(balance_credits + added)} (now ${usdText(balance_credits)})`],
        card !== null && ["Saved card", savedCardText(card)]
      ]
    )}
${form}
<div><p class="hint">${describeNextStep(settings)}</p></div></div>`,
    status
  )
})

const newSubmission = Effect.sync(() => randomString(24))

/**
 * Closes the payment of a customer who left the card page. It may have been paid in another tab. Undefined if the account
 * has no such payment.
 */
const closeAbandonedPayment = ({ account }: PageContext, payment_id: string) =>
  Billing.use((billing) => billing.leave(account.id, payment_id)).pipe(
    Effect.catchTag("UnknownPayment", () => Effect.succeed(undefined))
  )

const handleGet = Effect.fnUntraced(function* (context: PageContext) {
  const { searchParams } = context.url
  const typed = searchParams.get("amount")?.trim()
  const abandonedPaymentId = searchParams.get("left")
  const payment = abandonedPaymentId === null ? undefined : yield* closeAbandonedPayment(context, abandonedPaymentId)
  if (payment !== undefined && payment.state !== "expired") return redirect(paymentPath(payment))
  const message = payment && notice("quiet", "The payment was not completed, and nothing was charged.")
  return yield* showTopUp({ context, typed, submission: yield* newSubmission, message })
})

const handleSubmit = Effect.fnUntraced(function* (context: FormContext) {
  const { account, form, person } = context
  const typed = form.text("amount")
  const submission = form.text("submission")
  const amount = parseAmount(typed)
  if ("problem" in amount) return yield* showTopUp({ context, typed, submission })
  const showAgain = (message: Html, status: number) => showTopUp({ context, typed, submission, message, status })
  const topUp = {
    account_id: account.id,
    person_id: person.id,
    email: person.email,
    cents: amount.cents,
    card: form.text("pay_with") === "saved_card" ? form.text("card") : null,
    submission,
    success_url: (id: string) => `${context.console}${paymentsPath}/${encodeURIComponent(id)}`,
    cancel_url: (id: string) =>
      `${context.console}${topUpPath}?amount=${encodeURIComponent(typed)}&left=${encodeURIComponent(id)}`
  } as const
  return yield* Billing.use((billing) => billing.topUp(topUp)).pipe(
    Effect.map((result) =>
      "redirect" in result ? redirectAway(result.redirect) : redirect(paymentPath(result.payment))
    ),
    Effect.catchTags({
      InvalidChoice: ({ field, problem }) => {
        if (field === "card") return showAgain(notice("warning", problem), 409)
        return field === "submission"
          ? Effect.flatMap(newSubmission, (submission) =>
              showTopUp({ context, typed, submission, message: notice("bad", problem), status: 422 })
            )
          : showTopUp({ context, typed, submission, problem })
      },
      NoSavedCard: ({ message }) => showAgain(notice("bad", message), 422),
      // submitting the same form again does not create a second payment
      BillingUnavailable: ({ problem }) => showAgain(notice("bad", problem), 503)
    })
  )
})

export const topUpPage: Page<Billing> = { path: topUpPath, get: handleGet, post: handleSubmit }
