/**
 * Progress of a run on stderr: a bar on a terminal, a line every few seconds elsewhere, nothing for machines. Outside
 * of `start` nothing is shown. While feeds are read, it shows rows, rows per second and the time left, as if the
 * remaining feeds took as long as the earlier ones. Afterwards the line names the current phase. However the run ends,
 * the last line is complete.
 */
import { visibleInLine } from "@larder/warehouse/cli"
import { ByteSize, Clock, Console, Context, Effect, Exit, Layer, type Scope } from "effect"

export interface ProgressUpdate {
  /** Name of a feed that begins. */
  readonly reading?: string
  /** Name of a feed that is done. */
  readonly feed?: string
  readonly rows?: number
  readonly bytes?: number
}

interface Shows {
  /** Shows the progress of a run of this pipeline until the scope closes, then one line that says how it ended. */
  start(pipeline: string): Effect.Effect<void, never, Scope.Scope>
  /** Sets the number of feeds to read. */
  expect(feeds: number): Effect.Effect<void>
  advance(step: ProgressUpdate): Effect.Effect<void>
  /** The feeds have been read, and this phase begins. `rows` is the count that the summary also shows. */
  phase(name: string, rows?: number): Effect.Effect<void>
}

export const silent: Shows = {
  start: () => Effect.void,
  expect: () => Effect.void,
  advance: () => Effect.void,
  phase: () => Effect.void
}

/** Silent by default: only the command line shows anything. */
export const Progress = Context.Reference<Shows>("larder/pipelines/Progress", { defaultValue: () => silent })

export interface Screen {
  readonly mode: "bar" | "lines"
  columns(): number
  write(text: string): void
}

/** The bar moves while bytes arrive; the lines do not flood a log. */
const redraw = { bar: "200 millis", lines: "5 seconds" } as const

interface Count {
  readonly pipeline: string
  readonly startedAt: number
  feeds: number
  done: number
  rows: number
  bytes: number
  /** The feed that began or ended last. */
  last: string
  /** The phase after the feeds. */
  phase: string | undefined
}

const grouped = (n: number) => n.toLocaleString("en-US")

const hoursMinutesSeconds = (ms: number) => {
  const seconds = Math.floor(ms / 1000)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => String(part).padStart(2, "0")).join(":")
}

const bytesOf = ({ bytes }: Count) => ByteSize.format(ByteSize.bytes(bytes), { precision: 1, system: "decimal" })

const rateOf = ({ rows }: Count, elapsed: number) =>
  elapsed >= 1000 ? [`${grouped(Math.round((rows / elapsed) * 1000))} rows/s`] : []

const leftOf = ({ done, feeds }: Count, elapsed: number) =>
  done > 0 && done < feeds ? [`about ${hoursMinutesSeconds((elapsed / done) * (feeds - done))} left`] : []

const feedsOf = ({ done, feeds }: Count) => (feeds === 0 ? [] : [`${grouped(done)}/${grouped(feeds)} feeds`])

const textOf = (count: Count, now: number) => {
  const elapsed = now - count.startedAt
  const rows = `${grouped(count.rows)} rows`
  if (count.phase !== undefined) return [count.phase, rows, bytesOf(count), hoursMinutesSeconds(elapsed)].join("  ")
  const parts = [
    ...feedsOf(count),
    rows,
    ...rateOf(count, elapsed),
    bytesOf(count),
    hoursMinutesSeconds(elapsed),
    ...leftOf(count, elapsed),
    count.last
  ]
  return parts.filter((part) => part !== "").join("  ")
}

const endOf = (count: Count, now: number) =>
  [...feedsOf(count), `${grouped(count.rows)} rows`, bytesOf(count), hoursMinutesSeconds(now - count.startedAt)].join(
    "  "
  )

/** After the feeds there is no bar: it would look full while work continues. */
const barOf = (count: Count, now: number, columns: number) => {
  const width = 20
  const full = Math.min(width, Math.floor((count.done / Math.max(1, count.feeds)) * width))
  const bar = count.phase === undefined ? `[${"#".repeat(full)}${"-".repeat(width - full)}]  ` : ""
  const line = `${bar}${count.pipeline}  ${textOf(count, now)}`
  return line.slice(0, Math.max(20, columns - 1)) // a full line would wrap
}

/** Clears with blanks instead of control sequences: this works on every terminal. */
const makeShows = (screen: Screen) => {
  let count: Count | undefined
  let drawn = 0

  const clear = () => {
    if (drawn > 0) screen.write(`\r${" ".repeat(drawn)}\r`)
    drawn = 0
  }

  const draw = Effect.map(Clock.currentTimeMillis, (now) => {
    if (!count) return
    if (screen.mode === "lines") return screen.write(`${count.pipeline}  ${textOf(count, now)}\n`)
    const bar = barOf(count, now, screen.columns())
    screen.write(`\r${bar.padEnd(drawn)}`)
    drawn = bar.length
  })

  const end = (isDone: boolean) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      clear()
      if (count) screen.write(`${count.pipeline}  ${isDone ? "done" : "stopped at"}  ${endOf(count, now)}\n`)
      count = undefined
    })

  const start = Effect.fnUntraced(function* (pipeline: string) {
    const startedAt = yield* Clock.currentTimeMillis
    count = { pipeline, startedAt, feeds: 0, done: 0, rows: 0, bytes: 0, last: "", phase: undefined }
    yield* Effect.addFinalizer((exit) => end(Exit.isSuccess(exit)))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(redraw[screen.mode]), draw)))
  })

  const expect = (feeds: number) =>
    Effect.sync(() => {
      if (count) count.feeds = feeds
    })

  const advance = ({ feed, reading = feed, rows = 0, bytes = 0 }: ProgressUpdate) =>
    Effect.sync(() => {
      if (!count) return
      count.rows += rows
      count.bytes += bytes
      if (feed !== undefined) count.done += 1
      if (reading !== undefined) count.last = visibleInLine(reading)
    })

  const phase = (name: string, rows?: number) =>
    Effect.sync(() => {
      if (!count) return
      count.phase = name
      count.rows = rows ?? count.rows
    })

  return { clear, shows: { start, expect, advance, phase } }
}

/** Log lines and output during a bar go above it: the bar is cleared first, and drawn again at its next tick. */
const aboveTheBar = (console: Console.Console, clear: () => void): Console.Console => {
  const after =
    (print: (...args: ReadonlyArray<unknown>) => void) =>
    (...args: ReadonlyArray<unknown>) => {
      clear()
      print(...args)
    }
  const { debug, error, info, log, warn } = console
  return { ...console, debug: after(debug), error: after(error), info: after(info), log: after(log), warn: after(warn) }
}

export const progressOn = (screen: Screen): Layer.Layer<never> => {
  const { clear, shows } = makeShows(screen)
  const progress = Layer.succeed(Progress, shows)
  if (screen.mode === "lines") return progress
  const console = Layer.effect(
    Console.Console,
    Effect.map(Console.Console, (outer) => aboveTheBar(outer, clear))
  )
  return Layer.merge(progress, console)
}

/** Stderr of this process. With `--json` nothing is shown: leave this layer out. */
export const progressOnStderr = Layer.suspend(() =>
  progressOn({
    mode: process.stderr.isTTY ? "bar" : "lines",
    columns: () => process.stderr.columns,
    write: (text) => process.stderr.write(text)
  })
)
