/** Payload rows that were refused: which reasons there are, and the rows themselves, shortened. */
import { Effect } from "effect"
import { DataRead } from "../data-read.ts"
import { type ShownReject, shownOfPayload, shownReasons } from "../data-rejects-read.ts"
import { button, field, searchForm } from "../form.ts"
import { count, empty, html, type Part, paging, section, table } from "../html.ts"
import { type Page, show } from "../page.ts"
import { asked, dataNavigation, named, pathWith, pipelineSelect, runPath } from "./data-pieces.ts"

const rejectsOnPage = 25

const payloadOf = ({ payload, payload_length }: ShownReject): Part =>
  payload_length > shownOfPayload
    ? html`<code class="payload">${payload}…</code><small>${count(payload_length)} characters; the whole row is in <code>ingest.reject</code></small>`
    : html`<code class="payload">${payload}</code>`

export const dataRejectsPage: Page<DataRead> = {
  path: "/data/rejects",
  operatorsOnly: true,
  get: ({ url }) =>
    Effect.gen(function* () {
      const data = yield* DataRead
      const filters = {
        pipeline: asked(url, "pipeline"),
        feed: asked(url, "feed"),
        reason: asked(url, "reason"),
        run: asked(url, "run")
      }
      const { feed, pipeline, reason, run: run_id } = filters
      const place = asked(url, "before")
      const before = place !== undefined && /^\d{1,9}$/.test(place) ? Number(place) : undefined
      const { hasMore, rows } = yield* data.rejects({ pipeline, feed, reason, run_id, before, limit: rejectsOnPage })
      const reasons = yield* data.reasons(pipeline)
      const to = (row: number | undefined) => pathWith("/data/rejects", { ...filters, before: row })
      return show(
        "Rejects",
        html`${dataNavigation("/data/rejects")}
<p class="lead">Rows of payloads that were refused, each with its reason. Nothing is dropped silently: read = new + unchanged + rejected.</p>
${
  reasons.length > 0 &&
  section(
    "Reasons",
    table({
      caption:
        reasons.length < shownReasons
          ? "Reasons, the most frequent first"
          : `The ${shownReasons} most frequent reasons`,
      stacks: true,
      columns: [
        { label: "Reason" },
        { label: "Pipeline" },
        { label: "Feeds", numeric: true },
        { label: "Rejects", numeric: true }
      ],
      rows: reasons.map((group) => [
        html`<a href="${pathWith("/data/rejects", { pipeline: group.pipeline, reason: group.reason })}">${group.reason}</a>`,
        group.pipeline,
        count(group.feeds),
        count(group.rejects)
      ])
    })
  )
}
${section(
  "Rows",
  html`${searchForm(
    html`${pipelineSelect(pipeline)}${field({ name: "feed", label: "Feed", value: feed ?? "" })}${field({
      name: "reason",
      label: "Reason, in full",
      value: reason ?? ""
    })}${field({ name: "run", label: "Run id", value: run_id ?? "" })}${button("Show", "plain")}`
  )}
${
  rows.length === 0
    ? empty("No rejects", "No row that was refused matches.")
    : table({
        caption: "Rows that were refused, newest first",
        stacks: true,
        columns: [{ label: "Place" }, { label: "Reason" }, { label: "Row as it came" }, { label: "Run" }],
        rows: rows.map((row) => [
          row.position === 0 ? row.feed : `${row.feed}, row ${count(row.position)}`,
          row.reason,
          payloadOf(row),
          html`<a href="${runPath(row.run_id)}">${named(row.run_id)}</a>`
        ])
      })
}
${paging({ newer: before === undefined ? undefined : to(undefined), older: hasMore ? to(rows.at(-1)?.row) : undefined })}`
)}`
      )
    })
}
