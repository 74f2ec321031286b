/**
 * A top-up: an amount, then a page that says how much will be charged to which card, then the payment. The form carries
 * a random text, so that it is one payment however often it is sent.
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
  type ShownCard,
  whyCardsAreSaved
} from "../../billing/index.ts"
import { randomText } from "../../ledger/index.ts"
import { button, centsTyped, field, postForm } from "../web/form.ts"
import { count, facts, type Html, html, linkButton, moment, notice, usd, usdOfCents } from "../web/html.ts"
import { type FormContext, leave, type Page, type PageContext, redirect, show } from "../web/page.ts"
import { pathOf, paymentsPath, savedCardText, shownCard, simulationNotice } from "./payment-pieces.ts"

export const topUpPath = "/billing/top-up"
const title = "Add credits"

export const wholeDollars = (cents: number): string => usdOfCents(cents).replace(/\.00$/, "")
const [least, most] = [wholeDollars(minPayment), wholeDollars(maxPayment)]

/** Cents of a valid amount, or the problem with it. */
export const paymentTyped = (text: string): { readonly cents: number } | { readonly problem: string } => {
  if (text === "") return { problem: "Enter an amount in US dollars." }
  const cents = centsTyped(text)
  if (cents === undefined) return { problem: "This is not an amount in dollars and cents, such as 75 or 75.50." }
  return isValidPayment(cents) ? { cents } : { problem: `Enter at least ${least} and at most ${most}.` }
}

/** Asks for an amount; leads to the page that says what is charged. */
export const amountForm = (of: { readonly label: string; readonly typed?: string; readonly error?: string }): Html =>
  html`<form method="get" action="${topUpPath}" class="filters">${field({
    name: "amount",
    label: of.label,
    value: of.typed ?? "",
    ...(of.error === undefined ? { hint: `${least} to ${most}` } : { error: of.error, autofocus: true }),
    inputmode: "decimal",
    maxlength: 20,
    prefix: "$",
    required: true
  })}${button("Continue", "plain")}</form>`

interface Review {
  readonly context: PageContext
  readonly cents: number
  readonly settings: BillingSettings
  /** Why the last payment with the saved card failed, if it did. */
  readonly refusal: string | undefined
  /** In-doubt charges of the saved card. */
  readonly open: ReadonlyArray<Payment>
  readonly submission: string
}

const nextStep = ({ card, is_simulated }: BillingSettings) => {
  const page = is_simulated ? "a page that simulates a card processor" : "a page of the card processor"
  return card === null
    ? `Nothing is charged yet: you enter the card on ${page}. ${whyCardsAreSaved}`
    : `The saved card is charged immediately. You enter another card on ${page}; it then replaces the saved card. Larder charges a saved card automatically only while auto-recharge is on.`
}

const payButtons = ({ cents, refusal, settings: { card } }: Review) => {
  const newCard = { name: "pay_with", value: "new_card" }
  if (card === null) return button("Continue to the card page", "primary", newCard)
  const savedCard = { name: "pay_with", value: "saved_card" }
  const withSaved = `Pay ${usdOfCents(cents)} with ${formatCard(card)}`
  return refusal === undefined
    ? html`${button(withSaved, "primary", savedCard)} ${button("Use another card", "plain", newCard)}`
    : html`${button("Pay with another card", "primary", newCard)} ${button(withSaved, "plain", savedCard)}`
}

/** A charge in doubt: paying now could mean paying twice. */
const unconfirmed = (payment: Payment) =>
  notice(
    "warning",
    html`<p>A payment of ${usdOfCents(payment.cents)}${payment.card !== null && html` with ${formatCard(payment.card)}`}, started ${moment(payment.created_at)}, <a href="${pathOf(payment)}">is not confirmed yet</a>. If you pay again now, both may be charged.</p>`
  )

const review = (of: Review) => {
  const { cents, context, open, refusal, settings, submission } = of
  const { card } = settings
  const added = centsToCredits(cents)
  const balance = context.account.balance_credits
  const why = refusal !== undefined && notice("warning", refusal)
  return html`${why}${open.map(unconfirmed)}<div class="card stack">${facts([
    ["You pay", usdOfCents(cents)],
    ["You get", `${count(added)} credits`],
    ["Balance afterwards", `${usd(balance + added)} (now ${usd(balance)})`],
    ...(card === null ? [] : [["Saved card", savedCardText(card)] as const])
  ])}
${postForm({
  action: topUpPath,
  body: html`<input type="hidden" name="amount" value="${(cents / 100).toFixed(2)}">
<input type="hidden" name="submission" value="${submission}">${shownCard(card)}
<div class="row">${payButtons(of)} ${linkButton("/billing", "Cancel")}</div>`
})}
<div><p class="hint">${nextStep(settings)}</p></div></div>`
}

