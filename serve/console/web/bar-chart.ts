/**
 * A bar chart with one bar per day or month, as inline SVG: it works without scripts, prints, and takes the colours of
 * the page. The drawing stretches with its container, the labels do not. It has a title and a description for screen
 * readers, and a table with the same numbers. `assets/console.js` shows the value under the pointer; without scripts,
 * the browser shows it as a tooltip. Prices are a different chart: `price-chart.ts`.
 */
import { type Html, html, table } from "./html.ts"

export interface Bar {
  /** Shown under the chart and in the table, such as `15 Oct`. */
  readonly label: string
  /** A count: a non-negative integer, like the steps of the axis. */
  readonly value: number
}

interface BarChart {
  /** Unique on its page; letters, digits and hyphens. */
  readonly id: string
  readonly title: string
  /** One sentence with what a sighted reader sees at a glance. */
  readonly description: string
  readonly bars: ReadonlyArray<Bar>
  /** A value in words, such as `1,200 calls`. */
  readonly say: (value: number) => string
  /** A value on the axis. */
  readonly tick: (value: number) => string
  /** Headings of the table: of the labels and of the values. */
  readonly columns: readonly [label: string, value: string]
}

const height = 100
const width = 1000

/** From 0 in at most four steps, each 1, 2 or 5 times a power of ten. */
const ticksOf = (most: number): ReadonlyArray<number> => {
  const rough = most / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(1, ([1, 2, 5].find((times) => times * power >= rough) ?? 10) * power)
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step)
}

const place = (value: number) => Number(value.toFixed(2))

/** The first, the last and some evenly spaced labels between them. */
const some = (labels: ReadonlyArray<string>, most: number): ReadonlyArray<string> =>
  labels.length <= most
    ? labels
    : Array.from({ length: most }, (_, index) => labels[Math.round((index * (labels.length - 1)) / (most - 1))] ?? "")

export const barChart = ({ bars, columns, description, id, say, tick, title }: BarChart): Html => {
  const ticks = ticksOf(Math.max(1, ...bars.map(({ value }) => value)))
  const highest = ticks.at(-1) ?? 1
  const y = (value: number) => place(height - (value / highest) * height)
  const wide = width / Math.max(1, bars.length)
  const below = some(
    bars.map(({ label }) => label),
    5
  )
  return html`<figure class="chart" data-chart>
<figcaption>${title}<span class="readout" aria-hidden="true" data-readout></span></figcaption>
<div class="bars">
<div class="ticks" aria-hidden="true">${ticks.toReversed().map((value) => html`<span>${tick(value)}</span>`)}</div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-labelledby="${id}-title ${id}-about">
<title id="${id}-title">${title}</title><desc id="${id}-about">${description}</desc>
${ticks.map((value) => html`<line class="grid" x1="0" x2="${width}" y1="${y(value)}" y2="${y(value)}"/>`)}
${bars.map(
  ({ value }, index) =>
    value > 0 &&
    html`<rect class="bar" x="${place((index + 0.15) * wide)}" y="${y(value)}" width="${place(wide * 0.7)}" height="${place(height - y(value))}"/>`
)}
${bars.map(({ label, value }, index) => {
  const said = `${label}: ${say(value)}`
  return html`<rect class="spot" x="${place(index * wide)}" y="0" width="${place(wide)}" height="${height}" data-say="${said}"><title>${said}</title></rect>`
})}
</svg>
<div class="below" aria-hidden="true">${below.map((label) => html`<span>${label}</span>`)}</div>
</div>
<details><summary>The same as a table<span class="hidden">: ${title}</span></summary>${table({
    caption: title,
    columns: [{ label: columns[0] }, { label: columns[1], numeric: true }],
    rows: bars.map(({ label, value }) => [label, say(value)])
  })}</details>
</figure>`
}
