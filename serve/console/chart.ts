/**
 * Charts as inline SVG, drawn here: bars per day, and lines of series. The drawing stretches with its place, its labels do
 * not. Each chart has a title and a description for screen readers and a table with the same numbers; under the pointer
 * it says the value (`assets/console.js`; without scripts as the browser shows titles).
 */
import { dayText, type Html, html, shortDayText, table } from "./html.ts"

export interface Bar {
  /** Under the chart and in the table, such as `15 Oct`. */
  readonly label: string
  /** A count: whole and not negative, and so are the steps of the axis. */
  readonly value: number
}

export interface BarChart {
  /** Unique on its page; letters, digits and hyphens. */
  readonly id: string
  readonly title: string
  /** What a sighted reader takes from it at a glance, in a sentence. */
  readonly description: string
  readonly bars: ReadonlyArray<Bar>
  /** A value in words, such as `1,200 calls`. */
  readonly say: (value: number) => string
  /** A value on the axis, whose steps need so many decimals. */
  readonly tick: (value: number, decimals: number) => string
  /** Headings of the table: of the labels and of the values. */
  readonly columns: readonly [label: string, value: string]
}

export interface Line {
  readonly name: string
  /** Oldest first, days such as `2026-10-15`; a day without a value has no point. */
  readonly points: ReadonlyArray<{ readonly day: string; readonly value: number }>
}

export interface LineChart {
  readonly id: string
  readonly title: string
  readonly description: string
  /** At most six: there are as many colours. */
  readonly lines: ReadonlyArray<Line>
  readonly say: (value: number) => string
  readonly tick: (value: number, decimals: number) => string
  /** Whether the axis starts at 0; otherwise it spans the values. */
  readonly fromZero?: boolean
}

const height = 100
const width = 1000
/** Places that say their value; more of them would only make the page heavy. */
const mostSpots = 400

interface Axis {
  readonly low: number
  readonly high: number
  readonly ticks: ReadonlyArray<number>
  /** Of the steps between them. */
  readonly decimals: number
}

/** Four steps at most, of 1, 2 or 5 times a power of ten, none of them finer than `finest`. */
const axisOf = (least: number, most: number, finest = 0): Axis => {
  const span = most - least || Math.abs(most) || 1
  const rough = span / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(finest, ([1, 2, 5].find((times) => times * power >= rough) ?? 10) * power)
  const low = Math.floor(least / step) * step
  const steps = Math.max(1, Math.ceil((most - low) / step - 1e-9))
  // multiples of the step, not sums: 0.1 + 0.2 is not a tick
  const ticks = Array.from({ length: steps + 1 }, (_, index) =>
    Number(((Math.round(low / step) + index) * step).toPrecision(12))
  )
  return { low, high: low + steps * step, ticks, decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) }
}

const place = (value: number) => Number(value.toFixed(2))
const y = (axis: Axis, value: number) => place(height - ((value - axis.low) / (axis.high - axis.low)) * height)

const framed = (of: {
  readonly chart: { readonly id: string; readonly title: string; readonly description: string }
  readonly axis: Axis
  readonly tick: (value: number, decimals: number) => string
  readonly drawing: ReadonlyArray<Html>
  readonly below: ReadonlyArray<string>
  readonly legend: Html | null
  readonly numbers: Html
}): Html => {
  const { description, id, title } = of.chart
  return html`<figure class="chart" data-chart>
<figcaption>${title}<span class="readout" aria-hidden="true" data-readout></span></figcaption>
${of.legend}<div class="plot">
<div class="ticks" aria-hidden="true">${of.axis.ticks.toReversed().map((value) => html`<span>${of.tick(value, of.axis.decimals)}</span>`)}</div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-labelledby="${id}-title ${id}-about">
<title id="${id}-title">${title}</title><desc id="${id}-about">${description}</desc>
${of.axis.ticks.map((value) => html`<line class="grid" x1="0" x2="${width}" y1="${y(of.axis, value)}" y2="${y(of.axis, value)}"/>`)}
${of.drawing}
</svg>
<div class="${of.below.some((label) => label.length > 8) ? "below wide" : "below"}" aria-hidden="true">${of.below.map((label) => html`<span>${label}</span>`)}</div>
</div>
<details><summary>The same as a table<span class="hidden">: ${title}</span></summary>${of.numbers}</details>
</figure>`
}

/** A place of full height that says what is there. */
const spot = (x: number, wide: number, text: string) =>
  html`<rect class="spot" x="${place(x)}" y="0" width="${place(wide)}" height="${height}" data-say="${text}"><title>${text}</title></rect>`

