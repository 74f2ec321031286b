/** Whether generations also go into a lake, and where readers find it. */
import path from "node:path"
import { Config, ConfigProvider, Effect, Option, Schema } from "effect"
import type { Layout } from "../generation/layout.ts"

const isWanted = Config.schema(Schema.Literals(["yes", "no"]), "LARDER_LAKE").pipe(
  Config.withDefault("no" as const),
  Config.map((answer) => answer === "yes")
)
const address = Config.option(Config.String("LARDER_LAKE_URL")).pipe(Config.map(Option.filter((text) => text !== "")))

const wrong = (text: string) =>
  Effect.fail(
    new Config.ConfigError(
      new ConfigProvider.SourceError({
        message: `LARDER_LAKE_URL is ${text}: it must be the full address at which readers find the lake, such as https://data.example.com/larder/lake, s3://bucket/larder/lake or /srv/larder/lake`
      })
    )
  )

/**
 * The address of the lake for its readers, without a trailing slash; undefined if no lake is configured. A run checks
 * it before it fetches anything.
 */
export const lakeSetting = Effect.fnUntraced(function* ({ depot }: Layout) {
  if (!(yield* isWanted)) return undefined
  const given = yield* address
  const text = Option.getOrElse(given, () => `${depot.location}/lake`).replace(/\/+$/, "")
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(text) || path.isAbsolute(text) ? text : yield* wrong(text)
})
