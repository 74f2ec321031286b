/** Whether generations also go into a lake, and where readers find it. */
import path from "node:path"
import { Cause, Config, ConfigProvider, Effect, Option, Schema } from "effect"
import { causeText } from "../disk.ts"
import type { Layout } from "../generation/layout.ts"

const isLakeEnabled = Config.schema(Schema.Literals(["yes", "no"]), "LARDER_LAKE").pipe(
  Config.withDefault("no" as const),
  Config.map((value) => value === "yes")
)
const addressSetting = Config.option(Config.String("LARDER_LAKE_URL")).pipe(
  Config.map(Option.filter((text) => text !== ""))
)

/**
 * The address of the lake for its readers, without a trailing slash; undefined if no lake is configured. A run
 * validates this setting before it fetches anything.
 */
export const lakeSetting = Effect.fnUntraced(function* ({ depot }: Layout) {
  if (!(yield* isLakeEnabled)) return undefined
  const address = Option.getOrElse(yield* addressSetting, () => `${depot.location}/lake`).replace(/\/+$/, "")
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(address) || path.isAbsolute(address)) return address
  const message = `LARDER_LAKE_URL is ${address}: it must be the full address where readers find the lake, such as https://data.example.com/larder/lake, s3://bucket/larder/lake or /srv/larder/lake`
  return yield* Effect.fail(new Config.ConfigError(new ConfigProvider.SourceError({ message })))
})

/** Updates the lake after a publication, if one is configured. A failed update is logged: the publication stays valid. */
export const updateLakeIfEnabled = Effect.fnUntraced(function* (layout: Layout) {
  if ((yield* lakeSetting(layout)) === undefined) return
  const { updateLake } = yield* Effect.promise(() => import("./lake.ts")) // most warehouses have no lake
  yield* updateLake(layout).pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.logWarning(
            `the lake is not up to date, and the next run tries again: ${causeText(Cause.squash(cause))}`
          )
    )
  )
})
