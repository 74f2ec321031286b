/**
 * Escapes control characters in the output of both programs. Strings from payloads, store lists and other servers may
 * contain sequences that hide lines, change the title of a terminal or type into it. They are printed as `\u001b`, as in
 * JSON, so JSON stays valid. Output to pipes is escaped too, because a log may later be read on a terminal.
 */
import { formatWithOptions } from "node:util"
import { Console, Effect, Layer } from "effect"

const escapeCharacter = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** C0, DEL, C1 and the bidirectional controls, except line breaks and tabs. */
const controls = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

export const visible = (text: string): string => text.replace(controls, escapeCharacter)

/** For text that must stay on one line. */
export const visibleInLine = (text: string): string => visible(text).replace(/[\n\t]/g, escapeCharacter)

/** A console that prints only text, with control characters escaped. Colours are lost, because they are control characters. */
const makeVisible = (console: Console.Console): Console.Console => {
  const print =
    (write: (text: string) => void) =>
    (...args: ReadonlyArray<unknown>) =>
      write(visible(formatWithOptions({ colors: false }, ...args)))
  const { debug, error, info, log, warn } = console
  return { ...console, debug: print(debug), error: print(error), info: print(info), log: print(log), warn: print(warn) }
}

export const visibleConsole: Layer.Layer<never> = Layer.effect(
  Console.Console,
  Effect.map(Console.Console, makeVisible)
)
