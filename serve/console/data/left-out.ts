/** Shows what is missing from the live data: feeds that are left out, and texts that were not understood. */
import type { OddValue } from "@larder/schemas"
import { badge, countText, type Html, html, nameCode, pluralize, section, stackedTable, timeTag } from "../web/html.ts"
import { pipelineTitle } from "./data-sets.ts"
import type { LeftOutRow } from "./left-out-read.ts"
import { firstLine, pipelineTitleTag, runPath } from "./pieces.ts"

const kindTexts = { partial: "in part", untrusted: "not trusted", unreachable: "not reached" } as const

/** A store list may have hundreds of stores that cannot be reached. */
const maxShown = 100

export const leftOutSection = (feeds: ReadonlyArray<LeftOutRow>): Html =>
  section(
    "Left out of the live data",
    html`<p class="hint">These feeds keep their earlier values. Of a feed that is left out in part, the other rows are live.${feeds.length > maxShown && html` These are the first ${maxShown}: <code>ingest.live_left_out</code> has all of them.`}</p>
${stackedTable("Feeds that are left out", feeds.slice(0, maxShown), [
  ["Feed", ({ feed }) => nameCode(feed)],
  ["Pipeline", ({ pipeline }) => pipelineTitleTag(pipeline)],
  ["Left out", ({ kind }) => badge(kindTexts[kind], "warning")],
  ["Reason", ({ reason }) => html`<div class="quoted">${firstLine(reason)}</div>`],
  ["Run", ({ run_id, started_at }) => html`<a href="${runPath(run_id)}">${timeTag(started_at)}</a>`]
])}`
  )

/** `3 feeds of Commodities are left out, all or in part.` */
export const leftOutAlerts = (rows: ReadonlyArray<LeftOutRow>): ReadonlyArray<Html> =>
  [...Map.groupBy(rows, ({ pipeline }) => pipeline)].map(([pipeline, rows]) => {
    const feeds = new Set(rows.map(({ feed }) => feed)).size // one may be named twice
    return html`${pluralize(feeds, "feed")} of ${pipelineTitle(pipeline)} ${feeds === 1 ? "is" : "are"} left out of the live data, all or in part. <a href="/data/feeds">See the feeds</a>`
  })

const oddTexts = { unreadable: "not understood", unmatched: "no metric", unlisted: "not in the catalog" } as const

export const oddValuesSection = (values: ReadonlyArray<typeof OddValue.Type>): Html =>
  section(
    "Texts that were not understood",
    stackedTable("Texts in rows that were used all the same", values, [
      ["Field", ({ field }) => nameCode(field)],
      ["Text", ({ said }) => html`<div class="quoted">${said}</div>`],
      ["Feed", ({ feed }) => nameCode(feed)],
      ["Pipeline", ({ pipeline }) => pipelineTitleTag(pipeline)],
      ["What it is", ({ kind }) => oddTexts[kind]],
      ["Rows at first", ({ rows }) => countText(rows), "numeric"]
    ])
  )
