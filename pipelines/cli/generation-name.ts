/** The name of a generation on the command line. */
import { Schema } from "effect"
import { Flag } from "effect/cli"

const GenerationName = Schema.String.check(
  Schema.makeFilter((text) => /^(larder-)?\d{1,15}$/.test(text) || "expected a generation, such as 41 or larder-000041")
)

/** `--to N`: a number, or the id of a generation. */
export const generationFlag = (description: string) =>
  Flag.String("to").pipe(
    Flag.withSchema(GenerationName),
    Flag.withMetavar("N"),
    Flag.withDescription(description),
    Flag.map((name) => Number(name.replace(/^larder-/, ""))),
    Flag.optional
  )
