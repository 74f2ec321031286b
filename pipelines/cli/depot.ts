/** `larder-ingest depot keys`: the key that signs what this machine publishes to a shared depot. */
import { newKey, privateKeyFrom, publicHalfOf } from "@larder/warehouse/depot/signed.ts"
import { ifMissing, writableDirectory } from "@larder/warehouse/generation/layout.ts"
import { KeyUnusable, keyFileIn } from "@larder/warehouse/generation/open-layout.ts"
import { Console, Effect, FileSystem } from "effect"
import { Command, Flag } from "effect/cli"
import { homeSetting } from "../run/run.ts"

/** The public half of the key in a home. Creates a key if there is none. */
const publicKeyIn = Effect.fnUntraced(function* (home: string) {
  const fs = yield* FileSystem.FileSystem
  const file = keyFileIn(home)
  const unusable = (cause: unknown) => new KeyUnusable({ file, cause })
  const pem = yield* fs.readFileString(file).pipe(ifMissing<string | undefined>(undefined), Effect.mapError(unusable))
  if (pem !== undefined) {
    const publicKey = yield* Effect.try({ try: () => publicHalfOf(privateKeyFrom(pem)), catch: unusable })
    return { file, publicKey, isNew: false }
  }
  yield* writableDirectory(home)
  const made = newKey()
  yield* fs.writeFileString(file, made.privateKey, { flag: "wx", mode: 0o600 }).pipe(Effect.mapError(unusable))
  return { file, publicKey: made.publicKey, isNew: true }
})

const keys = Command.make(
  "keys",
  { json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON object on stdout"), Flag.withDefault(false)) },
  Effect.fn(function* ({ json }) {
    const { file, isNew, publicKey } = yield* publicKeyIn(yield* homeSetting)
    if (json) return yield* Console.log(JSON.stringify({ public_key: publicKey, file, is_new: isNew }))
    yield* Console.log(
      [
        isNew
          ? `A new key is in ${file}: from now on this machine signs what it publishes. Keep a copy of the file in a safe place.`
          : `The key in ${file} signs what this machine publishes.`,
        "Machines that are to take nothing else get this line:",
        `LARDER_DEPOT_PUBLIC_KEY=${publicKey}`
      ].join("\n")
    )
  })
).pipe(Command.withDescription("Make the key that signs what this machine publishes, or show its public half"))

export const depot = Command.make("depot").pipe(
  Command.withDescription("Keys of the depot that machines share"),
  Command.withSubcommands([keys])
)
