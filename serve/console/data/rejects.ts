/** The page of rejected payload rows: their reasons, and the rows themselves, shortened. */
import { Effect } from "effect"
import { hiddenInput, searchForm, select } from "../web/form.ts"
import {
  countText,
  type Html,
  type HtmlPart,
  html,
  linkButton,
  nameCode,
  renderEmptyState,
  section,
  stackedTable
} from "../web/html.ts"
import { PageNotFound, show } from "../web/page.ts"
import { listPaging, makePath, readParameter } from "../web/query.ts"
import { type DataPage, pipelineSelect, pipelineTitleTag, readPipeline, runPath } from "./pieces.ts"
import { DataRead } from "./read.ts"
import { cursorFormat, maxReasons, type RejectGroup, type ShownReject, shownPayloadLength } from "./rejects-read.ts"

const path = "/data/rejects"
const rejectsPerPage = 25

/** Puts each field of a JSON object on its own line. Adds only whitespace, so numbers keep their digits. */
const breakLines = (payload: string) =>
  payload.startsWith("{")
    ? payload.replace(/"(?:[^"\\]|\\.)*"|,(?="(?:[^"\\]|\\.)*":)/g, (match) => (match === "," ? ",\n" : match))
    : payload

const payloadCode = ({ payload, payload_length }: ShownReject): HtmlPart =>
  payload_length > shownPayloadLength
    ? html`<code class="payload">${breakLines(payload)}…</code><small>${countText(payload_length)} characters; the whole row is in <code>ingest.reject</code></small>`
    : html`<code class="payload">${breakLines(payload)}</code>`

interface Filters {
  readonly pipeline: string | undefined
  readonly feed: string | undefined
  readonly reason: string | undefined
  readonly run: string | undefined
}

const reasonTable = (reasons: ReadonlyArray<RejectGroup>, filters: Filters) =>
  stackedTable(
    reasons.length < maxReasons ? "Reasons, the most frequent first" : `The ${maxReasons} most frequent reasons`,
    reasons,
    [
      [
        "Reason",
        ({ example, pipeline, reason }) =>
          html`<a href="${makePath(path, { ...filters, pipeline, reason })}">${reason}</a>${
            example !== reason && html`<br><small class="muted">such as: ${example}</small>`
          }`
      ],
      ["Pipeline", ({ pipeline }) => pipelineTitleTag(pipeline)],
      ["Feeds", ({ feeds }) => countText(feeds), "numeric"],
      ["Rejects", ({ rejects }) => countText(rejects), "numeric"]
    ]
  )

/** The reason and the run come from links. Hidden fields preserve them when the user changes a drop-down list. */
const filterForm = ({ feed, pipeline, reason, run }: Filters, feeds: ReadonlyArray<string>): Html => {
  const listed = feed === undefined || feeds.includes(feed) ? feeds : [feed, ...feeds]
  const options = listed.map((name) => ({ value: name, label: name }))
  const reasonText = reason !== undefined && html`<q>${reason}</q>`
  const runLink = run !== undefined && html`<a href="${runPath(run)}">run ${nameCode(run)}</a>`
  return html`${searchForm(
    html`${pipelineSelect(pipeline)}${select({ name: "feed", label: "Feed", allLabel: "All feeds", options, value: feed })}${
      reason !== undefined && hiddenInput("reason", reason)
    }${run !== undefined && hiddenInput("run", run)}`
  )}
${
  (reasonText || runLink) &&
  html`<p>Only ${reasonText}${reasonText && runLink && ", "}${runLink} · <a href="${makePath(path, { pipeline, feed })}">Show all</a></p>`
}`
}

const rowTable = (rows: ReadonlyArray<ShownReject>) =>
  stackedTable("Rejected rows, newest first", rows, [
    ["Location", ({ feed, position }) => (position === 0 ? feed : `${feed}, row ${countText(position)}`)],
    ["Reason", ({ reason }) => reason],
    ["Row as read", payloadCode],
    ["Run", ({ run_id }) => html`<a href="${runPath(run_id)}">${nameCode(run_id)}</a>`]
  ])

const renderNoRows = (filters: Filters) =>
  Object.values(filters).every((value) => value === undefined)
    ? renderEmptyState("No rejects", "No row was rejected.")
    : renderEmptyState(
        "No such rejects",
        "No rejected row matches. If several runs read the same payload, its rows are listed under the first one. For a failed run, only the first 10,000 rejected rows are kept.",
        linkButton(path, "Show all")
      )

export const dataRejectsPage: DataPage = {
  path,
  get: Effect.fnUntraced(function* ({ url }) {
    const data = yield* DataRead
    const filters: Filters = {
      pipeline: yield* readPipeline(url),
      feed: readParameter(url, "feed"),
      reason: readParameter(url, "reason"),
      run: readParameter(url, "run")
    }
    const { feed, pipeline, reason, run: run_id } = filters
    const before = readParameter(url, "before")
    if (before !== undefined && !cursorFormat.test(before)) return yield* new PageNotFound()
    const { last, rows } = yield* data.rejects({ pipeline, feed, reason, run_id, before, limit: rejectsPerPage })
    const reasons = yield* data.reasons({ pipeline, feed, run_id })
    const feeds = yield* data.feedsWithRejects(pipeline)
    return show(
      "Rejects",
      html`<p class="lead">Rejected rows of payloads, each with its reason. Nothing is dropped silently: each row that was read is new, has nothing new, or is rejected.</p>
${reasons.length > 0 && section("Reasons", reasonTable(reasons, filters))}
${section(
  "Rows",
  html`${filterForm(filters, feeds)}
${rows.length === 0 ? renderNoRows(filters) : rowTable(rows)}
${listPaging(path, { ...filters }, before === undefined, last && { before: last.page_cursor })}`
)}`
    )
  })
}
