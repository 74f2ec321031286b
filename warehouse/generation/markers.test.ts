import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { aLayout } from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect, FileSystem } from "effect"
import { isMarked, readMarker, writeMarker } from "./markers.ts"

describe("a marker", () => {
  itLive("states what was true when the work was done, and replaces what an earlier one stated", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* writeMarker(layout, "depot", { location: "s3://elsewhere", region: "x" })
      yield* writeMarker(layout, "depot", { location: "s3://bucket", number: "1" })
      assert.deepStrictEqual(yield* readMarker(layout, "depot"), { location: "s3://bucket", number: "1" })
      assert.isTrue(yield* isMarked(layout, "depot", { location: "s3://bucket" }))
      assert.isFalse(yield* isMarked(layout, "depot", { location: "s3://bucket", region: "x" }))
    })
  )
  itLive("states nothing if it is missing, damaged or in another format", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      assert.deepStrictEqual(yield* readMarker(layout, "depot"), {})
      yield* fs.makeDirectory(layout.markers, { recursive: true })
      for (const text of ["", '{"location":', "s3://bucket\n", "[]", '{"number":1}', "null"]) {
        yield* fs.writeFileString(`${layout.markers}/depot`, text)
        assert.deepStrictEqual(yield* readMarker(layout, "depot"), {}, text)
      }
    })
  )
  itLive("that cannot be written fails nothing", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      yield* fs.makeDirectory(layout.dir, { recursive: true })
      yield* fs.writeFileString(layout.markers, "a file in place of the folder")
      yield* writeMarker(layout, "depot", { location: "s3://bucket" })
      assert.isFalse(yield* isMarked(layout, "depot", { location: "s3://bucket" }))
    })
  )
})
