/** The ledger of an account: every movement of credits, with the balance after it; also as a CSV file. */
import { Effect, Stream } from "effect"
import { type AccountSummary, Administration, type Entry, usdOf } from "../../ledger/index.ts"
import { type Keys, keysOf, linkTo, nameOf, shownName } from "../usage/calls-asked.ts"
import { csvFile } from "../web/csv.ts"
import { button, searchForm, select } from "../web/form.ts"
import {
  count,
  credits,
  empty,
  html,
  linkButton,
  moment,
  momentBelow,
  type Part,
  pathCode,
  stats,
  table,
  usd
} from "../web/html.ts"
import { type Page, PageNotFound, show } from "../web/page.ts"
import { paymentsPath } from "./payment-pieces.ts"

const path = "/billing/ledger"
const perPage = 50

const kinds: Readonly<Record<string, { readonly label: string; readonly types: ReadonlyArray<Entry["type"]> }>> = {
  calls: { label: "Calls", types: ["charge"] },
  payments: { label: "Payments", types: ["top_up", "auto_recharge"] },
  refunds: { label: "Refunds and adjustments", types: ["refund", "adjustment"] },
  grants: { label: "Starting credits", types: ["grant"] }
}

/** Undefined for all kinds. */
const kindOf = (name: string) => {
  if (name === "") return Effect.succeed(undefined)
  return Object.hasOwn(kinds, name) ? Effect.succeed(kinds[name]) : Effect.fail(new PageNotFound())
}

const positionOf = (text: string): Effect.Effect<number | null, PageNotFound> => {
  if (text === "") return Effect.succeed(null)
  return /^[1-9]\d{0,14}$/.test(text) ? Effect.succeed(Number(text)) : Effect.fail(new PageNotFound())
}

const names: Readonly<Record<Entry["type"], string>> = {
  grant: "Starting credits",
  charge: "Call",
  top_up: "Top-up",
  auto_recharge: "Auto-recharge",
  refund: "Refund",
  adjustment: "Adjustment"
}

const isPayment = ({ type }: Entry) => type === "top_up" || type === "auto_recharge"

const paymentLink = (id: string, text: Part) => html`<a href="${paymentsPath}/${encodeURIComponent(id)}">${text}</a>`

/** `$20.00 of payment pay_7ee3…`; screen readers read the whole id. */
const ofPayment = (credits: number, id: string) => {
  const [begin, rest] = [id.slice(0, 8), id.slice(8)]
  return html`${usd(Math.abs(credits))} of payment ${begin}<span aria-hidden="true">…</span><span class="hidden">${rest}</span>`
}

/** Hidden on a phone, which shows rows as small cards. */
const nothing = html`<span class="nothing">–</span>`

/** The call, the payment, or the reason of an entry. */
const about = (entry: Entry, keys: Keys): Part => {
  const { credits, endpoint, key_id, note, request_id, type } = entry
  if (key_id !== null) {
    return html`${endpoint !== null && html`${pathCode(endpoint)}<br>`}${shownName(keys, key_id)}${note !== null && html`<br><small>${note}</small>`}`
  }
  if (isPayment(entry) && request_id !== null) return paymentLink(request_id, note ?? "Payment")
  if (type === "grant" || note === null) return nothing // a grant's note repeats its type
  if (entry.expires_at !== null) return html`${note}<br><small>expires ${moment(entry.expires_at)}</small>`
  // the format of notes about reversals
  const [, why = "", payment] = /^(.+), payment (pay_\w+)$/.exec(note) ?? []
  if (payment === undefined) return note
  const link = paymentLink(payment, ofPayment(credits, payment))
  return why === type ? link : html`${link}: ${why}`
}

/** A figure in a column. A phone hides the headings, so it shows the unit next to the figure. */
const figure = (value: number, sign = "") =>
  html`${sign}${count(value)}<span class="unit"> ${Math.abs(value) === 1 ? "credit" : "credits"}</span>`

