/** The warehouse of this machine, and the depot that it shares with others where LARDER_DEPOT names one. */
import { type Config, Context, Effect, Layer, Scope } from "effect"
import type { Depot } from "../depot/depot.ts"
import { layoutOf } from "./layout.ts"

/** Undefined where this machine publishes for itself. It is opened when it is needed first: most commands need none. */
export const SharedDepot = Context.Reference<Effect.Effect<Depot | undefined, Config.ConfigError>>(
  "larder/warehouse/SharedDepot",
  { defaultValue: () => Effect.succeed(undefined) }
)

/** The depot that LARDER_DEPOT names. */
export const sharedDepotFromSettings = Layer.effect(
  SharedDepot,
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const open = Effect.gen(function* () {
      const { configuredDepot } = yield* Effect.promise(() => import("../depot/setting.ts"))
      return yield* configuredDepot
    })
    return yield* Effect.cached(Scope.provide(open, scope))
  })
)

export const openLayout = Effect.fnUntraced(function* (home: string) {
  return yield* layoutOf(home, yield* yield* SharedDepot)
})
