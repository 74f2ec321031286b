/** Requests: the latest calls of an account, charged or refused, from the request log. */
import { Timestamp } from "@larder/schemas"
import { Effect, Schema } from "effect"
import type { Administration } from "../../ledger/index.ts"
import { type NotedRequest, type PlaceInRequests, RequestLog } from "../../persistence/index.ts"
import { button, field, searchForm, select } from "../web/form.ts"
import { count, empty, html, linkButton, momentBelow, pathCode, table } from "../web/html.ts"
import { type Page, PageNotFound, show } from "../web/page.ts"
import {
  type CallsAsked,
  callFields,
  callsAsked,
  callsOf,
  type Keys,
  keysOf,
  linkTo,
  shownName
} from "./calls-asked.ts"
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
  const status = statuses.find((one) => String(one) === text)
  return status === undefined ? Effect.fail(new PageNotFound()) : Effect.succeed(status)
}

const duration = (milliseconds: number) =>
  milliseconds < 1_000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1_000).toFixed(2)} s`

interface Filters extends CallsAsked {
  readonly status: string | undefined
  /** A request id, as typed. */
  readonly request: string | undefined
}

const filters = (asked: Filters, keys: Keys) =>
  searchForm(html`${callFields(asked, keys)}
${select({
  name: "status",
  label: "Status",
  value: asked.status ?? "",
  options: [
    { value: "", label: "All statuses" },
    ...statuses.map((one) => ({ value: String(one), label: `${one} ${meaningOf(one)}` }))
  ]
})}
${field({ name: "request", label: "Request id", type: "search", value: asked.request ?? "", placeholder: "req_…" })}
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

const showAll = linkButton(path, "Show all")

const noCalls = (isAll: boolean) =>
  isAll
    ? empty("No calls yet", "Calls with your keys are listed here within seconds, refused ones too.")
    : empty("No such calls", "None of the latest calls matches.", showAll)

/** For an empty page after the last one, also if its calls are no longer kept. Newer calls are not searched. */
const noOlderCalls = (isAll: boolean) =>
  isAll
    ? empty("No older calls", "No stored call is from before this page.")
    : empty("No older calls", "No stored call from before this page matches.", showAll)

export const requestsPage: Page<Administration | RequestLog> = {
  path,
  nav: "Requests",
  get: Effect.fnUntraced(function* ({ account, url }) {
    const query = url.searchParams
    const keys = yield* keysOf(account.id)
    const of = yield* callsAsked(query, keys)
    const status = yield* statusOf(query.get("status") ?? "")
    const request = query.get("request")?.trim() || undefined
    const asked: Filters = { ...of, status: status === undefined ? undefined : String(status), request }
    const before = yield* placeOf(query.get("before") ?? "")
    const found = yield* RequestLog.use((log) =>
      log.latest({
        ...callsOf(account.id, of),
        limit: perPage + 1,
        ...(status !== undefined && { status }),
        ...(request !== undefined && { id: request }),
        ...(before !== undefined && { before })
      })
    )
    const calls = found.slice(0, perPage)
    const last = found.length > perPage ? calls.at(-1) : undefined
    const isAll = Object.values(asked).every((value) => value === undefined)
    const none = before === undefined ? noCalls : noOlderCalls
    const pages = html`<nav class="paging" aria-label="Pages">${
      before !== undefined && linkButton(linkTo(path, { ...asked }), "Newest")
    }${last !== undefined && html`<a class="button plain" rel="next" href="${linkTo(path, { ...asked, before: placeText(last) })}">Older</a>`}</nav>`
    return show(
      "Requests",
      html`<p class="lead">Your latest calls, including refused ones; up to 10,000 are kept. Calls with a revoked or unknown key are not listed, nor are calls that a busy server rejected immediately. Quote the request id when you ask for help.</p>
${filters(asked, keys)}
<div class="card">${calls.length === 0 ? none(isAll) : listed(calls, keys)}</div>
${(before !== undefined || last !== undefined) && pages}`
    )
  })
}

export const requestPages: ReadonlyArray<Page<Administration | RequestLog>> = [requestsPage]
