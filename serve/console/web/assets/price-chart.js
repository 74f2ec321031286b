// Draws the tables of prices as lines. uPlot precedes this in the same file, as the global `uPlot`.

const day = 86_400
const month = 30 * day // a month and a year as uPlot counts them when it chooses ticks
const year = 365 * day
/** The same as in the legend; lines also differ without colours. */
const dashes = [[], [7, 5]]

const makeFormat = (parts) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...parts })
const dayFormat = makeFormat({ day: "numeric", month: "short" })
const monthFormat = makeFormat({ month: "short" })
const yearFormat = makeFormat({ year: "numeric" })

/** Days, months or years, depending on the step between ticks. The first tick of each year also shows the year. */
const formatDates = (_plot, splits, _axis, _space, step) => {
  const years = splits.map((seconds) => yearFormat.format(seconds * 1000))
  if (step >= year) return years
  const format = step >= month ? monthFormat : dayFormat
  return splits.map((seconds, index) => {
    const label = format.format(seconds * 1000)
    return years[index] === years[index - 1] ? label : `${label}\n${years[index]}`
  })
}
/** Prices with as many decimals as the step between ticks. */
const formatPrices = (_plot, splits, _axis, _space, step) => {
  const decimals = [0, 1, 2, 3, 4, 5].find((digits) => Number(step.toFixed(digits)) === step) ?? 6
  return splits.map((value) => value.toFixed(decimals).replace("-", "−"))
}

/** At least a week, so that a zoomed range is not empty. A single reading is centred; uPlot would show years around it. */
const chooseRange = ({ data: [seconds] }, from, to) => {
  const end = seconds.length === 1 ? from : to
  const missing = Math.max(0, 7 * day - (end - from)) / 2
  return [from - missing, end + missing]
}

const readTable = (table) => {
  const rows = [...table.tBodies[0].rows]
  const priceHeads = [...table.tHead.rows[0].cells].slice(1)
  return {
    days: rows.map(({ cells }) => cells[0].textContent),
    texts: priceHeads.map((_, line) => rows.map(({ cells }) => cells[line + 1].textContent)),
    seconds: rows.map((row) => Date.parse(row.querySelector("time").dateTime) / 1000)
  }
}

/** Shows the day under the pointer, and each price on it with the digits as published. */
const makeTooltip = (names, { days, texts }, unit) => {
  const tip = document.createElement("div")
  tip.className = "tip"
  const makeLine = (text, className = "") => {
    const element = document.createElement("div")
    element.textContent = text
    element.className = className
    return element
  }
  const follow = ({ cursor: { idx, left }, over }) => {
    tip.hidden = idx == null || left < 0
    if (tip.hidden) return
    const prices = texts.flatMap((column, index) => {
      const price = `${column[idx]} ${unit}`
      if (column[idx] === "") return []
      return names.length === 0 ? [makeLine(price)] : [makeLine(names[index], `name-${index + 1}`), makeLine(price)]
    })
    tip.replaceChildren(makeLine(days[idx], "day"), ...prices)
    const position = left + 14 + tip.offsetWidth > over.clientWidth ? left - 14 - tip.offsetWidth : left + 14
    tip.style.left = `${Math.max(0, Math.min(position, over.clientWidth - tip.offsetWidth))}px`
  }
  return { hooks: { ready: ({ over }) => over.append(tip), setCursor: follow } }
}

/**
 * uPlot follows only the mouse. With this, a finger that moves sideways moves the cursor; up and down it scrolls the
 * page. The cursor stays until something else is touched, because browsers send `mouseleave` right after a tap.
 */