/** How many of the latest payments are searched for the last settled one; unfinished payments may be newer. */
const lookedThrough = 20

/**
 * The failure of the most recently settled payment with this card, if it failed. That payment need not be the newest,
 * because a page can be paid long after it was opened.
 */
const refusalOf = (payments: ReadonlyArray<Payment>, saved: ShownCard | null) => {
  if (saved === null) return undefined
  const [last] = payments
    .filter(({ state }) => state === "succeeded" || state === "failed")
    .filter(({ card }) => card?.brand === saved.brand && card.last4 === saved.last4)
    .toSorted((one, other) => (other.settled_at ?? "").localeCompare(one.settled_at ?? ""))
  if (last?.state !== "failed") return undefined
  return `The last payment with ${formatCard(saved)} failed. ${last.problem ?? "It was not charged."}`
}

interface Asked {
  readonly context: PageContext
  /** The amount as typed; undefined if it is still to be entered. */
  readonly typed: string | undefined
  /** A problem with the amount that only billing can find. */
  readonly problem?: string
  readonly submission: string
  /** Above the form. */
  readonly told?: Html
  readonly status?: number
}

const shown = Effect.fnUntraced(function* ({ context, problem, status, submission, told, typed }: Asked) {
  const { id } = context.account
  const settings = yield* Billing.use((billing) => billing.settings(id))
  const above = html`${told}${simulationNotice(settings)}`
  if (typed === undefined) return show(title, html`${above}<div class="card">${amountForm({ label: "Amount" })}</div>`)
  const amount = problem === undefined ? paymentTyped(typed) : { problem }
  if ("problem" in amount) {
    const form = amountForm({ label: "Amount", typed, error: amount.problem })
    return show(title, html`${above}<div class="card">${form}</div>`, 422)
  }
  const latest = yield* Billing.use((billing) => billing.payments(id, { before: null, limit: lookedThrough }))
  const refusal = refusalOf(latest, settings.card)
  // an unpaid page of the processor is open too, but is no reason to warn
  const open = latest.filter(({ card, state }) => state === "open" && card !== null)
  const reviewed = review({ context, cents: amount.cents, open, refusal, settings, submission })
  return show(title, html`${above}${reviewed}`, status)
})

const newSubmission = Effect.sync(() => randomText(24))

/**
 * For a customer who returns from the payment page, and may have paid in another tab. Undefined if the account has no
 * such payment.
 */
const leftWithout = ({ account }: PageContext, payment_id: string) =>
  Billing.use((billing) => billing.leave(account.id, payment_id)).pipe(
    Effect.catchTag("UnknownPayment", () => Effect.succeed(undefined))
  )

const ask = Effect.fnUntraced(function* (context: PageContext) {
  const query = context.url.searchParams
  const typed = query.get("amount")?.trim()
  const left = query.get("left")
  const payment = left === null ? undefined : yield* leftWithout(context, left)
  if (payment !== undefined && payment.state !== "expired") return redirect(pathOf(payment))
  const told = payment && notice("quiet", "The payment was not completed, and nothing was charged.")
  return yield* shown({ context, typed, submission: yield* newSubmission, ...(told !== undefined && { told }) })
})

const pay = Effect.fnUntraced(function* (context: FormContext) {
  const { account, form, person } = context
  const typed = form.text("amount")
  const submission = form.text("submission")
  const amount = paymentTyped(typed)
  if ("problem" in amount) return yield* shown({ context, typed, submission })
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
    Effect.map((done) => ("redirect" in done ? leave(done.redirect) : redirect(pathOf(done.payment)))),
    Effect.catchTags({
      InvalidChoice: ({ field, problem }) => {
        if (field === "card")
          return shown({ context, typed, submission, told: notice("warning", problem), status: 409 })
        return field === "submission"
          ? Effect.flatMap(newSubmission, (submission) =>
              shown({ context, typed, submission, told: notice("bad", problem), status: 422 })
            )
          : shown({ context, typed, submission, problem })
      },
      NoSavedCard: (none) => shown({ context, typed, submission, told: notice("bad", none.message), status: 422 }),
      // the same submission again is the same payment
      BillingUnavailable: (away) =>
        shown({ context, typed, submission, told: notice("bad", away.problem), status: 503 })
    })
  )
})

const topUpPage: Page<Billing> = { path: topUpPath, get: ask, post: pay }

export const topUpPages: ReadonlyArray<Page<Billing>> = [topUpPage]
