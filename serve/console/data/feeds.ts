/** How far each feed has been read, what it yielded, and its fields that no mapping knows. */
import type { Frequency, UnknownField } from "@larder/schemas"
import { Effect } from "effect"
import { button, searchForm } from "../web/form.ts"
import { badge, count, day, empty, type Html, html, month, paging, section, table } from "../web/html.ts"
import { type Page, show } from "../web/page.ts"
import {
  asked,
  askedPipeline,
  bytesText,
  dataNavigation,
  dated,
  named,
  pathWith,
  pipelineName,
  pipelineSelect
} from "./pieces.ts"
import { DataRead } from "./read.ts"

const feedsOnPage = 100

/**
 * The cursor of a report is a day, which represents its month in a monthly report. Other cursors are names of releases.
 */
const readTo = (text: string, frequency: Frequency | undefined) => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return text
  return frequency === "monthly" ? month(text) : day(text)
}

type UnknownFields = ReadonlyArray<typeof UnknownField.Type>

const unknownSection = (fields: UnknownFields): Html =>
  section(
    "Fields that no mapping knows",
    table({
      caption: "Fields that upstream added",
      stacks: true,
      columns: [{ label: "Field" }, { label: "Feed" }, { label: "Pipeline" }, { label: "Such as" }],
      rows: fields.map(({ example, feed, field, pipeline }) => [
        named(field),
        named(feed),
        pipelineName(pipeline),
        example
      ])
    })
  )

export const dataFeedsPage: Page<DataRead> = {
  path: "/data/feeds",
  operatorsOnly: true,
  get: ({ now, url }) =>
    Effect.gen(function* () {
      const data = yield* DataRead
      const pipeline = yield* askedPipeline(url)
      const [fromPipeline, fromFeed] = [asked(url, "after_pipeline"), asked(url, "after")]
      const after =
        fromPipeline !== undefined && fromFeed !== undefined ? { pipeline: fromPipeline, feed: fromFeed } : undefined
      const { hasMore, rows } = yield* data.feeds({ pipeline, after, limit: feedsOnPage })
      const fields = yield* data.unknownFields
      const last = rows.at(-1)
      const next = pathWith("/data/feeds", { pipeline, after_pipeline: last?.pipeline, after: last?.feed })
      return show(
        "Feeds",
        html`${dataNavigation("/data/feeds")}
${
  fields.length === 0
    ? html`<p class="lead">No feed has a field that the mappings do not know.</p>`
    : unknownSection(fields)
}
${searchForm(html`${pipelineSelect(pipeline)}${button("Show", "plain")}`)}
${
  rows.length === 0
    ? empty("No feeds", "No feed has been read yet.")
    : html`<div class="card feeds">${table({
        caption: "Feeds and how far they have been read",
        stacks: true,
        columns: [
          { label: "Feed" },
          { label: "Pipeline" },
          { label: "Read to" },
          { label: "Last new payload" },
          { label: "Payloads", numeric: true },
          { label: "Size", numeric: true },
          { label: "Rows", numeric: true },
          { label: "Rejects", numeric: true }
        ],
        rows: rows.map((feed) => [
          html`${named(feed.feed)}${feed.title && html` <small class="muted">${feed.title}</small>`}`,
          pipelineName(feed.pipeline),
          html`${feed.read_to === null ? "as a whole" : readTo(feed.read_to, feed.frequency)}${feed.hasStopped && html` ${badge("stopped", "warning")}`}`,
          feed.fetched_at === null ? "none" : dated(feed.fetched_at, now),
          count(feed.payloads),
          bytesText(feed.bytes),
          count(feed.rows_read),
          feed.rejects === 0
            ? "0"
            : html`<a href="${pathWith("/data/rejects", { pipeline: feed.pipeline, feed: feed.feed })}">${count(feed.rejects)}</a>`
        ])
      })}</div>`
}
${paging({ newer: after === undefined ? undefined : pathWith("/data/feeds", { pipeline }), older: hasMore ? next : undefined })}`
      )
    })
}
