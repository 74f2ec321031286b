/** Unpacks a zip with Node's zlib, including checksums, and discards the output: for systems without `unzip`. */
import { openZip } from "@larder/pipelines/branded-foods/source/zip.ts"
import { Effect } from "effect"

const { zip } = JSON.parse(process.argv[2] ?? "{}") as { readonly zip: string }
const unpack = Effect.gen(function* () {
  const { bytes, members } = yield* openZip(zip, zip)
  for (const member of members) {
    yield* Effect.promise(async () => {
      for await (const _ of bytes(member));
    })
  }
})
await Effect.runPromise(Effect.scoped(unpack))
