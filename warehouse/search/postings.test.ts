import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { aFolder } from "@larder/test/support/warehouse/food-files.ts"
import { Effect } from "effect"
import fc from "fast-check"
import { writeFile } from "./files.ts"
import { decodePostings, PostingsBuilder } from "./postings.ts"

const occurrence = fc.tuple(
  fc.oneof(fc.nat(5), fc.nat(3000)),
  fc.oneof(fc.nat(2), fc.constantFrom(0, 127, 128, 20_000))
)
const common = 900

describe("posting lists", () => {
  itLive(
    "contain the documents of each term that is not common, over many runs and with terms that first occur late",
    () =>
      Effect.gen(function* () {
        const expected = new Map<number, Array<number>>()
        const builder = new PostingsBuilder(common, 1, 4) // for one document, so that a run is about a thousand occurrences
        let doc = 0
        for (const [term, gap] of fc.sample(occurrence, { numRuns: 30_000, seed: 5 })) {
          doc += gap
          builder.add(term, doc)
          const docs = expected.get(term) ?? []
          if (docs.at(-1) !== doc) docs.push(doc)
          expected.set(term, docs)
        }
        const order = Uint32Array.from({ length: 3001 }, (_, i) => 3000 - i)
        const file = join(yield* aFolder, "postings")
        const written = writeFile(file, (writer) => {
          writer.write(Buffer.from("other contents of the file"))
          return builder.write(writer, order)
        })
        const bytes = readFileSync(file)
        let commonTerms = 0
        for (const [i, term] of order.entries()) {
          const docs = expected.get(term) ?? []
          const into = new Uint32Array(docs.length)
          const n = decodePostings(bytes, written.places[i] ?? 0, written.places[i + 1] ?? 0, into, 0)
          if (docs.length > common) commonTerms++
          else assert.strictEqual(written.docs[i], docs.length)
          assert.isAbove((written.docs[i] ?? 0) + 1, Math.min(docs.length, common + 1))
          assert.deepStrictEqual([...into.subarray(0, n)], docs.length > common ? [] : docs)
        }
        assert.strictEqual(commonTerms, 6)
      })
  )
})