const rowOf = (keys: Keys) => (entry: Entry) => [
  momentBelow(entry.occurred_at),
  html`<span class="nowrap">${names[entry.type]}</span>`,
  about(entry, keys),
  entry.request_id === null ? nothing : html`<code class="id">${entry.request_id}</code>`,
  figure(entry.credits, entry.credits > 0 ? "+" : ""),
  figure(entry.balance)
]

const listed = (entries: ReadonlyArray<Entry>, keys: Keys) =>
  table({
    caption: "Entries, newest first",
    stacks: true,
    columns: [
      { label: "When (UTC)" },
      { label: "What" },
      { label: "About" },
      { label: "Reference" },
      { label: "Credits", numeric: true },
      { label: "Balance", numeric: true }
    ],
    rows: entries.map(rowOf(keys))
  })

/** Calls spend expiring credits in this order, before all other credits. */
const expiringCredits = (expiring: AccountSummary["expiring"]) =>
  html`<p>Of these, calls spend the credits that expire first: ${expiring.map(
    ({ credits: left, expires_at }, index) =>
      html`${index > 0 && ", "}<span class="nowrap">${usd(left)} until ${moment(expires_at)}</span>`
  )}. Credits left then expire.</p>`

const ledgerPage: Page<Administration> = {
  path,
  get: Effect.fnUntraced(function* ({ account, url }) {
    const name = url.searchParams.get("what") ?? ""
    const kind = yield* kindOf(name)
    const before = yield* positionOf(url.searchParams.get("before") ?? "")
    const found = yield* Administration.use((ledger) =>
      ledger.entriesBefore({
        account_id: account.id,
        before,
        limit: perPage + 1,
        ...(kind !== undefined && { types: kind.types })
      })
    )
    const keys = yield* keysOf(account.id)
    const entries = found.slice(0, perPage)
    const last = found.length > perPage ? entries.at(-1) : undefined
    const pages = html`<nav class="paging" aria-label="Pages">${
      before !== null && linkButton(linkTo(path, { what: name }), "Newest")
    }${
      last !== undefined &&
      html`<a class="button plain" rel="next" href="${linkTo(path, { what: name, before: String(last.position) })}">Older</a>`
    }</nav>`
    return show(
      "Ledger",
      html`${stats([{ label: "Balance", value: usd(account.balance_credits), more: credits(account.balance_credits) }])}
${account.expiring.length > 0 && expiringCredits(account.expiring)}
<p class="lead">Every movement of your credits since the account was opened. Entries are never changed or removed. The CSV file contains all of them.</p>
${searchForm(html`${select({
  name: "what",
  label: "What",
  value: name,
  options: [
    { value: "", label: "Everything" },
    ...Object.entries(kinds).map(([value, { label }]) => ({ value, label }))
  ]
})}
<p class="row">${button("Show", "plain")} ${linkButton(`${path}.csv`, "Download all as CSV")}</p>`)}
<div class="card entries">${entries.length === 0 ? empty("No entries", "There are no entries of this kind.") : listed(entries, keys)}</div>
${(before !== null || last !== undefined) && pages}
<div class="row">${linkButton("/billing", "Back to billing")}</div>`
    )
  })
}

const ledgerFile: Page<Administration> = {
  path: `${path}.csv`,
  get: Effect.fnUntraced(function* ({ account }) {
    const ledger = yield* Administration
    const keys = yield* keysOf(account.id)
    return yield* csvFile(
      `larder-ledger-${account.id}.csv`,
      [
        "position",
        "occurred_at",
        "type",
        "credits",
        "usd",
        "balance_credits",
        "balance_usd",
        "key_id",
        "key",
        "endpoint",
        "reference",
        "note",
        "expires_at"
      ],
      ledger
        .entriesOf(account.id)
        .pipe(
          Stream.map((entry) => [
            entry.position,
            entry.occurred_at,
            entry.type,
            entry.credits,
            usdOf(entry.credits),
            entry.balance,
            usdOf(entry.balance),
            entry.key_id,
            entry.key_id === null ? null : nameOf(keys, entry.key_id),
            entry.endpoint,
            entry.request_id,
            entry.note,
            entry.expires_at
          ])
        )
    )
  })
}

export const ledgerPages: ReadonlyArray<Page<Administration>> = [ledgerPage, ledgerFile]
