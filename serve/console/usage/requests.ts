/** Requests: the latest calls of an account, charged or refused, from the request log. */
import { Timestamp } from "@larder/schemas"
import { Effect, Schema } from "effect"
import type { Administration } from "../../ledger/index.ts"
import { RequestLog, type RequestPosition, type RequestRecord } from "../../persistence/index.ts"
import { field, searchForm, select } from "../web/form.ts"
import { countText, html, linkButton, pathCode, renderEmptyState, stackedTable, timeInColumn } from "../web/html.ts"
import { type Page, PageNotFound, show } from "../web/page.ts"
import { listPaging, readChoice, readPage, readParameter } from "../web/query.ts"
import { type CallsFilter, callsFilterFields, type Keys, keyNameTag, readCallsFilter } from "./calls-filter.ts"
import { statusBadge, statuses, statusMeaning } from "./statuses.ts"

const path = "/requests"
const perPage = 50

/** `2026-10-15T12:00:00.000Z~req_…` in the address. */
const formatCursor = ({ id, occurred_at }: RequestPosition) => `${occurred_at}~${id}`
const isTimestamp = Schema.is(Timestamp)

const parseCursor = (text: string | undefined): Effect.Effect<RequestPosition | undefined, PageNotFound> => {
  if (text === undefined) return Effect.succeed(undefined)
  const [occurred_at = "", id = ""] = text.split(/~(.*)/s)
  return isTimestamp(occurred_at) && id !== "" ? Effect.succeed({ occurred_at, id }) : Effect.fail(new PageNotFound())
}

const durationText = (milliseconds: number) =>
  milliseconds < 1_000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1_000).toFixed(2)} s`

interface Filters extends CallsFilter {
  readonly status: string | undefined
  /** An id of a request, Larder's or its caller's, as typed. */
  readonly request: string | undefined
}

const filterForm = (filters: Filters, keys: Keys) => {
  const statusOptions = statuses.map((status) => ({
    value: String(status),
    label: `${status} ${statusMeaning(status)}`
  }))
  return searchForm(html`${callsFilterFields(filters, keys)}
${select({ name: "status", label: "Status", allLabel: "All statuses", value: filters.status, options: statusOptions })}
${field({ name: "request", label: "Request id", type: "search", value: filters.request ?? "", placeholder: "req_…" })}
`)
}

const requestIds = ({ caller_request_id, id, traceparent }: RequestRecord) => {
  const given = [caller_request_id, traceparent].filter((id) => id !== null)
  return html`<code class="id">${id}</code>${given.map((id) => html`<br><small>yours: <code class="id">${id}</code></small>`)}`
}

const callsTable = (calls: ReadonlyArray<RequestRecord>, keys: Keys) =>
  stackedTable("Calls, newest first", calls, [
    ["When (UTC)", ({ occurred_at }) => timeInColumn(occurred_at)],
    ["Request id", requestIds],
    ["Key", ({ key_id }) => keyNameTag(keys, key_id)],
    ["Endpoint", ({ endpoint }) => pathCode(endpoint)],
    ["Status", ({ status }) => html`${statusBadge(status)} <small>${statusMeaning(status)}</small>`],
    ["Credits", ({ credits }) => countText(credits), "numeric"],
    ["Duration", ({ duration_ms }) => durationText(duration_ms), "numeric"]
  ])

/** An old page may be empty because its calls are no longer kept. That page does not search newer calls. */
const noCalls = (isFiltered: boolean, isFirstPage: boolean) => {
  const showAll = isFiltered ? linkButton(path, "Show all") : undefined
  if (!isFirstPage) {
    const text = isFiltered
      ? "No stored call from before this page matches."
      : "No stored call is from before this page."
    return renderEmptyState("No older calls", text, showAll)
  }
  return isFiltered
    ? renderEmptyState("No such calls", "None of the latest calls matches.", showAll)
    : renderEmptyState("No calls yet", "Calls with your keys are listed here within seconds, including refused ones.")
}

export const requestsPage: Page<Administration | RequestLog> = {
  path,
  nav: "Requests",
  get: Effect.fnUntraced(function* (context) {
    const { url } = context
    const { filter, keys, query } = yield* readCallsFilter(context)
    const status = yield* readChoice(url, "status", statuses.map(String))
    const request = readParameter(url, "request")
    const before = yield* parseCursor(readParameter(url, "before"))
    const filters = { ...filter, status, request }
    const log = yield* RequestLog
    const { last, rows } = yield* readPage(perPage, (limit) =>
      log.latest({
        ...query,
        limit,
        ...(status !== undefined && { status: Number(status) }),
        ...(request !== undefined && { id: request }),
        ...(before !== undefined && { before })
      })
    )
    const isFiltered = Object.values(filters).some((value) => value !== undefined)
    return show(
      "Requests",
      html`<p class="lead">Your latest calls, including refused ones; up to ${countText(log.kept)} are kept. Calls with a revoked or unknown key are not listed, nor are calls that a busy server rejected immediately. Quote the request id when you ask for help. An <code>X-Request-Id</code> or <code>traceparent</code> of your own is below it.</p>
${filterForm(filters, keys)}
<div class="card">${rows.length === 0 ? noCalls(isFiltered, before === undefined) : callsTable(rows, keys)}</div>
${listPaging(path, filters, before === undefined, last && { before: formatCursor(last) })}`
    )
  })
}
