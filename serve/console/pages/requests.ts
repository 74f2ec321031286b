/** Requests: the latest calls of an account, charged or refused, as the request log keeps them. */
import { Timestamp } from "@larder/schemas/dates.ts"
import { Effect, Schema } from "effect"
import type { Administration } from "../../ledger/administration.ts"
import { type NotedRequest, type PlaceInRequests, RequestLog } from "../../requests/request-log.ts"
import { button, searchForm, select } from "../form.ts"
import { count, empty, html, linkButton, momentBelow, pathCode, table } from "../html.ts"
import { type Page, PageNotFound, show } from "../page.ts"
import { type CallsAsked, callFields, callsAsked, type Keys, keysOf, linkTo, shownName } from "./calls-asked.ts"
import { meaningOf, statusBadge, statuses } from "./statuses.ts"

const path = "/requests"
const perPage = 50

/** `2026-10-15T12:00:00.000Z~req_…` in the address. */
const placeText = ({ id, occurred_at }: PlaceInRequests) => `${occurred_at}~${id}`
const isMoment = Schema.is(Timestamp)

const placeOf = (text: string): Effect.Effect<PlaceInRequests | undefined, PageNotFound> => {
  if (text === "") return Effect.succeed(undefined)
  const [occurred_at = "", id = ""] = text.split(/~(.*)/s)
  return isMoment(occurred_at) && id !== "" ? Effect.succeed({ occurred_at, id }) : Effect.fail(new PageNotFound())
}

const statusOf = (text: string): Effect.Effect<number | undefined, PageNotFound> => {
  if (text === "") return Effect.succeed(undefined)
  return /^[1-5]\d\d$/.test(text) ? Effect.succeed(Number(text)) : Effect.fail(new PageNotFound())
}

const duration = (milliseconds: number) =>
  milliseconds < 1_000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1_000).toFixed(2)} s`

const filters = (asked: CallsAsked, status: number | undefined, keys: Keys) =>
  searchForm(html`${callFields(asked, keys)}
${select({
  name: "status",
  label: "Status",
  value: String(status ?? ""),
  options: [
    { value: "", label: "All statuses" },
    ...statuses.map((one) => ({ value: String(one), label: `${one} ${meaningOf(one)}` }))
  ]
})}
${button("Show", "plain")}`)

const rowOf = (keys: Keys) => (call: NotedRequest) => [
  momentBelow(call.occurred_at),
  html`<code class="id">${call.id}</code>`,
  shownName(keys, call.key_id),
  pathCode(call.endpoint),
  html`${statusBadge(call.status)} <small>${meaningOf(call.status)}</small>`,
  count(call.credits),
  duration(call.duration_ms)
]

const listed = (calls: ReadonlyArray<NotedRequest>, keys: Keys) =>
  table({
    caption: "Calls, newest first",
    stacks: true,
    columns: [
      { label: "When (UTC)" },
      { label: "Request id" },
      { label: "Key" },
      { label: "Endpoint" },
      { label: "Status" },
      { label: "Credits", numeric: true },
      { label: "Duration", numeric: true }
    ],
    rows: calls.map(rowOf(keys))
  })

export const requestsPage: Page<Administration | RequestLog> = {
  path,
  nav: "Requests",
  get: Effect.fnUntraced(function* ({ account, url }) {
    const query = url.searchParams
    const keys = yield* keysOf(account.id)
    const asked = yield* callsAsked(query, keys)
    const status = yield* statusOf(query.get("status") ?? "")
    const before = yield* placeOf(query.get("before") ?? "")
    const found = yield* RequestLog.use((log) =>
      log.latest({
        account_id: account.id,
        limit: perPage + 1,
        ...(asked.key !== undefined && { key_id: asked.key }),
        ...(asked.endpoint !== undefined && { endpoint: asked.endpoint }),
        ...(status !== undefined && { status }),
        ...(before !== undefined && { before })
      })
    )
    const calls = found.slice(0, perPage)
    const last = found.length > perPage ? calls.at(-1) : undefined
    const about = { ...asked, status: status === undefined ? undefined : String(status) }
    const isAll = Object.values(about).every((value) => value === undefined)
    const none = isAll
      ? empty("No calls yet", "Every call with one of your keys is listed here within a second, refused ones too.")
      : empty("No such calls", "None of the latest calls matches.", linkButton(path, "Show all"))
    const pages = html`<nav class="paging" aria-label="Pages">${
      before !== undefined && linkButton(linkTo(path, about), "Newest")
    }${last !== undefined && html`<a class="button plain" rel="next" href="${linkTo(path, { ...about, before: placeText(last) })}">Older</a>`}</nav>`
    return show(
      "Requests",
      html`<p class="lead">Your latest calls; up to 10,000 are kept. Quote the request id when you ask for help.</p>
${filters(asked, status, keys)}
<div class="card">${calls.length === 0 ? none : listed(calls, keys)}</div>
${(before !== undefined || last !== undefined) && pages}`
    )
  })
}

export const requestPages: ReadonlyArray<Page<Administration | RequestLog>> = [requestsPage]
