/** Rejected payload rows: their reasons, and the rows themselves, shortened. */
import { Effect } from "effect"
import { button, type Option, searchForm, select } from "../web/form.ts"
import { count, empty, type Html, html, linkButton, type Part, paging, section, table } from "../web/html.ts"
import { type Page, PageNotFound, show } from "../web/page.ts"
import {
  all,
  asked,
  askedPipeline,
  dataNavigation,
  named,
  pathWith,
  pipelineName,
  pipelineSelect,
  runPath
} from "./pieces.ts"
import { DataRead } from "./read.ts"
import { placeForm, type RejectGroup, type ShownReject, shownOfPayload, shownReasons } from "./rejects-read.ts"

const path = "/data/rejects"
const rejectsOnPage = 25

/** Puts each field of a JSON object on its own line. Adds only white space, so numbers keep their digits. */
const inLines = (payload: string) =>
  payload.startsWith("{")
    ? payload.replace(/"(?:[^"\\]|\\.)*"|,(?="(?:[^"\\]|\\.)*":)/g, (part) => (part === "," ? ",\n" : part))
    : payload

const payloadOf = ({ payload, payload_length }: ShownReject): Part =>
  payload_length > shownOfPayload
    ? html`<code class="payload">${inLines(payload)}…</code><small>${count(payload_length)} characters; the whole row is in <code>ingest.reject</code></small>`
    : html`<code class="payload">${inLines(payload)}</code>`

interface Filters {
  readonly pipeline: string | undefined
  readonly feed: string | undefined
  readonly reason: string | undefined
  readonly run: string | undefined
}

const reasonTable = (reasons: ReadonlyArray<RejectGroup>, filters: Filters) =>
  table({
    caption:
      reasons.length < shownReasons ? "Reasons, the most frequent first" : `The ${shownReasons} most frequent reasons`,
    stacks: true,
    columns: [
      { label: "Reason" },
      { label: "Pipeline" },
      { label: "Feeds", numeric: true },
      { label: "Rejects", numeric: true }
    ],
    rows: reasons.map(({ example, feeds, pipeline, reason, rejects }) => [
      html`<a href="${pathWith(path, { ...filters, pipeline, reason })}">${reason}</a>${
        example !== reason && html`<br><small class="muted">such as: ${example}</small>`
      }`,
      pipelineName(pipeline),
      count(feeds),
      count(rejects)
    ])
  })

/** A reason and a run are set by links, and are kept while the lists are used. */
const form = ({ feed, pipeline, reason, run }: Filters, feeds: ReadonlyArray<string>): Html => {
  const listed = feed === undefined || feeds.includes(feed) ? feeds : [feed, ...feeds]
  const options = [all("feeds"), ...listed.map((name): Option => ({ value: name, label: name }))]
  const kept = (name: string, value: string | undefined) =>
    value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`
  return html`${searchForm(
    html`${pipelineSelect(pipeline)}${select({ name: "feed", label: "Feed", options, value: feed ?? "" })}${kept("reason", reason)}${kept("run", run)}${button("Show", "plain")}`
  )}
${
  (reason !== undefined || run !== undefined) &&
  html`<p>Only ${reason !== undefined && html`<q>${reason}</q>`}${reason !== undefined && run !== undefined && ", "}${
    run !== undefined && html`<a href="${runPath(run)}">run ${named(run)}</a>`
  } · <a href="${pathWith(path, { pipeline, feed })}">Show all</a></p>`
}`
}

const rowTable = (rows: ReadonlyArray<ShownReject>) =>
  table({
    caption: "Rows that were refused, newest first",
    stacks: true,
    columns: [{ label: "Place" }, { label: "Reason" }, { label: "Row as read" }, { label: "Run" }],
    rows: rows.map((row) => [
      row.position === 0 ? row.feed : `${row.feed}, row ${count(row.position)}`,
      row.reason,
      payloadOf(row),
      html`<a href="${runPath(row.run_id)}">${named(row.run_id)}</a>`
    ])
  })

const noRows = (filters: Filters) =>
  Object.values(filters).every((value) => value === undefined)
    ? empty("No rejects", "No row was refused.")
    : empty(
        "No such rejects",
        "No rejected row matches. Rows of a payload that was read again are listed with the run that read it first. Of a failed run, the first 10,000 are kept.",
        linkButton(path, "Show all")
      )

export const dataRejectsPage: Page<DataRead> = {
  path,
  operatorsOnly: true,
  get: ({ url }) =>
    Effect.gen(function* () {
      const data = yield* DataRead
      const filters: Filters = {
        pipeline: yield* askedPipeline(url),
        feed: asked(url, "feed"),
        reason: asked(url, "reason"),
        run: asked(url, "run")
      }
      const { feed, pipeline, reason, run: run_id } = filters
      const before = asked(url, "before")
      if (before !== undefined && !placeForm.test(before)) return yield* new PageNotFound()
      const { hasMore, rows } = yield* data.rejects({ pipeline, feed, reason, run_id, before, limit: rejectsOnPage })
      const reasons = yield* data.reasons({ pipeline, feed, run_id })
      const feeds = yield* data.feedsWithRejects(pipeline)
      const to = (place: string | undefined) => pathWith(path, { ...filters, before: place })
      return show(
        "Rejects",
        html`${dataNavigation(path)}
<p class="lead">Rows of payloads that were refused, each with its reason. Nothing is dropped silently: rows read are new, with nothing new, or rejected.</p>
${reasons.length > 0 && section("Reasons", reasonTable(reasons, filters))}
${section(
  "Rows",
  html`${form(filters, feeds)}
${rows.length === 0 ? noRows(filters) : rowTable(rows)}
${paging({ newer: before === undefined ? undefined : to(undefined), older: hasMore ? to(rows.at(-1)?.place) : undefined })}`
)}`
      )
    })
}
