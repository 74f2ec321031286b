/** `larder-ingest depot keys`: the key that signs what this machine publishes to a shared depot. */
import {
  encodePublicKey,
  ifMissing,
  KeyUnusable,
  keyFileIn,
  makeKeyPair,
  parsePrivateKey,
  writableDirectory
} from "@larder/warehouse"
import { Console, Effect, FileSystem } from "effect"
import { Command } from "effect/cli"
import { homeSetting } from "../run/run.ts"
import { jsonFlag } from "./flags.ts"

/** The public half of the key in a home. Creates a key if there is none. */
const publicKeyIn = Effect.fnUntraced(function* (home: string) {
  const fs = yield* FileSystem.FileSystem
  const file = keyFileIn(home)
  const unusable = (cause: unknown) => new KeyUnusable({ file, cause })
  const pem = yield* fs.readFileString(file).pipe(ifMissing<string | undefined>(undefined), Effect.mapError(unusable))
  if (pem !== undefined) {
    const publicKey = yield* Effect.try({ try: () => encodePublicKey(parsePrivateKey(pem)), catch: unusable })
    return { file, publicKey, isNew: false }
  }
  yield* writableDirectory(home)
  const made = makeKeyPair()
  yield* fs.writeFileString(file, made.privateKey, { flag: "wx", mode: 0o600 }).pipe(Effect.mapError(unusable))
  return { file, publicKey: made.publicKey, isNew: true }
})

const keys = Command.make(
  "keys",
  { json: jsonFlag() },
  Effect.fn(function* ({ json }) {
    const { file, isNew, publicKey } = yield* publicKeyIn(yield* homeSetting)
    if (json) return yield* Console.log(JSON.stringify({ public_key: publicKey, file, is_new: isNew }))
    yield* Console.log(
      [
        isNew
          ? `A new key is in ${file}: this machine now signs what it publishes. Keep a copy of the file in a safe place.`
          : `The key in ${file} signs what this machine publishes.`,
        "Set this on machines that must accept only what this key signs:",
        `LARDER_DEPOT_PUBLIC_KEY=${publicKey}`
      ].join("\n")
    )
  })
).pipe(Command.withDescription("Create the key that signs what this machine publishes, or show its public half"))

export const depot = Command.make("depot").pipe(
  Command.withDescription("Keys of the depot that machines share"),
  Command.withSubcommands([keys])
)
