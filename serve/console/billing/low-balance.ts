/** `/billing/low-balance`: the balance below which the people of the account get a mail. */
import { Effect } from "effect"
import { Billing, type BillingSettings } from "../../billing/index.ts"
import { button, dollarField, postForm, problemSummary } from "../web/form.ts"
import { badge, facts, type Html, html, linkButton, notice, renderEmptyState, section, usdText } from "../web/html.ts"
import { type Page, type PageContext, redirect, show } from "../web/page.ts"
import { readSettings } from "./payment-pieces.ts"
import { formatDollars, parseTrigger } from "./recharge-fields.ts"

const path = "/billing/low-balance"
const title = "Low-balance mail"
const offText = "This server sends no mail, so its operator cannot tell you when the balance is low."

/** For the billing page. */
export const lowBalanceSection = ({ low_balance_credits }: BillingSettings, { sendsMail }: PageContext) => {
  if (!sendsMail) return section(title, renderEmptyState("Off", offText))
  const isOn = low_balance_credits !== null
  return section(
    title,
    html`${facts([
      ["State", isOn ? badge("On", "good") : badge("Off")],
      isOn && ["Sent", `whenever the balance falls below ${usdText(low_balance_credits)}`]
    ])}${!isOn && html`<p class="hint">Get a mail before your credits run out.</p>`}`,
    linkButton(path, isOn ? "Change" : "Set up")
  )
}

interface PageProps {
  readonly typed?: string
  readonly problem?: string
  readonly message?: Html
  readonly status?: number
}

const showPage = (
  context: PageContext,
  { low_balance_credits, recharge }: BillingSettings,
  {
    message,
    problem,
    status,
    typed = low_balance_credits === null ? "" : formatDollars(low_balance_credits)
  }: PageProps = {}
) => {
  if (!context.sendsMail)
    return show(title, html`${notice("warning", offText)}<p>${linkButton("/billing", "Back to billing")}</p>`)
  const field = dollarField({
    name: "threshold",
    label: "Send a mail when the balance falls below",
    hint: `$1 to $50,000. The balance is ${usdText(context.account.balance_credits)} now.`,
    value: typed,
    error: problem,
    maxlength: 20,
    required: true
  })
  const off = postForm(context, button("Switch off", "plain", { name: "is_on", value: "no" }))
  const save = html`<div class="row">${button("Save", "primary", { name: "is_on", value: "yes" })} ${linkButton("/billing", "Cancel")}</div>`
  return show(
    title,
    html`${message}${problem && problemSummary({ threshold: problem })}
<p class="lead">Everyone who signs in to ${context.account.name} gets one mail each time the balance falls below this amount, at most one an hour. You also get a mail if a card is declined, or if auto-recharge is stopped or reaches a ceiling.</p>
<div class="card stack">${postForm(context, html`${field}${recharge.is_on && html`<p class="hint">Auto-recharge begins below ${usdText(recharge.trigger_credits)}. Choose less, or you get a mail before each recharge.</p>`}${save}`)}
${low_balance_credits !== null && off}</div>`,
    status
  )
}

export const lowBalancePage: Page<Billing> = {
  path,
  get: (context) => Effect.map(readSettings(context), (settings) => showPage(context, settings)),
  post: Effect.fnUntraced(function* (context) {
    const { account, form } = context
    const settings = yield* readSettings(context)
    const typed = form.text("threshold")
    const isOff = form.text("is_on") === "no"
    const parsed = isOff ? { credits: null } : parseTrigger(typed)
    if ("problem" in parsed) return showPage(context, settings, { typed, problem: parsed.problem, status: 422 })
    const { credits } = parsed
    const saved =
      credits === null
        ? "You get no mail about a low balance."
        : `You get a mail when the balance falls below ${usdText(credits)}.`
    return yield* Billing.use((billing) => billing.saveLowBalance(account.id, credits)).pipe(
      Effect.as(redirect("/billing", saved)),
      Effect.catchTags({
        InvalidChoice: ({ problem }) => Effect.succeed(showPage(context, settings, { typed, problem, status: 422 })),
        BillingUnavailable: ({ problem }) =>
          Effect.succeed(showPage(context, settings, { typed, message: notice("bad", problem), status: 503 }))
      })
    )
  })
}
