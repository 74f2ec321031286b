/** The depot that several machines share, as LARDER_DEPOT names it. */
import { type Config, Context, Effect, Layer, Scope } from "effect"
import type { Depot } from "./depot.ts"
import { withKeys } from "./keys.ts"

/** Undefined if no depot is shared. It is opened at its first use: most commands do not need it. */
const SharedDepot = Context.Reference<Effect.Effect<Depot | undefined, Config.ConfigError>>(
  "larder/warehouse/SharedDepot",
  { defaultValue: () => Effect.succeed(undefined) }
)

export const sharedDepotFromSettings = Layer.effect(
  SharedDepot,
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const open = Effect.gen(function* () {
      const { configuredDepot } = yield* Effect.promise(() => import("./setting.ts"))
      return yield* configuredDepot
    })
    return yield* Effect.cached(Scope.provide(open, scope))
  })
)

/** The shared depot with the keys of this home; undefined if no depot is shared. */
export const openSharedDepot = Effect.fnUntraced(function* (home: string) {
  const depot = yield* yield* SharedDepot
  return depot === undefined ? undefined : yield* withKeys(depot, home)
})
