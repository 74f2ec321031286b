/**
 * Progress of a run on stderr: a bar on a terminal, an entry of the log every few seconds elsewhere, nothing with `--json`.
 * The time left is estimated from the average duration of the earlier feeds. After the feeds, the current phase is named.
 * The end is always reported, even if the run fails.
 */
import { visibleInLine } from "@larder/warehouse/cli"
import { ByteSize, Clock, Console, Context, type Duration, Effect, Exit, Layer, type Scope } from "effect"

interface ProgressUpdate {
  /** The feed that is read next. */
  readonly started?: string
  /** The feed that was just read. */
  readonly finished?: string
  readonly rows?: number
  readonly bytes?: number
}

interface ProgressReporter {
  /** Shows the progress of a run of this pipeline until the scope closes, then one line about how it ended. */
  start(pipeline: string): Effect.Effect<void, never, Scope.Scope>
  expect(feeds: number): Effect.Effect<void>
  advance(update: ProgressUpdate): Effect.Effect<void>
  /** The feeds have been read, and this phase begins. `rows` is the count that the summary also shows. */
  phase(name: string, rows?: number): Effect.Effect<void>
}

/** Silent by default: only the command line shows anything. */
export const Progress = Context.Reference<ProgressReporter>("larder/pipelines/Progress", {
  defaultValue: () => ({
    start: () => Effect.void,
    expect: () => Effect.void,
    advance: () => Effect.void,
    phase: () => Effect.void
  })
})

export interface Screen {
  columns(): number
  write(text: string): void
}

interface RunProgress {
  readonly pipeline: string
  readonly startedAt: number
  feeds: number
  done: number
  rows: number
  bytes: number
  /** The feed that began or ended last. */
  last: string
  phase: string | undefined
}

/** Reports the progress of a run, and its end. */
interface Display {
  /** The bar moves while bytes arrive; entries do not flood a log. */
  readonly interval: Duration.Input
  readonly show: (progress: RunProgress, now: number) => Effect.Effect<void>
  readonly end: (state: "done" | "stopped", progress: RunProgress, now: number) => Effect.Effect<void>
}

const findMillisecondsLeft = ({ done, feeds, phase, startedAt }: RunProgress, now: number) =>
  phase === undefined && done > 0 && done < feeds ? ((now - startedAt) / done) * (feeds - done) : undefined

const toSeconds = (ms: number) => Math.floor(ms / 1000)

const inLog: Display = {
  interval: "5 seconds",
  show: (progress, now) => {
    const { bytes, done, feeds, last, phase, pipeline, rows, startedAt } = progress
    const left = findMillisecondsLeft(progress, now)
    return Effect.logInfo(phase ?? "reading", {
      pipeline,
      ...(phase === undefined && { feeds_done: done, feeds, feed: last }),
      rows,
      bytes,
      seconds: toSeconds(now - startedAt),
      ...(left !== undefined && { seconds_left: toSeconds(left) })
    })
  },
  end: (state, { bytes, done, feeds, pipeline, rows, startedAt }, now) =>
    Effect.logInfo(state, { pipeline, feeds_done: done, feeds, rows, bytes, seconds: toSeconds(now - startedAt) })
}

const formatCount = (n: number) => n.toLocaleString("en-US")

const formatDuration = (ms: number) => {
  const seconds = toSeconds(ms)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => String(part).padStart(2, "0")).join(":")
}

const formatFacts = (progress: RunProgress, now: number, hasEnded = false) => {
  const { bytes, done, feeds, last, phase, rows, startedAt } = progress
  const elapsed = now - startedAt
  const isReading = phase === undefined && !hasEnded
  const left = hasEnded ? undefined : findMillisecondsLeft(progress, now)
  const facts = [
    !hasEnded && phase,
    (isReading || hasEnded) && feeds > 0 && `${formatCount(done)}/${formatCount(feeds)} feeds`,
    `${formatCount(rows)} rows`,
    isReading && elapsed >= 1000 && `${formatCount(Math.round((rows / elapsed) * 1000))} rows/s`,
    ByteSize.format(ByteSize.bytes(bytes), { precision: 1, system: "decimal" }),
    formatDuration(elapsed),
    left !== undefined && `about ${formatDuration(left)} left`,
    isReading && last
  ]
  return facts.filter(Boolean).join("  ")
}

