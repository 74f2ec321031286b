import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { Effect, FileSystem, Option } from "effect"
import { folderDepot } from "./folder.ts"
import { encodePublicKey, makeKeyPair, parsePrivateKey, parsePublicKey, signingDepot, trustedDepot } from "./signed.ts"

const name = "generations/000000001.json"
const text = `{"number":1,"note":"},\\"signature\\":\\"no\\"}"}`
const aDepot = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "larder-depot-" })).pipe(
  Effect.map(folderDepot)
)

describe("a depot with signatures", () => {
  itLive("returns a manifest that is signed with the key: the same JSON with one more field", () =>
    Effect.gen(function* () {
      const { privateKey, publicKey } = makeKeyPair()
      assert.strictEqual(encodePublicKey(parsePrivateKey(privateKey)), publicKey)
      const depot = yield* aDepot
      assert.isTrue(yield* signingDepot(depot, parsePrivateKey(privateKey)).putText(name, text))
      const stored = Option.getOrThrow(yield* trustedDepot(depot, parsePublicKey(publicKey)).readText(name))
      const { signature, ...rest } = JSON.parse(stored)
      assert.lengthOf(signature, 88)
      assert.deepStrictEqual(rest, JSON.parse(text))
    })
  )
  itLive("rejects a manifest that is unsigned, signed with another key, or changed afterwards", () =>
    Effect.gen(function* () {
      const [ours, theirs] = [makeKeyPair(), makeKeyPair()]
      const depot = yield* aDepot
      const trusted = trustedDepot(depot, parsePublicKey(ours.publicKey))
      const names = [1, 2, 3].map((number) => `generations/00000000${number}.json`) as [string, string, string]
      yield* depot.putText(names[0], text)
      yield* signingDepot(depot, parsePrivateKey(theirs.privateKey)).putText(names[1], text)
      const otherDepot = yield* aDepot
      yield* signingDepot(otherDepot, parsePrivateKey(ours.privateKey)).putText(name, text)
      const changed = Option.getOrThrow(yield* otherDepot.readText(name)).replace('"number":1', '"number":3')
      yield* depot.putText(names[2], changed)
      const faults = yield* Effect.forEach(names, (name) => Effect.flip(trusted.readText(name)))
      assert.match(
        faults[0]?.message ?? "",
        /^Cannot trust generations\/000000001\.json in .*: it has no signature\. It was not used\./
      )
      for (const fault of faults.slice(1)) {
        assert.match(
          fault.message,
          /: its signature was not made with the key in LARDER_DEPOT_PUBLIC_KEY, or it was changed afterwards\./
        )
      }
    })
  )
  itLive("rejects a key in another format", () =>
    Effect.sync(() => {
      assert.throws(() => parsePublicKey("AAAA"))
      assert.throws(() => parsePrivateKey("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"))
    })
  )
})
