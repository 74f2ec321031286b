/** The key of My Market News. */
import { Config, Option, Redacted } from "effect"

/** Whitespace around a key comes from copying it; an empty key counts as missing. */
export const marsKey = Config.option(Config.Redacted("MARS_API_KEY")).pipe(
  Config.map((key) => Option.getOrUndefined(key)),
  Config.map((key) => {
    const text = key === undefined ? "" : Redacted.value(key).trim()
    return text === "" ? undefined : Redacted.make(text)
  })
)
