/**
 * Building blocks of pages. `html` escapes every value, so customers' text can be passed unchanged; the library's `raw`
 * is not exported. No inline styles or scripts: the console's content security policy forbids them.
 */
import { html } from "hono/html"
import { usdOf } from "../../ledger/index.ts"

export { html }
export type Html = ReturnType<typeof html>
/** A value in a template; null, undefined and false render as nothing. */
export type Part = Html | string | number | null | undefined | false | ReadonlyArray<Part>

const number = new Intl.NumberFormat("en-US")
const dollars = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 3
})
const minus = (text: string) => text.replace("-", "−")

/** `12,345` */
export const count = (value: number): string => minus(number.format(value))
/** `$12.34`, from credits; with a third decimal if it is not 0. */
export const usd = (credits: number): string => minus(dollars.format(usdOf(credits)))
/** `$50.00`, from cents. */
export const usdOfCents = (cents: number): string => usd(cents * 10)
/** `12,345 credits` */
export const credits = (value: number): string => `${count(value)} ${Math.abs(value) === 1 ? "credit" : "credits"}`
/** `1 call`, `2 calls` */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

const dayParts = { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" } as const
const dayFormat = new Intl.DateTimeFormat("en-GB", dayParts)
const shortDayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" })
/** The full name of a month; `shortMonthFormat` is for charts, which have no room for it. */
const monthFormat = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" })
const shortMonthFormat = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric", timeZone: "UTC" })
const momentFormat = new Intl.DateTimeFormat("en-GB", {
  ...dayParts,
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23"
})

/** `15 Oct 2026` from `2026-10-15` or from an ISO date and time. */
export const dayText = (iso: string): string => dayFormat.format(new Date(iso))
/** `15 Oct` */
export const shortDayText = (iso: string): string => shortDayFormat.format(new Date(iso))
/** `Oct 2026` from a day in the month, below a chart */
export const monthText = (iso: string): string => shortMonthFormat.format(new Date(iso))
/** `15 Oct 2026, 12:00:00 UTC`, without a line break before `UTC`. */
export const momentText = (iso: string): string => `${momentFormat.format(new Date(iso))}\u00A0UTC`

export const day = (iso: string): Html => html`<time datetime="${iso.slice(0, 10)}">${dayText(iso)}</time>`
/** `October 2026`, from a day that represents its whole month. */
export const month = (iso: string): Html =>
  html`<time datetime="${iso.slice(0, 7)}">${monthFormat.format(new Date(iso))}</time>`
export const moment = (iso: string): Html => html`<time datetime="${iso}">${momentText(iso)}</time>`

/** For a column whose heading names UTC. On a phone, which hides the heading, the cell shows UTC. */
export const momentBelow = (iso: string): Html =>
  html`<time class="utc" datetime="${iso}">${momentFormat.format(new Date(iso))}</time>`

export type Tone = "good" | "warning" | "bad" | "quiet"
/** A small label; its text says the same as its colour. */
export const badge = (text: string, tone: Tone = "quiet"): Html => html`<span class="badge ${tone}">${text}</span>`

/** A path of the API; may wrap after a slash. */
export const pathCode = (path: string): Html =>
  html`<code class="path">${path.split(/(?<=.\/)/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}</code>`

/** Something that the reader should know about this page now. `bad` is announced immediately. */
export const notice = (tone: Tone, body: Part): Html =>
  html`<div class="notice ${tone}" role="${tone === "bad" ? "alert" : "status"}">${body}</div>`

/** For an empty list: what would be here, and what to do. */
export const empty = (title: string, text: Part, action?: Html): Html =>
  html`<div class="empty"><p class="empty-title">${title}</p><p>${text}</p>${action && html`<p>${action}</p>`}</div>`

/** A link that looks like a button. */
export const linkButton = (href: string, text: string, kind: "primary" | "plain" = "plain"): Html =>
  html`<a class="button ${kind}" href="${href}">${text}</a>`

/** A part of a page with a heading. `more` is placed beside the heading: a link, a button. */
export const section = (heading: string, body: Part, more?: Part): Html => {
  const id = `s-${heading.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`
  return html`<section aria-labelledby="${id}">
<div class="heading"><h2 id="${id}">${heading}</h2>${more}</div>
${body}
</section>`
}

/** A key figure with its name and a line below. */
export interface Stat {
  readonly label: string
  readonly value: Part
  readonly more?: Part
}
export const stats = (all: ReadonlyArray<Stat>): Html =>
  html`<dl class="stats">${all.map(
    ({ label, more, value }) =>
      html`<div><dt>${label}</dt><dd class="value">${value}</dd>${more && html`<dd class="more">${more}</dd>`}</div>`
  )}</dl>`

/** Names and values, one pair per line. */
export const facts = (all: ReadonlyArray<readonly [name: string, value: Part]>): Html =>
  html`<dl class="facts">${all.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`

export interface Column {
  readonly label: string
  /** Right-aligned figures of one width. */
  readonly numeric?: boolean
  /** The label is for screen readers only, as for a column of buttons, which is right-aligned. */
  readonly hidden?: boolean
}
/**
 * Rows have one cell per column; the first cell is the row's heading. A table that is too wide scrolls sideways, so the
 * page never does; with `stacks`, rows become small cards on a phone instead. `caption` is read aloud, and is visible
 * with `showCaption`.
 */
export const table = (of: {
  readonly caption: string
  readonly showCaption?: boolean
  readonly stacks?: boolean
  readonly columns: ReadonlyArray<Column>
  readonly rows: ReadonlyArray<ReadonlyArray<Part>>
}): Html => {
  const style = (index: number) => {
    const column = of.columns[index]
    if (column?.hidden) return "action"
    return column?.numeric ? "numeric" : ""
  }
  // without roles, a table laid out as cards is no table for screen readers
  const role = (name: string) => of.stacks && html` role="${name}"`
  const label = (index: number) => {
    const column = of.columns[index]
    return of.stacks && column && !column.hidden && html` data-label="${column.label}"`
  }
  const heads = of.columns.map(({ hidden, label: text }, index) => {
    const name = hidden ? html`<span class="hidden">${text}</span>` : text
    return html`<th scope="col" class="${style(index)}"${role("columnheader")}>${name}</th>`
  })
  const rows = of.rows.map(([first, ...rest]) => {
    const cells = rest.map(
      (cell, index) =>
        html`<td class="${style(index + 1)}"${role("cell")}${label(index + 1)}>${of.stacks ? html`<div>${cell}</div>` : cell}</td>`
    )
    return html`<tr${role("row")}><th scope="row" class="${style(0)}"${role("rowheader")}>${first}</th>${cells}</tr>\n`
  })
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${of.caption}"><table class="${of.stacks ? "stacked" : ""}"${role("table")}>
<caption class="${of.showCaption ? "" : "hidden"}">${of.caption}</caption>
<thead${role("rowgroup")}><tr${role("row")}>${heads}</tr></thead>
<tbody${role("rowgroup")}>${rows}</tbody>
</table></div>`
}

/** Links to the previous and next pages, if any. `label` distinguishes several on one page. */
export const paging = (to: {
  readonly label?: string
  readonly newer?: string | undefined
  readonly older?: string | undefined
}): Html | null =>
  to.newer === undefined && to.older === undefined
    ? null
    : html`<nav class="paging" aria-label="${to.label ?? "Pages"}">${
        to.newer !== undefined && html`<a class="button plain" rel="prev" href="${to.newer}">Newer</a>`
      }${to.older !== undefined && html`<a class="button plain" rel="next" href="${to.older}">Older</a>`}</nav>`
