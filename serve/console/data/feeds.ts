/** How far each feed has been read, its rows and rejects, what is left out of it, and what was not understood in it. */
import type { Frequency, UnknownField } from "@larder/schemas"
import { Effect } from "effect"
import { searchForm } from "../web/form.ts"
import {
  countText,
  dayTag,
  type Html,
  html,
  monthTag,
  nameCode,
  renderEmptyState,
  section,
  stackedTable
} from "../web/html.ts"
import { show } from "../web/page.ts"
import { listPaging, makePath, readParameter } from "../web/query.ts"
import { stateBadge } from "./freshness.ts"
import { leftOutSection, oddValuesSection } from "./left-out.ts"
import { bytesText, type DataPage, dateWithAge, pipelineSelect, pipelineTitleTag, readPipeline } from "./pieces.ts"
import { DataRead } from "./read.ts"

const feedsPerPage = 100

/**
 * The cursor of a report is a day, which represents its month in a monthly report. Other cursors are names of releases.
 */
const cursorText = (text: string, frequency: Frequency | undefined) => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return text
  return frequency === "monthly" ? monthTag(text) : dayTag(text)
}

const unknownSection = (fields: ReadonlyArray<typeof UnknownField.Type>): Html =>
  section(
    "Unmapped fields",
    stackedTable("Fields that upstream added", fields, [
      ["Field", ({ field }) => nameCode(field)],
      ["Feed", ({ feed }) => nameCode(feed)],
      ["Pipeline", ({ pipeline }) => pipelineTitleTag(pipeline)],
      ["Such as", ({ example }) => example]
    ])
  )

type Feed = Effect.Success<ReturnType<DataRead["Service"]["feeds"]>>["rows"][number]

const feedTable = (feeds: ReadonlyArray<Feed>, now: number) =>
  stackedTable("Feeds and how far they have been read", feeds, [
    ["Feed", ({ feed, title }) => html`${nameCode(feed)}${title && html` <small class="muted">${title}</small>`}`],
    ["Pipeline", ({ pipeline }) => pipelineTitleTag(pipeline)],
    [
      "Read to",
      ({ frequency, read_to, states }) =>
        html`${read_to === null ? "as a whole" : cursorText(read_to, frequency)}${states.map((state) => html` ${stateBadge(state)}`)}`
    ],
    ["Last new payload", ({ fetched_at }) => (fetched_at === null ? "none" : dateWithAge(fetched_at, now))],
    ["Payloads", ({ payloads }) => countText(payloads), "numeric"],
    ["Size", ({ bytes }) => bytesText(bytes), "numeric"],
    ["Rows", ({ rows_read }) => countText(rows_read), "numeric"],
    [
      "Rejects",
      ({ feed, pipeline, rejects }) =>
        rejects === 0
          ? "0"
          : html`<a href="${makePath("/data/rejects", { pipeline, feed })}">${countText(rejects)}</a>`,
      "numeric"
    ]
  ])

const path = "/data/feeds"

export const dataFeedsPage: DataPage = {
  path,
  get: Effect.fnUntraced(function* ({ now, url }) {
    const data = yield* DataRead
    const pipeline = yield* readPipeline(url)
    const [after, after_pipeline] = [readParameter(url, "after"), readParameter(url, "after_pipeline")]
    const { last, rows } = yield* data.feeds({ pipeline, after, after_pipeline, limit: feedsPerPage })
    const [leftOut, fields, oddValues] = yield* Effect.all([data.leftOut, data.unknownFields, data.oddValues], {
      concurrency: "unbounded"
    })
    return show(
      "Feeds",
      html`${leftOut.length > 0 && leftOutSection(leftOut)}
${fields.length === 0 ? html`<p class="lead">No feed has an unmapped field.</p>` : unknownSection(fields)}
${oddValues.length > 0 && oddValuesSection(oddValues)}
${searchForm(pipelineSelect(pipeline))}
${rows.length === 0 ? renderEmptyState("No feeds", "No feed has been read yet.") : html`<div class="card feeds">${feedTable(rows, now)}</div>`}
${listPaging(path, { pipeline }, after === undefined || after_pipeline === undefined, last && { after_pipeline: last.pipeline, after: last.feed })}`
    )
  })
}