/** The first, the last and some between, evenly. */
const some = (labels: ReadonlyArray<string>, most: number): ReadonlyArray<string> =>
  labels.length <= most
    ? labels
    : Array.from({ length: most }, (_, index) => labels[Math.round((index * (labels.length - 1)) / (most - 1))] ?? "")

export const barChart = (chart: BarChart): Html => {
  const { bars, say } = chart
  const axis = axisOf(0, Math.max(1, ...bars.map(({ value }) => value)), 1)
  const wide = width / Math.max(1, bars.length)
  const drawn = bars.map(({ value }, index) => {
    const top = y(axis, value)
    return value === 0
      ? html``
      : html`<rect class="bar" x="${place(index * wide + wide * 0.15)}" y="${top}" width="${place(wide * 0.7)}" height="${place(height - top)}"/>`
  })
  const spots = bars.map(({ label, value }, index) => spot(index * wide, wide, `${label}: ${say(value)}`))
  return framed({
    chart,
    axis,
    tick: chart.tick,
    drawing: [...drawn, ...spots],
    below: some(
      bars.map(({ label }) => label),
      5
    ),
    legend: null,
    numbers: table({
      caption: chart.title,
      columns: [{ label: chart.columns[0] }, { label: chart.columns[1], numeric: true }],
      rows: bars.map(({ label, value }) => [label, say(value)])
    })
  })
}

/** How the line looks, before its name. */
const sampleOf = (index: number) =>
  html`<svg class="sample" viewBox="0 0 32 4" aria-hidden="true"><path class="line line-${index + 1}" d="M1 2H31"/></svg>`

const time = (day: string) => Date.parse(day)

export const lineChart = (chart: LineChart): Html => {
  const { lines, say } = chart
  const points = lines.flatMap((line) => line.points)
  const values = points.map(({ value }) => value)
  const least = values.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY)
  const most = values.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY)
  const axis = points.length === 0 ? axisOf(0, 1) : axisOf(chart.fromZero ? Math.min(0, least) : least, most)
  const days = [...new Set(points.map(({ day }) => day))].sort()
  const first = time(days[0] ?? "1970-01-01")
  const span = time(days.at(-1) ?? "1970-01-02") - first || 1
  const x = (day: string) => place(((time(day) - first) / span) * width)
  const drawn = lines.map(({ points }, index) => {
    const path = points.map(({ day, value }, at) => `${at === 0 ? "M" : "L"}${x(day)} ${y(axis, value)}`).join("")
    // a single point would be invisible
    return html`<path class="line line-${index + 1}" d="${points.length === 1 ? `${path}h0.1` : path}"/>`
  })
  const valueOn = lines.map((line) => new Map(line.points.map(({ day, value }) => [day, value])))
  const said = (day: string) =>
    `${dayText(day)}: ${lines
      .flatMap(({ name }, index) => {
        const value = valueOn[index]?.get(day)
        if (value === undefined) return []
        return lines.length === 1 ? say(value) : `${name} ${say(value)}`
      })
      .join(", ")}`
  const every = Math.ceil(days.length / mostSpots)
  const heard = days.filter((_, index) => index % every === 0 || index === days.length - 1)
  const edge = (left: string | undefined, right: string | undefined, otherwise: number) =>
    left === undefined || right === undefined ? otherwise : (x(left) + x(right)) / 2
  const spots = heard.map((day, index) => {
    const from = edge(heard[index - 1], day, 0)
    return spot(from, edge(day, heard[index + 1], width) - from, said(day))
  })
  const label = span > 300 * 86_400_000 ? dayText : shortDayText
  return framed({
    chart,
    axis,
    tick: chart.tick,
    drawing: [...drawn, ...spots],
    below:
      days.length === 0
        ? []
        : some(
            [0, 0.25, 0.5, 0.75, 1].map((part) => label(new Date(first + part * span).toISOString())),
            days.length
          ),
    legend:
      lines.length < 2
        ? null
        : html`<ul class="legend">${lines.map(({ name }, index) => html`<li>${sampleOf(index)}${name}</li>`)}</ul>\n`,
    numbers: table({
      caption: chart.title,
      columns: [{ label: "Day" }, ...lines.map(({ name }) => ({ label: name, numeric: true }))],
      rows: days.map((day) => [
        dayText(day),
        ...valueOn.map((values) => {
          const value = values.get(day)
          return value === undefined ? "" : say(value)
        })
      ])
    })
  })
}
