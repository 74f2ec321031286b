/** Opens the warehouse of this machine, with the depot that LARDER_DEPOT names and the keys for it. */
import { join } from "node:path"
import { Config, ConfigProvider, Context, Effect, FileSystem, Layer, Option, Schema, Scope } from "effect"
import type { Depot } from "../depot/depot.ts"
import { causeText } from "../disk.ts"
import { ifMissing, layoutOf } from "./layout.ts"

/** Undefined if no depot is shared. It is opened at its first use: most commands do not need it. */
export const SharedDepot = Context.Reference<Effect.Effect<Depot | undefined, Config.ConfigError>>(
  "larder/warehouse/SharedDepot",
  { defaultValue: () => Effect.succeed(undefined) }
)

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

/** The private key with which a machine signs what it publishes. Only its user may read it. */
export const keyFileIn = (home: string) => join(home, "depot-key.pem")

export class KeyUnusable extends Schema.TaggedError<KeyUnusable>()("KeyUnusable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The key ${this.file} cannot be used: ${causeText(this.cause)}. Restore it, or remove it and make another one with: npx larder-ingest depot keys`
  }
}

const publicKeySetting = Config.option(Config.String("LARDER_DEPOT_PUBLIC_KEY")).pipe(
  Config.map(Option.filter((text) => text !== ""))
)

const invalidKey = new Config.ConfigError(
  new ConfigProvider.SourceError({
    message:
      "LARDER_DEPOT_PUBLIC_KEY is not a public key: set it to the line that `npx larder-ingest depot keys` prints"
  })
)

/** If this machine has a key, it signs manifests. If it has a public key, it accepts only manifests signed with it. */
const withKeys = Effect.fnUntraced(function* (depot: Depot, home: string) {
  const fs = yield* FileSystem.FileSystem
  const file = keyFileIn(home)
  const unusable = (cause: unknown) => new KeyUnusable({ file, cause })
  const pem = yield* fs.readFileString(file).pipe(ifMissing<string | undefined>(undefined), Effect.mapError(unusable))
  const publicKey = yield* publicKeySetting
  if (pem === undefined && Option.isNone(publicKey)) return depot
  const { parsePrivateKey, parsePublicKey, signingDepot, trustedDepot } = yield* Effect.promise(
    () => import("../depot/signed.ts")
  )
  const signing =
    pem === undefined
      ? depot
      : signingDepot(depot, yield* Effect.try({ try: () => parsePrivateKey(pem), catch: unusable }))
  if (Option.isNone(publicKey)) return signing
  const key = yield* Effect.try({ try: () => parsePublicKey(publicKey.value), catch: () => invalidKey })
  return trustedDepot(signing, key)
})

export const openLayout = Effect.fnUntraced(function* (home: string) {
  const shared = yield* yield* SharedDepot
  return yield* layoutOf(home, shared === undefined ? undefined : yield* withKeys(shared, home))
})
