/**
 * Building blocks of pages. `html` escapes every value, so customers' text can be passed unchanged; the library's `raw`
 * is not exported. No inline styles or scripts: the console's content security policy forbids them.
 */
import { html } from "hono/html"
import { usdOf } from "../../ledger/index.ts"

export { html }
export type Html = ReturnType<typeof html>
/** A value in a template; null, undefined and false render as nothing. */
export type HtmlPart = Html | string | number | null | undefined | false | ReadonlyArray<HtmlPart>

const numberFormat = new Intl.NumberFormat("en-US")
const dollarFormat = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 3
})
const useMinusSign = (text: string) => text.replace("-", "−")

/** `12,345` */
export const countText = (value: number): string => useMinusSign(numberFormat.format(value))
/** `$12.34`, from credits; with a third decimal if it is not 0. */
export const usdText = (credits: number): string => useMinusSign(dollarFormat.format(usdOf(credits)))
/** `$50.00`, from cents. */
export const centsText = (cents: number): string => usdText(cents * 10)
/** `12,345 credits` */
export const creditsText = (value: number): string => `${countText(value)} ${creditUnit(value)}`
/** `credit` for 1 and −1, otherwise `credits`. */
export const creditUnit = (value: number): string => (Math.abs(value) === 1 ? "credit" : "credits")
/** `1 call`, `2 calls` */
export const pluralize = (value: number, noun: string): string => `${countText(value)} ${noun}${value === 1 ? "" : "s"}`

const makeUtcFormat = (parts: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat("en-GB", { ...parts, timeZone: "UTC" })
  return (iso: string): string => format.format(new Date(iso))
}
const day = { day: "numeric", month: "short", year: "numeric" } as const
const time = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const

/** `15 Oct 2026` from `2026-10-15` or from an ISO date and time. */
export const dayText = makeUtcFormat(day)
/** `15 Oct` */
export const shortDayText = makeUtcFormat({ day: "numeric", month: "short" })
/** `Oct 2026` from a day in the month, for charts, which have no room for the full name. */
export const shortMonthText = makeUtcFormat({ month: "short", year: "numeric" })
const fullMonthText = makeUtcFormat({ month: "long", year: "numeric" })
const dayAndTime = makeUtcFormat({ ...day, ...time })
/** `15 Oct 2026, 12:00:00 UTC`, without a line break before `UTC`. */
export const timeText = (iso: string): string => `${dayAndTime(iso)}\u00A0UTC`

export const dayTag = (iso: string): Html => html`<time datetime="${iso.slice(0, 10)}">${dayText(iso)}</time>`
/** `October 2026`, from a day that represents its whole month. */
export const monthTag = (iso: string): Html => html`<time datetime="${iso.slice(0, 7)}">${fullMonthText(iso)}</time>`
export const timeTag = (iso: string): Html => html`<time datetime="${iso}">${timeText(iso)}</time>`
/** For a column with UTC in its heading. On a phone, which hides the heading, the cell shows UTC. */
export const timeInColumn = (iso: string): Html => html`<time class="utc" datetime="${iso}">${dayAndTime(iso)}</time>`

export type Tone = "good" | "warning" | "bad" | "quiet"
/** A small label; its text has the same meaning as its colour. */
export const badge = (text: string, tone: Tone = "quiet"): Html => html`<span class="badge ${tone}">${text}</span>`

const wrappingCode = (kind: "path" | "name", parts: ReadonlyArray<string>): Html =>
  html`<code class="${kind}">${parts.map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}</code>`
/** A path of the API; may wrap after a slash. */
export const pathCode = (path: string): Html => wrappingCode("path", path.split(/(?<=.\/)/))
/** A name in the data; wraps only between its parts. */
export const nameCode = (name: string): Html => wrappingCode("name", name.split(/(?<=[_/-])/))

