/**
 * How far a run is, on stderr: a bar on a terminal, a line every few seconds elsewhere, nothing for machines. Outside of `start`
 * nothing is shown. Whatever ends the run, the last line is whole.
 */
import { visibleInLine } from "@larder/warehouse/terminal.ts"
import { ByteSize, Clock, Console, Context, Effect, Exit, Layer, type Scope } from "effect"

export interface Step {
  /** A feed that is done, by name. */
  readonly feed?: string
  readonly rows?: number
  readonly bytes?: number
}

interface Shows {
  /** Shows progress until the scope closes, then one line that says how it ended. */
  start(feeds: number): Effect.Effect<void, never, Scope.Scope>
  advance(step: Step): Effect.Effect<void>
}

/** Silent by default: only the command line shows anything. */
export const Progress = Context.Reference<Shows>("larder/pipelines/Progress", {
  defaultValue: () => ({ start: () => Effect.void, advance: () => Effect.void })
})

export interface Screen {
  readonly mode: "bar" | "lines"
  columns(): number
  write(text: string): void
}

/** A bar that moves while bytes come, and lines that do not flood a log. */
const redraw = { bar: "200 millis", lines: "5 seconds" } as const

interface Count {
  readonly feeds: number
  readonly startedAt: number
  done: number
  rows: number
  bytes: number
  last: string
}

const grouped = (n: number) => n.toLocaleString("en-US")

const hoursMinutesSeconds = (ms: number) => {
  const seconds = Math.floor(ms / 1000)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => String(part).padStart(2, "0")).join(":")
}

const textOf = (count: Count, now: number) =>
  [
    `${grouped(count.done)}/${grouped(count.feeds)} feeds`,
    `${grouped(count.rows)} rows`,
    ByteSize.format(ByteSize.bytes(count.bytes), { precision: 1, system: "decimal" }),
    hoursMinutesSeconds(now - count.startedAt)
  ].join("  ")

const barOf = (count: Count, now: number, columns: number) => {
  const width = 20
  const full = Math.min(width, Math.floor((count.done / Math.max(1, count.feeds)) * width))
  const line = `[${"#".repeat(full)}${"-".repeat(width - full)}]  ${textOf(count, now)}  ${count.last}`
  return line.trimEnd().slice(0, Math.max(20, columns - 1)) // a full line would wrap
}

/** Blanks instead of control sequences: they work on every terminal. */
const makeShows = (screen: Screen) => {
  let count: Count | undefined
  let drawn = 0

  const clear = () => {
    if (drawn > 0) screen.write(`\r${" ".repeat(drawn)}\r`)
    drawn = 0
  }

  const draw = Effect.map(Clock.currentTimeMillis, (now) => {
    if (!count) return
    if (screen.mode === "lines") return screen.write(`${textOf(count, now)}\n`)
    const bar = barOf(count, now, screen.columns())
    screen.write(`\r${bar.padEnd(drawn)}`)
    drawn = bar.length
  })

  const end = (isDone: boolean) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      clear()
      if (count) screen.write(`${isDone ? "done" : "stopped at"}  ${textOf(count, now)}\n`)
      count = undefined
    })

  const start = Effect.fnUntraced(function* (feeds: number) {
    count = { feeds, startedAt: yield* Clock.currentTimeMillis, done: 0, rows: 0, bytes: 0, last: "" }
    yield* Effect.addFinalizer((exit) => end(Exit.isSuccess(exit)))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(redraw[screen.mode]), draw)))
  })

  const advance = ({ feed, rows = 0, bytes = 0 }: Step) =>
    Effect.sync(() => {
      if (!count) return
      count.rows += rows
      count.bytes += bytes
      if (feed === undefined) return
      count.done += 1
      count.last = visibleInLine(feed)
    })

  return { clear, shows: { start, advance } }
}

/** What is logged or printed while a bar stands goes above it: the bar is taken away first, and drawn again at its next tick. */
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