const followTouch = () => {
  let isFinger = false
  const handleLeave = (_plot, _target, handle) => (event) => {
    if (!isFinger) handle(event)
  }
  const ready = (plot) => {
    const follow = ({ clientX, clientY, pointerType }) => {
      isFinger = pointerType === "touch"
      if (!isFinger) return
      const { left, top } = plot.over.getBoundingClientRect()
      plot.setCursor({ left: clientX - left, top: clientY - top })
    }
    plot.over.addEventListener("pointerdown", follow)
    plot.over.addEventListener("pointermove", follow)
    addEventListener("pointerdown", ({ target }) => {
      if (isFinger && !plot.over.contains(target)) plot.setCursor({ left: -10, top: -10 })
    })
  }
  return {
    opts: (_plot, options) => uPlot.assign(options, { cursor: { bind: { mouseleave: handleLeave } } }),
    hooks: { ready }
  }
}

const addZoomOut = (button, seconds) => {
  const fullRange = chooseRange({ data: [seconds] }, seconds[0], seconds.at(-1))
  return {
    hooks: {
      ready: (plot) =>
        button.addEventListener("click", () => {
          plot.setScale("x", { min: fullRange[0], max: fullRange[1] })
          button.closest("figure").querySelector("summary").focus() // the button is hidden now
        }),
      setScale: ({ scales: { x } }) => {
        button.hidden = x.min <= fullRange[0] && x.max >= fullRange[1]
      }
    }
  }
}

const measure = ({ clientHeight, clientWidth }) => ({ width: clientWidth, height: clientHeight })

const draw = (chart) => {
  const container = chart.querySelector("[data-plot]")
  const readings = readTable(chart.querySelector("table"))
  const names = [...chart.querySelectorAll(".legend li")].map((item) => item.textContent)
  /** Read for each drawing: the colour scheme may have changed, and paper is always light. */
  const readColour = (name) => {
    container.style.color = `var(${name})`
    const { color } = getComputedStyle(container)
    container.style.color = ""
    return color
  }
  const lineColour = () => readColour("--line")
  const pointColour = (_plot, index) => `var(--line-${index})` // cursor points are elements, not parts of the canvas
  const axis = {
    stroke: () => readColour("--muted"),
    font: `12px ${getComputedStyle(container).fontFamily}`,
    grid: { stroke: lineColour, width: 1 },
    ticks: { stroke: lineColour, width: 1, size: 5 }
  }
  const plot = new uPlot(
    {
      ...measure(container),
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
      legend: { show: false },
      cursor: { y: false, drag: { dist: 6 }, points: { size: 8, fill: pointColour, stroke: pointColour } },
      scales: { x: { range: chooseRange } },
      axes: [
        {
          ...axis,
          values: formatDates,
          space: 56,
          size: 44,
          incrs: [1, 2, 3, 5, 7, 10, 15]
            .map((days) => days * day)
            .concat([1, 2, 3, 4, 6].map((months) => months * month))
            .concat([1, 2, 5, 10, 25, 50].map((years) => years * year))
        },
        {
          ...axis,
          values: formatPrices,
          space: 36,
          size: (_plot, labels) => 16 + 7 * Math.max(3, ...(labels ?? []).map((label) => label.length))
        }
      ],
      series: [
        {},
        ...readings.texts.map((_, index) => ({
          stroke: () => readColour(`--line-${index + 1}`),
          dash: dashes[index],
          width: 2,
          spanGaps: true // a day on which only the other line has a reading is not a gap
        }))
      ],
      plugins: [
        makeTooltip(names, readings, chart.dataset.unit),
        followTouch(),
        addZoomOut(chart.querySelector("[data-zoom-out]"), readings.seconds)
      ]
    },
    [readings.seconds, ...readings.texts.map((column) => column.map((text) => (text === "" ? null : Number(text))))],
    container
  )
  const fit = () => plot.setSize(measure(container))
  new ResizeObserver(() => {
    if (container.clientWidth !== plot.width) fit() // it also runs at the start, and a resize removes the tooltip
  }).observe(container)
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)", "print"]) {
    matchMedia(query).addEventListener("change", fit)
  }
}

for (const chart of document.querySelectorAll("[data-price-chart]")) draw(chart)
