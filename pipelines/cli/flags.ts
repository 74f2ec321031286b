/** Flags that several commands share, the error that ends a command, and the formats of numbers and times. */
import { dataSets } from "@larder/warehouse"
import { Console, Duration, Effect, References, Runtime, Schema } from "effect"
import { Flag } from "effect/cli"

export const dataSetNames = dataSets.map(({ about: { pipeline } }) => pipeline)

/** The name of a data set on the command line is the name of the pipeline that fills it. */
export const DataSetName = Schema.Literals(dataSetNames)

export const booleanFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

export const jsonFlag = (output = "one JSON object") => booleanFlag("json", `Print ${output} on stdout`)

export const quietFlag = booleanFlag(
  "quiet",
  "Print nothing on success, and only errors otherwise, as cron jobs should"
)

interface Printing {
  readonly json: boolean
  readonly quiet: boolean
}

/** With `quiet`, neither a result nor a warning is printed, but errors are, and the JSON of `json`. */
export const quietly = <A, E, R>(command: Effect.Effect<A, E, R>, { json, quiet }: Printing) => {
  if (!quiet) return command
  const silent = Console.consoleWith((console) =>
    Effect.provideService(command, Console.Console, json ? console : { ...console, log: () => undefined })
  )
  return Effect.provideService(silent, References.MinimumLogLevel, "Error")
}

export const storesFlag = Flag.File("stores", { mustExist: true }).pipe(
  Flag.withDescription("Read the stores of this JSON list instead of the one in LARDER_STORES"),
  Flag.optional
)

export const replayFlag = (description: string) =>
  Flag.Path("replay", { mustExist: true }).pipe(Flag.withDescription(description), Flag.optional)

const timePattern = /^([1-9]\d{0,5})([smh])$/
const TimeText = Schema.String.check(
  Schema.makeFilter((text) => timePattern.test(text) || "expected seconds, minutes or hours, such as 60s, 10m or 2h")
)
const millisecondsOf = new Map([
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000]
])

const parseTime = (text: string) => {
  const [, count, unit = ""] = timePattern.exec(text) ?? []
  return Duration.millis(Number(count) * (millisecondsOf.get(unit) ?? 0))
}

export const maxTimeFlag = Flag.String("max-time").pipe(
  Flag.withSchema(TimeText),
  Flag.withMetavar("TIME"),
  Flag.withDescription(
    "End all requests this long after the first, such as 60s, 10m or 2h, and publish what was read; exit code 4"
  ),
  Flag.map(parseTime),
  Flag.optional
)

/** Ends a command with this exit code. No caller handles it, so one class covers every problem. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  code: Schema.Int,
  problem: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = this.code
  override get message() {
    return this.problem
  }
}

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

export const formatUtcMinute = (iso: string) => `${iso.slice(0, 16).replace("T", " ")} UTC`

export const formatKibibytes = (bytes: number) => `${Math.ceil(bytes / 1024).toLocaleString("en-US")} KiB`
