/** How far each feed has been read, what it yielded, and its fields that no mapping knows. */
import type { Frequency, UnknownField } from "@larder/schemas"
import { Effect } from "effect"
import { searchForm } from "../web/form.ts"
import {
  badge,
  countText,
  dayTag,
  empty,
  type Html,
  html,
  monthTag,
  nameCode,
  numeric,
  section,
  table
} from "../web/html.ts"
import { type Page, show } from "../web/page.ts"
import { filteredPaging, pathWithQuery, queryValue } from "../web/query.ts"
import { bytesText, dataNavigation, dateWithAge, pipelineName, pipelineSelect, queryPipeline } from "./pieces.ts"
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
    "Fields that no mapping knows",
    table({
      caption: "Fields that upstream added",
      stacks: true,
      columns: ["Field", "Feed", "Pipeline", "Such as"],
      rows: fields.map(({ example, feed, field, pipeline }) => [
        nameCode(field),
        nameCode(feed),
        pipelineName(pipeline),
        example
      ])
    })
  )

type Feed = Effect.Success<ReturnType<DataRead["Service"]["feeds"]>>["rows"][number]

const feedTable = (feeds: ReadonlyArray<Feed>, now: number) =>
  table({
    caption: "Feeds and how far they have been read",
    stacks: true,
    columns: [
      ...["Feed", "Pipeline", "Read to", "Last new payload"],
      ...["Payloads", "Size", "Rows", "Rejects"].map(numeric)
    ],
    rows: feeds.map(({ feed, fetched_at, frequency, hasStopped, pipeline, read_to, rejects, title, ...sizes }) => [
      html`${nameCode(feed)}${title && html` <small class="muted">${title}</small>`}`,
      pipelineName(pipeline),
      html`${read_to === null ? "as a whole" : cursorText(read_to, frequency)}${hasStopped && html` ${badge("stopped", "warning")}`}`,
      fetched_at === null ? "none" : dateWithAge(fetched_at, now),
      countText(sizes.payloads),
      bytesText(sizes.bytes),
      countText(sizes.rows_read),
      rejects === 0
        ? "0"
        : html`<a href="${pathWithQuery("/data/rejects", { pipeline, feed })}">${countText(rejects)}</a>`
    ])
  })

const path = "/data/feeds"

export const dataFeedsPage: Page<DataRead> = {
  path,
  operatorsOnly: true,
  get: Effect.fnUntraced(function* ({ now, url }) {
    const data = yield* DataRead
    const pipeline = yield* queryPipeline(url)
    const [after, after_pipeline] = [queryValue(url, "after"), queryValue(url, "after_pipeline")]
    const { last, rows } = yield* data.feeds({ pipeline, after, after_pipeline, limit: feedsPerPage })
    const fields = yield* data.unknownFields
    return show(
      "Feeds",
      html`${dataNavigation(path)}
${
  fields.length === 0
    ? html`<p class="lead">No feed has a field that the mappings do not know.</p>`
    : unknownSection(fields)
}
${searchForm(pipelineSelect(pipeline))}
${rows.length === 0 ? empty("No feeds", "No feed has been read yet.") : html`<div class="card feeds">${feedTable(rows, now)}</div>`}
${filteredPaging(path, { pipeline }, after === undefined, last && { after_pipeline: last.pipeline, after: last.feed })}`
    )
  })
}
