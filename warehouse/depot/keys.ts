/**
 * The keys of this machine for a shared depot: a private key with which it signs the manifests that it publishes, and
 * the publisher's public key, in LARDER_DEPOT_PUBLIC_KEY, without whose signature it accepts no manifest.
 */
import { join } from "node:path"
import { Config, ConfigProvider, Effect, FileSystem, Option, Schema } from "effect"
import { causeText, ifMissing } from "../disk.ts"
import type { Depot } from "./depot.ts"
import { parsePrivateKey, parsePublicKey, signingDepot, trustedDepot } from "./signed.ts"

/** The private key. Only its user may read it. */
export const keyFileIn = (home: string) => join(home, "depot-key.pem")

export class KeyUnusable extends Schema.TaggedError<KeyUnusable>()("KeyUnusable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The key ${this.file} cannot be used: ${causeText(this.cause)}. Restore it, or remove it and make another one with: npx larder-ingest depot keys`
  }
}

/** Signs what is stored in a depot, if there is a private key in this home. */
const withPrivateKey = Effect.fnUntraced(function* (depot: Depot, home: string) {
  const fs = yield* FileSystem.FileSystem
  const file = keyFileIn(home)
  const unusable = (cause: unknown) => new KeyUnusable({ file, cause })
  const pem = yield* fs.readFileString(file).pipe(ifMissing<string | undefined>(undefined), Effect.mapError(unusable))
  if (pem === undefined) return depot
  return signingDepot(depot, yield* Effect.try({ try: () => parsePrivateKey(pem), catch: unusable }))
})

const publicKeySetting = Config.option(Config.String("LARDER_DEPOT_PUBLIC_KEY")).pipe(
  Config.map(Option.filter((text) => text !== ""))
)

const invalidKey = new Config.ConfigError(
  new ConfigProvider.SourceError({
    message:
      "LARDER_DEPOT_PUBLIC_KEY is not a public key: set it to the line that `npx larder-ingest depot keys` prints"
  })
)

/** Accepts only signed manifests from a depot, if there is a public key. */
const withPublicKey = Effect.fnUntraced(function* (depot: Depot) {
  const setting = yield* publicKeySetting
  if (Option.isNone(setting)) return depot
  const key = yield* Effect.try({ try: () => parsePublicKey(setting.value), catch: () => invalidKey })
  return trustedDepot(depot, key)
})

export const withKeys = (depot: Depot, home: string) => Effect.flatMap(withPrivateKey(depot, home), withPublicKey)
