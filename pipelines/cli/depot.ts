/** `larder-ingest depot keys`: the key that signs what this machine publishes to a shared depot. */
import {
  encodePublicKey,
  ifMissing,
  KeyUnusable,
  keyFileIn,
  makeKeyPair,
  parsePrivateKey,
  requireWritableFolder
} from "@larder/warehouse"
import { Console, Effect, FileSystem } from "effect"
import { Command } from "effect/cli"
import { homeFolderSetting } from "../run/run.ts"
import { jsonFlag } from "./flags.ts"

/** Returns the public half of the key in a home. Creates a key if there is none. */
const findOrCreateKey = Effect.fnUntraced(function* (home: string) {
  const fs = yield* FileSystem.FileSystem
  const file = keyFileIn(home)
  const unusable = (cause: unknown) => new KeyUnusable({ file, cause })
  const pem = yield* fs.readFileString(file).pipe(ifMissing<string | undefined>(undefined), Effect.mapError(unusable))
  if (pem !== undefined) {
    const publicKey = yield* Effect.try({ try: () => encodePublicKey(parsePrivateKey(pem)), catch: unusable })
    return { file, publicKey, isNew: false }
  }
  yield* requireWritableFolder(home)
  const { privateKey, publicKey } = makeKeyPair()
  yield* fs.writeFileString(file, privateKey, { flag: "wx", mode: 0o600 }).pipe(Effect.mapError(unusable))
  return { file, publicKey, isNew: true }
})

const keys = Command.make(
  "keys",
  { json: jsonFlag() },
  Effect.fn(function* ({ json }) {
    const { file, isNew, publicKey } = yield* findOrCreateKey(yield* homeFolderSetting)
    if (json) return yield* Console.log(JSON.stringify({ public_key: publicKey, file, is_new: isNew }))
    const status = isNew
      ? `A new key is in ${file}: this machine now signs what it publishes. Keep a copy of the file in a safe place.`
      : `The key in ${file} signs what this machine publishes.`
    const advice = "Set this on machines that must accept only what this key signs:"
    yield* Console.log(`${status}\n${advice}\nLARDER_DEPOT_PUBLIC_KEY=${publicKey}`)
  })
).pipe(Command.withDescription("Create the key that signs what this machine publishes, or show its public half"))

export const depotCommand = Command.make("depot").pipe(
  Command.withDescription("Keys of the depot that machines share"),
  Command.withSubcommands([keys])
)
