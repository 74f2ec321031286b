/** The page and the CSV file with the ledger of an account: every change of its credits, with the balance after it. */
import { Effect, Stream } from "effect"
import { Administration, type Entry, usdOf } from "../../ledger/index.ts"
import { type Keys, keyName, keyNameTag, readKeys } from "../usage/calls-filter.ts"
import { downloadCsv } from "../web/csv.ts"
import { searchForm, select } from "../web/form.ts"
import {
  countText,
  creditsText,
  creditUnit,
  type HtmlPart,
  html,
  keyFigures,
  linkButton,
  pathCode,
  renderEmptyState,
  stackedTable,
  timeInColumn,
  usdText
} from "../web/html.ts"
import { type Page, PageNotFound, show } from "../web/page.ts"
import { listPaging, readChoice, readPage, readParameter } from "../web/query.ts"
import { paymentsPath } from "./payment-pieces.ts"

const path = "/billing/ledger"
const entriesPerPage = 50

const kinds: Readonly<Record<string, { readonly label: string; readonly types: ReadonlyArray<Entry["type"]> }>> = {
  calls: { label: "Calls", types: ["charge"] },
  payments: { label: "Payments", types: ["top_up", "auto_recharge"] },
  refunds: { label: "Refunds and adjustments", types: ["refund", "adjustment"] },
  grants: { label: "Starting credits", types: ["grant"] }
}

const typeNames: Readonly<Record<Entry["type"], string>> = {
  grant: "Starting credits",
  charge: "Call",
  top_up: "Top-up",
  auto_recharge: "Auto-recharge",
  refund: "Refund",
  adjustment: "Adjustment"
}

const isPayment = ({ type }: Entry) => type === "top_up" || type === "auto_recharge"

const paymentLink = (id: string, text: HtmlPart) =>
  html`<a href="${paymentsPath}/${encodeURIComponent(id)}">${text}</a>`

/** `$20.00 of payment pay_7ee3…`; screen readers read the whole id. */
const renderPaymentPart = (credits: number, id: string) => {
  const [start, rest] = [id.slice(0, 8), id.slice(8)]
  return html`${usdText(Math.abs(credits))} of payment ${start}<span aria-hidden="true">…</span><span class="hidden">${rest}</span>`
}

/** Hidden on a phone, which shows rows as small cards. */
const dash = html`<span class="nothing">–</span>`

/** What an entry is about: a call, a payment or a note. */
const renderSubject = (entry: Entry, keys: Keys): HtmlPart => {
  const { credits, endpoint, key_id, note, request_id, type } = entry
  if (key_id !== null) {
    return html`${endpoint !== null && html`${pathCode(endpoint)}<br>`}${keyNameTag(keys, key_id)}${note !== null && html`<br><small>${note}</small>`}`
  }
  if (isPayment(entry) && request_id !== null) return paymentLink(request_id, note ?? "Payment")
  if (type === "grant" || note === null) return dash // the note of a grant repeats its type
  // a refund or dispute
  const [, reason = "", payment] = /^(.+), payment (pay_\w+)$/.exec(note) ?? []
  if (payment === undefined) return note
  const link = paymentLink(payment, renderPaymentPart(credits, payment))
  return reason === type ? link : html`${link}: ${reason}`
}

/** A phone hides the headings and shows the unit next to the number. */
const renderFigure = (value: number, sign = "") =>
  html`${sign}${countText(value)}<span class="unit"> ${creditUnit(value)}</span>`

const entriesTable = (entries: ReadonlyArray<Entry>, keys: Keys) =>
  stackedTable("Entries, newest first", entries, [
    ["When (UTC)", ({ occurred_at }) => timeInColumn(occurred_at)],
    ["What", ({ type }) => html`<span class="nowrap">${typeNames[type]}</span>`],
    ["About", (entry) => renderSubject(entry, keys)],
    ["Reference", ({ request_id }) => (request_id === null ? dash : html`<code class="id">${request_id}</code>`)],
    ["Credits", ({ credits }) => renderFigure(credits, credits > 0 ? "+" : ""), "numeric"],
    ["Balance", ({ balance }) => renderFigure(balance), "numeric"]
  ])

const ledgerPage: Page<Administration> = {
  path,
  get: Effect.fnUntraced(function* ({ account, url }) {
    const kindName = yield* readChoice(url, "what", Object.keys(kinds))
    const before = readParameter(url, "before") ?? null
    if (before !== null && !/^[1-9]\d{0,14}$/.test(before)) return yield* new PageNotFound()
    const kind = kindName === undefined ? undefined : kinds[kindName]
    const query = {
      account_id: account.id,
      before: before === null ? null : Number(before),
      ...(kind !== undefined && { types: kind.types })
    }
    const ledger = yield* Administration
    const { last, rows } = yield* readPage(entriesPerPage, (limit) => ledger.entriesBefore({ ...query, limit }))
    const keys = yield* readKeys(account.id)
    const options = Object.entries(kinds).map(([value, { label }]) => ({ value, label }))
    const entries =
      rows.length === 0
        ? renderEmptyState("No entries", "There are no entries of this kind.")
        : entriesTable(rows, keys)
    return show(
      "Ledger",
      html`${keyFigures([{ label: "Balance", value: usdText(account.balance_credits), details: creditsText(account.balance_credits) }])}
<p class="lead">Every movement of your credits since the account was opened. Entries are never changed or removed. The CSV file contains all of them.</p>
${searchForm(select({ name: "what", label: "What", allLabel: "Everything", value: kindName ?? "", options }), linkButton(`${path}.csv`, "Download all as CSV"))}
<div class="card entries">${entries}</div>
${listPaging(path, { what: kindName }, before === null, last && { before: String(last.position) })}
<div class="row">${linkButton("/billing", "Back to billing")}</div>`
    )
  })
}

const columns: Readonly<Record<string, (entry: Entry, keys: Keys) => string | number | null>> = {
  position: ({ position }) => position,
  occurred_at: ({ occurred_at }) => occurred_at,
  type: ({ type }) => type,
  credits: ({ credits }) => credits,
  usd: ({ credits }) => usdOf(credits),
  balance_credits: ({ balance }) => balance,
  balance_usd: ({ balance }) => usdOf(balance),
  key_id: ({ key_id }) => key_id,
  key: ({ key_id }, keys) => (key_id === null ? null : keyName(keys, key_id)),
  endpoint: ({ endpoint }) => endpoint,
  reference: ({ request_id }) => request_id,
  note: ({ note }) => note
}
const ledgerFile: Page<Administration> = {
  path: `${path}.csv`,
  get: Effect.fnUntraced(function* ({ account }) {
    const ledger = yield* Administration
    const keys = yield* readKeys(account.id)
    const cells = Object.values(columns)
    const rows = ledger.entriesOf(account.id).pipe(Stream.map((entry) => cells.map((cell) => cell(entry, keys))))
    return yield* downloadCsv(`larder-ledger-${account.id}.csv`, Object.keys(columns), rows)
  })
}

export const ledgerPages: ReadonlyArray<Page<Administration>> = [ledgerPage, ledgerFile]