/** A message about this page. Screen readers announce `bad` immediately. */
export const notice = (tone: Tone, body: HtmlPart): Html =>
  html`<div class="notice ${tone}" role="${tone === "bad" ? "alert" : "status"}">${body}</div>`

/** Shown instead of an empty list: what would be listed, and what to do. */
export const renderEmptyState = (title: string, text: HtmlPart, action?: Html): Html =>
  html`<div class="empty"><p class="empty-title">${title}</p><p>${text}</p>${action && html`<p>${action}</p>`}</div>`

export const linkButton = (href: string, text: string, kind: "primary" | "plain" = "plain"): Html =>
  html`<a class="button ${kind}" href="${href}">${text}</a>`

/** A part of a page with a heading. `aside` is a link, a button or a badge beside the heading. */
export const section = (heading: string, body: HtmlPart, aside?: HtmlPart): Html => {
  const id = `s-${heading.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`
  return html`<section aria-labelledby="${id}">
<div class="heading"><h2 id="${id}">${heading}</h2>${aside}</div>
${body}
</section>`
}

/** A number with its name, and a line below. */
export interface KeyFigure {
  readonly label: string
  readonly value: HtmlPart
  readonly details?: HtmlPart
}
export const keyFigures = (figures: ReadonlyArray<KeyFigure>): Html =>
  html`<dl class="stats">${figures.map(
    ({ details, label, value }) =>
      html`<div><dt>${label}</dt><dd class="value">${value}</dd>${details && html`<dd class="more">${details}</dd>`}</div>`
  )}</dl>`

/** Names and values, one pair per line; false is skipped. */
export type Fact = readonly [name: string, value: HtmlPart]
export const facts = (items: ReadonlyArray<Fact | false>): Html =>
  html`<dl class="facts">${items.map((fact) => fact && html`<div><dt>${fact[0]}</dt><dd>${fact[1]}</dd></div>`)}</dl>`

/**
 * A heading, and the cell below it for a row. Figures are right-aligned (`numeric`), links and buttons too (`action`).
 * The heading of an `action` column is only for screen readers.
 */
export type Column<Row> = readonly [label: string, cell: (row: Row) => HtmlPart, style?: "numeric" | "action"]

const makeTable =
  (isStacked: boolean) =>
  <Row>(caption: string, rows: ReadonlyArray<Row>, columns: ReadonlyArray<Column<Row>>): Html => {
    // without roles, screen readers do not recognise a table with rows as cards
    const role = (name: string) => isStacked && html` role="${name}"`
    const heads = columns.map(([label, _, style]) => {
      const name = style === "action" ? html`<span class="hidden">${label}</span>` : label
      return html`<th scope="col" class="${style}"${role("columnheader")}>${name}</th>`
    })
    const renderCell = (content: HtmlPart, [label, _, style]: Column<Row>, isFirst: boolean) => {
      if (isFirst) return html`<th scope="row" class="${style}"${role("rowheader")}>${content}</th>`
      const cardLabel = isStacked && style !== "action" && html` data-label="${label}"`
      return html`<td class="${style}"${role("cell")}${cardLabel}>${isStacked ? html`<div>${content}</div>` : content}</td>`
    }
    const body = rows.map((row) => {
      const cells = columns.map((column, index) => renderCell(column[1](row), column, index === 0))
      return html`<tr${role("row")}>${cells}</tr>\n`
    })
    return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table class="${isStacked ? "stacked" : ""}"${role("table")}>
<caption class="hidden">${caption}</caption>
<thead${role("rowgroup")}><tr${role("row")}>${heads}</tr></thead>
<tbody${role("rowgroup")}>${body}</tbody>
</table></div>`
  }

/**
 * The first cell of a row is its heading. A table that is too wide scrolls sideways, so the page never does. Only screen
 * readers read `caption`.
 */
export const table = makeTable(false)
/** A table that shows its rows as small cards on a phone. */
export const stackedTable = makeTable(true)
