/** The warehouse of this machine, and the depot that it shares with other machines if LARDER_DEPOT names one. */
import { join } from "node:path"
import { Config, ConfigProvider, Context, Effect, FileSystem, Layer, Option, Schema, Scope } from "effect"
import type { Depot } from "../depot/depot.ts"
import { ifMissing, layoutOf } from "./layout.ts"

/** Undefined if this machine publishes for itself. It is opened at its first use: most commands do not need it. */
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

/** The key with which a machine signs what it publishes. Only its user may read it. */
export const keyFileIn = (home: string) => join(home, "depot-key.pem")

/** The key file exists, but cannot be used. */
export class KeyUnusable extends Schema.TaggedError<KeyUnusable>()("KeyUnusable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The key ${this.file} cannot be used: ${reason}. Restore it, or remove it and make another one with: npx larder-ingest depot keys`
  }
}

const publicKeySetting = Config.option(Config.String("LARDER_DEPOT_PUBLIC_KEY")).pipe(
  Config.map(Option.filter((text) => text !== ""))
)

const wrongKey = Effect.fail(
  new Config.ConfigError(
    new ConfigProvider.SourceError({
      message:
        "LARDER_DEPOT_PUBLIC_KEY is not a public key: set it to the line that `npx larder-ingest depot keys` prints"
    })
  )
)

/** Signs what this machine puts, if it has a key. Accepts only signed manifests, if it was given a public key. */
const withKeys = Effect.fnUntraced(function* (depot: Depot, home: string) {
  const fs = yield* FileSystem.FileSystem
  const file = keyFileIn(home)
  const unusable = (cause: unknown) => new KeyUnusable({ file, cause })
  const pem = yield* fs.readFileString(file).pipe(ifMissing<string | undefined>(undefined), Effect.mapError(unusable))
  const publicKey = yield* publicKeySetting
  if (pem === undefined && Option.isNone(publicKey)) return depot
  const { privateKeyFrom, publicKeyFrom, signingDepot, trustedDepot } = yield* Effect.promise(
    () => import("../depot/signed.ts")
  )
  const signing =
    pem === undefined
      ? depot
      : signingDepot(depot, yield* Effect.try({ try: () => privateKeyFrom(pem), catch: unusable }))
  if (Option.isNone(publicKey)) return signing
  const key = yield* Effect.try({ try: () => publicKeyFrom(publicKey.value), catch: () => undefined }).pipe(
    Effect.catch(() => wrongKey)
  )
  return trustedDepot(signing, key)
})

export const openLayout = Effect.fnUntraced(function* (home: string) {
  const shared = yield* yield* SharedDepot
  return yield* layoutOf(home, shared === undefined ? undefined : yield* withKeys(shared, home))
})
