/**
 * What both programs print. Texts from payloads, store lists and other servers may hold sequences that steer a terminal: hide
 * lines, change its title, type. They are shown as `\u001b`, which is also how JSON writes them, so JSON stays JSON. That holds
 * for pipes, too: somebody reads the log on a terminal later.
 */
import { formatWithOptions } from "node:util"
import { Console, Effect, Layer } from "effect"

const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`

/** C0, DEL, C1, and what turns the direction of text around: all of it but line breaks and tabs. */
const steering = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

export const visible = (text: string): string => text.replace(steering, escaped)

/** For text that must stay on one line. */
export const visibleInLine = (text: string): string => visible(text).replace(/[\n\t]/g, escaped)

/** A console that prints texts only, with everything visible. Colours are control characters, too: it prints none. */
const visibly = (console: Console.Console): Console.Console => {
  const print =
    (write: (text: string) => void) =>
    (...args: ReadonlyArray<unknown>) =>
      write(visible(formatWithOptions({ colors: false }, ...args)))
  const { debug, error, info, log, warn } = console
  return { ...console, debug: print(debug), error: print(error), info: print(info), log: print(log), warn: print(warn) }
}

export const visibleConsole: Layer.Layer<never> = Layer.effect(Console.Console, Effect.map(Console.Console, visibly))
