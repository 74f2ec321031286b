/**
 * The log of both programs, on stderr. On a terminal each entry is a line of text for people; elsewhere it is one JSON
 * object per line, with message, level, time and annotations.
 */
import { Cause, Layer, Logger, References } from "effect"
import { visibleInLine } from "./terminal.ts"

const toWord = (value: unknown): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text)
}

/** `14:02:11  warn  rows rejected  feed=gov-mars/1603 rows=3`, and below it the cause. */
const textLogger: Logger.Logger<unknown, string> = Logger.make(({ cause, date, fiber, logLevel, message }) => {
  const parts = (Array.isArray(message) ? message : [message]).map((part) =>
    typeof part === "string" ? part : toWord(part)
  )
  const annotations = Object.entries(fiber.getRef(References.CurrentLogAnnotations)).map(
    ([name, value]) => `${name}=${toWord(value)}`
  )
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0"))
  const line = [time.join(":"), logLevel.toLowerCase(), ...parts, annotations.join(" ")]
    .filter((part) => part !== "")
    .join("  ")
  return visibleInLine(line) + (cause.reasons.length === 0 ? "" : `\n${Cause.pretty(cause)}`)
})

export const logs: Layer.Layer<never> = Layer.suspend(() =>
  Logger.layer([Logger.withConsoleError(process.stderr.isTTY ? textLogger : Logger.formatJson)])
)
