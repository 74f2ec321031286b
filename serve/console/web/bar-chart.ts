/**
 * A bar chart with one bar per day or month, as inline SVG: it works without scripts, prints, and uses the colours of
 * the page. Screen readers get a description and a table with the same numbers. `assets/console.js` shows the value
 * under the pointer; without scripts, the browser shows it as a tooltip. Prices have a line chart: `price-chart.ts`.
 */
import { countText, type Html, html, pluralize, table } from "./html.ts"

interface BarChart {
  /** Unique on its page; letters, digits and hyphens. */
  readonly id: string
  readonly title: string
  /** One sentence with what a sighted reader sees at a glance. */
  readonly description: string
  readonly bars: ReadonlyArray<{
    /** Shown under the chart and in the table, such as `15 Oct`. */
    readonly label: string
    /** A count: a non-negative integer, like the steps of the axis. */
    readonly value: number
  }>
  /** What is counted, such as `call`. */
  readonly noun: string
  /** Headings of the table: of the labels and of the values. */
  readonly columns: readonly [label: string, value: string]
}

const height = 100
const width = 1000

/** From 0 in at most four steps, each 1, 2 or 5 times a power of ten. */
const chooseTicks = (highest: number): ReadonlyArray<number> => {
  const rough = highest / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(1, ([1, 2, 5].find((times) => times * power >= rough) ?? 10) * power)
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, index) => index * step)
}

const round = (value: number) => Number(value.toFixed(2))

/** The first, the last and some evenly spaced labels between them. */
const pickLabels = (labels: ReadonlyArray<string>, limit: number): ReadonlyArray<string> =>
  labels.length <= limit
    ? labels
    : Array.from({ length: limit }, (_, index) => labels[Math.round((index * (labels.length - 1)) / (limit - 1))] ?? "")

export const barChart = ({ bars, columns, description, id, noun, title }: BarChart): Html => {
  const ticks = chooseTicks(Math.max(1, ...bars.map(({ value }) => value)))
  const highest = ticks.at(-1) ?? 1
  const y = (value: number) => round(height - (value / highest) * height)
  const spacing = width / Math.max(1, bars.length)
  const axisLabels = pickLabels(
    bars.map(({ label }) => label),
    5
  )
  return html`<figure class="chart" data-chart>
<figcaption>${title}<span class="readout" aria-hidden="true" data-readout></span></figcaption>
<div class="bars">
<div class="ticks" aria-hidden="true">${ticks.toReversed().map((value) => html`<span>${countText(value)}</span>`)}</div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-labelledby="${id}-title ${id}-about">
<title id="${id}-title">${title}</title><desc id="${id}-about">${description}</desc>
${ticks.map((value) => html`<line class="grid" x1="0" x2="${width}" y1="${y(value)}" y2="${y(value)}"/>`)}
${bars.map(
  ({ value }, index) =>
    value > 0 &&
    html`<rect class="bar" x="${round((index + 0.15) * spacing)}" y="${y(value)}" width="${round(spacing * 0.7)}" height="${round(height - y(value))}"/>`
)}
${bars.map(({ label, value }, index) => {
  const text = `${label}: ${pluralize(value, noun)}`
  return html`<rect class="spot" x="${round(index * spacing)}" y="0" width="${round(spacing)}" height="${height}" data-text="${text}"><title>${text}</title></rect>`
})}
</svg>
<div class="below" aria-hidden="true">${axisLabels.map((label) => html`<span>${label}</span>`)}</div>
</div>
<details><summary>Show as a table<span class="hidden">: ${title}</span></summary>${table(title, bars, [
    [columns[0], ({ label }) => label],
    [columns[1], ({ value }) => pluralize(value, noun), "numeric"]
  ])}</details>
</figure>`
}
