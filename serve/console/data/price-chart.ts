/**
 * A line chart of prices per day. This file renders a table with the figures as published; `../web/assets/price-chart.js`
 * reads the table and draws it with uPlot: calendar ticks, the day and its figures under the pointer, and a zoom.
 * Without scripts, the table is open and nothing is drawn. Bars are a different chart: `../web/bar-chart.ts`.
 */
import { assetPaths } from "../web/assets.ts"
import { type Column, dayTag, type Html, type HtmlPart, html, table } from "../web/html.ts"

export interface PriceLine {
  readonly name: string
  /** Oldest first; a day without a reading has no point. */
  readonly points: ReadonlyArray<{
    readonly day: string
    /** The digits as published. */
    readonly digits: string
  }>
}

interface PriceChart {
  /** Unique on its page; letters, digits and hyphens. */
  readonly id: string
  readonly title: string
  /** One sentence with what a sighted reader sees at a glance. */
  readonly description: string
  /** One or two, because there are two line styles. */
  readonly lines: ReadonlyArray<PriceLine>
  readonly unit: string
  /** Shown after the title. */
  readonly badge?: HtmlPart
}

/** A sample of the line's style, before its name. */
const lineSample = (index: number) =>
  html`<svg class="sample" viewBox="0 0 32 4" aria-hidden="true"><path class="line line-${index + 1}" d="M1 2H31"/></svg>`

export const priceChart = ({ badge, description, id, lines, title, unit }: PriceChart): Html => {
  const days = [...new Set(lines.flatMap(({ points }) => points.map((point) => point.day)))].sort()
  return html`<figure class="chart prices" data-price-chart data-unit="${unit}">
<figcaption id="${id}-title">${title}${badge && html` ${badge}`}</figcaption>
${lines.length > 1 && html`<ul class="legend">${lines.map(({ name }, index) => html`<li>${lineSample(index)}${name}</li>`)}</ul>`}
<div class="plot" role="img" aria-labelledby="${id}-title" aria-describedby="${id}-about" data-plot></div>
<div class="zoom no-print"><small>Drag across the chart to zoom in.</small><button class="button plain" type="button" data-zoom-out hidden>Reset zoom</button></div>
<p id="${id}-about">${description}</p>
<details><summary>Show as a table<span class="hidden">: ${title}</span></summary>${table(title, days, [
    ["Day", dayTag],
    ...lines.map(({ name, points }): Column<string> => {
      const digits = new Map(points.map((point) => [point.day, point.digits]))
      return [`${name}, ${unit}`, (day) => digits.get(day), "numeric"]
    })
  ])}</details>
</figure>
<script type="module" src="${assetPaths.priceChart}"></script>`
}
