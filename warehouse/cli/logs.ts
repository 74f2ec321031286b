/**
 * The log of both programs, on stderr. On a terminal each entry is a line of text for people; elsewhere it is one JSON
 * object per line: `at`, `level`, `event`, then its annotations, and `cause` as text if there is one.
 */
import { Cause, Console, Effect, Formatter, Layer, Logger, References } from "effect"
import { visibleInLine } from "./terminal.ts"

const toWord = (value: unknown): string =>
  typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)

/** A message may have facts after its text, which are annotations, too. */
const splitMessage = (message: unknown) => {
  const parts: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
  const isText = (part: unknown) => typeof part !== "object" || part === null
  return { event: parts.filter(isText).join(" "), facts: Object.assign({}, ...parts.filter((part) => !isText(part))) }
}

/** `14:02:11  warn  rows rejected  feed=gov-mars/1603 rows=3`, and below it the cause. */
const textLogger: Logger.Logger<unknown, string> = Logger.make(({ cause, date, fiber, logLevel, message }) => {
  const { event, facts } = splitMessage(message)
  const annotations = Object.entries({ ...facts, ...fiber.getRef(References.CurrentLogAnnotations) }).map(
    ([name, value]) => `${name}=${toWord(value)}`
  )
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0"))
  const line = [time.join(":"), logLevel.toLowerCase(), event, annotations.join(" ")]
    .filter((part) => part !== "")
    .join("  ")
  return visibleInLine(line) + (cause.reasons.length === 0 ? "" : `\n${Cause.pretty(cause)}`)
})

const jsonLogger = Logger.map(Logger.formatStructured, ({ annotations, cause, level, message, timestamp }) => {
  const { event, facts } = splitMessage(message)
  const entry = { at: timestamp, level, event }
  return Formatter.formatJson({ ...entry, ...facts, ...annotations, ...entry, cause })
})

export const logs: Layer.Layer<never> = Layer.suspend(() =>
  Logger.layer([Logger.withConsoleError(process.stderr.isTTY ? textLogger : jsonLogger)])
)

/** Tells the person at the terminal what is wrong, without time and level; elsewhere it is an entry of the log. */
export const printProblem = (text: string): Effect.Effect<void> =>
  process.stderr.isTTY ? Console.error(text) : Effect.logError(text)
