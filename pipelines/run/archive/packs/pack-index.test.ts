import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { assignUrls, packRun, sha256Of } from "@larder/test/support/pipelines/raw-archive.ts"
import { Effect, FileSystem } from "effect"
import { type IndexUse, openPackIndex } from "./pack-index.ts"

const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  fs.makeTempDirectoryScoped({ prefix: "larder-packs-" })
)
const [firstHash, secondHash] = ["one", "two"].map(sha256Of) as [string, string]

/** An archive with a pack for each of two runs. */
const archived = Effect.gen(function* () {
  const folder = yield* makeFolder
  yield* packRun(folder, "run-1", assignUrls(["one"]))
  yield* packRun(folder, "run-2", assignUrls(["two"]))
  return { folder: `${folder}/packs`, file: `${folder}/packs/index.sqlite` }
})

const packsOf = (folder: string, use: IndexUse, sha256: string) =>
  Effect.scoped(Effect.flatMap(openPackIndex(folder, use), (index) => index.packsOf(sha256)))

const uses = ["write", "read", "scan"] as const

layer(NodeServices.layer, { excludeTestServices: true })("the index of packs", (it) => {
  it.effect.each(uses)("finds the pack of a payload (%s)", (use) =>
    Effect.gen(function* () {
      const { folder } = yield* archived
      assert.deepStrictEqual(yield* packsOf(folder, use, firstHash), ["run-1.zip"])
      assert.deepStrictEqual(yield* packsOf(folder, use, sha256Of("three")), [])
    })
  )

  it.effect("lists the newest pack first if several contain a payload", () =>
    Effect.gen(function* () {
      const { folder } = yield* archived
      const fs = yield* FileSystem.FileSystem
      yield* fs.copyFile(`${folder}/run-1.zip`, `${folder}/run-3.zip`)
      for (const use of uses) assert.deepStrictEqual(yield* packsOf(folder, use, firstHash), ["run-3.zip", "run-1.zip"])
    })
  )

  it.effect.each(uses)("finds all packs if its file is missing (%s)", (use) =>
    Effect.gen(function* () {
      const { file, folder } = yield* archived
      const fs = yield* FileSystem.FileSystem
      yield* fs.remove(file)
      assert.deepStrictEqual(yield* packsOf(folder, use, secondHash), ["run-2.zip"])
      assert.strictEqual(yield* fs.exists(file), use === "write")
    })
  )

  it.effect.each(uses)("finds all packs if its file is not a database (%s)", (use) =>
    Effect.gen(function* () {
      const { file, folder } = yield* archived
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(file, "no database ".repeat(1000))
      assert.deepStrictEqual(yield* packsOf(folder, use, secondHash), ["run-2.zip"])
      assert.strictEqual((yield* fs.readFileString(file)).startsWith("SQLite"), use === "write")
    })
  )

  it.effect.each(uses)("finds all packs if pages of its file are damaged (%s)", (use) =>
    Effect.gen(function* () {
      const { file, folder } = yield* archived
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFile(file, (yield* fs.readFile(file)).fill(0xff, 4096))
      for (const _ of ["found damaged", "as it is now"]) {
        assert.deepStrictEqual(yield* packsOf(folder, use, firstHash), ["run-1.zip"])
      }
    })
  )

  it.effect("adds packs that it does not list, and removes those that are missing", () =>
    Effect.gen(function* () {
      const { folder } = yield* archived
      const fs = yield* FileSystem.FileSystem
      yield* fs.rename(`${folder}/run-2.zip`, `${folder}/run-5.zip`)
      for (const use of ["read", "write"] as const) assert.include(yield* packsOf(folder, use, secondHash), "run-5.zip")
      assert.deepStrictEqual(yield* packsOf(folder, "write", secondHash), ["run-5.zip"])
    })
  )

  it.effect("leaves out a pack that is not a zip, and finds the others", () =>
    Effect.gen(function* () {
      const { file, folder } = yield* archived
      const fs = yield* FileSystem.FileSystem
      yield* fs.remove(file)
      yield* fs.writeFileString(`${folder}/run-2.zip`, "no zip")
      assert.deepStrictEqual(yield* packsOf(folder, "write", firstHash), ["run-1.zip"])
      assert.deepStrictEqual(yield* packsOf(folder, "write", secondHash), [])
    })
  )

  it.effect("does not open packs that it lists", () =>
    Effect.gen(function* () {
      const { folder } = yield* archived
      const fs = yield* FileSystem.FileSystem
      for (const pack of ["run-1.zip", "run-2.zip"]) yield* fs.writeFileString(`${folder}/${pack}`, "no zip")
      assert.deepStrictEqual(yield* packsOf(folder, "write", firstHash), ["run-1.zip"])
    })
  )
})