/** After the feeds there is no bar: it would look full while work continues. */
const formatBar = (progress: RunProgress, now: number, columns: number) => {
  const width = 20
  const full = Math.min(width, Math.floor((progress.done / Math.max(1, progress.feeds)) * width))
  const bar = progress.phase === undefined ? `[${"#".repeat(full)}${"-".repeat(width - full)}]  ` : ""
  const line = `${bar}${progress.pipeline}  ${formatFacts(progress, now)}`
  return line.slice(0, Math.max(20, columns - 1)) // a full line would wrap
}

/** Clears with spaces instead of control sequences: this works on every terminal. */
const makeBar = (screen: Screen) => {
  let drawnLength = 0
  const clear = () => {
    if (drawnLength > 0) screen.write(`\r${" ".repeat(drawnLength)}\r`)
    drawnLength = 0
  }
  const display: Display = {
    interval: "200 millis",
    show: (progress, now) =>
      Effect.sync(() => {
        const bar = formatBar(progress, now, screen.columns())
        screen.write(`\r${bar.padEnd(drawnLength)}`)
        drawnLength = bar.length
      }),
    end: (state, progress, now) =>
      Effect.sync(() => {
        clear()
        const words = state === "done" ? "done" : "stopped at"
        screen.write(`${progress.pipeline}  ${words}  ${formatFacts(progress, now, true)}\n`)
      })
  }
  return { clear, display }
}

const makeReporter = ({ end, interval, show }: Display): ProgressReporter => {
  let progress: RunProgress | undefined

  const showNow = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    progress === undefined ? Effect.void : show(progress, now)
  )

  const finish = Effect.fnUntraced(function* (exit: Exit.Exit<unknown, unknown>) {
    const now = yield* Clock.currentTimeMillis
    if (progress !== undefined) yield* end(Exit.isSuccess(exit) ? "done" : "stopped", progress, now)
    progress = undefined
  })

  const update = (change: (current: RunProgress) => void) =>
    Effect.sync(() => {
      if (progress) change(progress)
    })

  return {
    start: Effect.fnUntraced(function* (pipeline) {
      const startedAt = yield* Clock.currentTimeMillis
      progress = { pipeline, startedAt, feeds: 0, done: 0, rows: 0, bytes: 0, last: "", phase: undefined }
      yield* Effect.addFinalizer(finish)
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(interval), showNow)))
    }),
    expect: (feeds) =>
      update((current) => {
        current.feeds = feeds
      }),
    advance: ({ finished, started = finished, rows = 0, bytes = 0 }) =>
      update((current) => {
        current.rows += rows
        current.bytes += bytes
        if (finished !== undefined) current.done += 1
        if (started !== undefined) current.last = visibleInLine(started)
      }),
    phase: (name, rows) =>
      update((current) => {
        current.phase = name
        current.rows = rows ?? current.rows
      })
  }
}

/** Prints log lines and output above the bar: clears the bar first. Its next tick draws it again. */
const printAboveBar = (console: Console.Console, clear: () => void): Console.Console => {
  const clearFirst =
    (print: (...args: ReadonlyArray<unknown>) => void) =>
    (...args: ReadonlyArray<unknown>) => {
      clear()
      print(...args)
    }
  const { debug, error, info, log, warn } = console
  const cleared = { debug: clearFirst(debug), error: clearFirst(error), info: clearFirst(info) }
  return { ...console, ...cleared, log: clearFirst(log), warn: clearFirst(warn) }
}

export const progressOn = (screen: Screen): Layer.Layer<never> => {
  const { clear, display } = makeBar(screen)
  const console = Effect.map(Console.Console, (outer) => printAboveBar(outer, clear))
  return Layer.merge(Layer.succeed(Progress, makeReporter(display)), Layer.effect(Console.Console, console))
}

export const progressInLog: Layer.Layer<never> = Layer.sync(Progress, () => makeReporter(inLog))

/** Stderr of this process. With `--json` nothing is shown: leave this layer out. */
export const progressOnStderr = Layer.suspend(() =>
  process.stderr.isTTY
    ? progressOn({ columns: () => process.stderr.columns, write: (text) => process.stderr.write(text) })
    : progressInLog
)
