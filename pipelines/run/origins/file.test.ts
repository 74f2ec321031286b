import { createHash } from "node:crypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { Archive } from "../archive/archive.ts"
import { FileUnusable, fileOrigin } from "./file.ts"
import { NotRecorded, Origin } from "./origin.ts"

const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "larder-file-" }))

layer(NodeServices.layer)("a local file, passed with --file", (it) => {
  it.effect("is archived under its file name, without its folder path", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const [folder, raw] = [yield* makeFolder, yield* makeFolder]
      yield* fs.writeFileString(`${folder}/my release.zip`, "PK")
      yield* fs.chmod(`${folder}/my release.zip`, 0o444)
      const archiving = Archive.layer({ folder: raw, run_id: "run-1", pipeline: "branded-foods", days: null })
      yield* Effect.gen(function* () {
        const origin = yield* Origin
        assert.strictEqual(origin.kind, "replay")
        assert.deepStrictEqual(yield* origin.list("file:"), ["file:my%20release.zip"])
        assert.deepStrictEqual(yield* origin.list("https:"), [])
        const archive = yield* Archive
        const fetched = yield* archive.fetch({ url: "file:my%20release.zip", accept: "*/*" })
        assert.strictEqual(yield* fs.readFileString(fetched.path), "PK")
        assert.strictEqual(fetched.sha256, createHash("sha256").update("PK").digest("hex"))
        assert.strictEqual(fetched.bytes, 2)
        assert.strictEqual((yield* fs.stat(fetched.path)).mode & 0o777, 0o644, "it is writable, like other payloads")
        const error = yield* Effect.flip(archive.fetch({ url: "file:other.zip", accept: "*/*" }))
        assert.instanceOf(error, NotRecorded)
        assert.notInclude(error.message, folder)
      }).pipe(Effect.provide([archiving, fileOrigin(`${folder}/my release.zip`)]))
      assert.notInclude(yield* fs.readFileString(`${raw}/fetches/run-1.ndjson`), folder)
    })
  )

  it.effect("may be a folder, whose .csv files are listed", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* makeFolder
      yield* fs.makeDirectory(`${folder}/rel`)
      for (const name of ["food.csv", "Nutrient.CSV", ".hidden.csv", "notes.txt"]) {
        yield* fs.writeFileString(`${folder}/rel/${name}`, name)
      }
      const listing = yield* Origin.use((origin) => origin.list("file:")).pipe(
        Effect.provide(fileOrigin(`${folder}/rel/`))
      )
      assert.deepStrictEqual(listing, ["file:rel/Nutrient.CSV", "file:rel/food.csv"])
    })
  )

  it.effect("names what may be meant if the folder is one level too high", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* makeFolder
      for (const name of ["csv", "docs"]) yield* fs.makeDirectory(`${folder}/downloads/${name}`, { recursive: true })
      for (const name of ["csv/food.csv", "docs/guide.txt", "labels.json", "usda.zip"]) {
        yield* fs.writeFileString(`${folder}/downloads/${name}`, "")
      }
      const error = yield* Effect.flip(Origin.pipe(Effect.provide(fileOrigin(`${folder}/downloads`))))
      assert.strictEqual(
        error.message,
        'downloads is not a release: the folder has no .csv file; give one of those in it: "csv", "labels.json", "usda.zip". --file takes a zip, a .json, or a folder with .csv files.'
      )
    })
  )

  it.effect.each([
    ["notes.txt", "notes.txt is not a release: the file type is not supported."],
    ["empty", "empty is not a release: the folder has no .csv file."],
    ["food.csv", "food.csv is not a release: the file type is not supported."]
  ] as const)("is rejected if it is not a release: %s", ([name, message]) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* makeFolder
      if (name === "empty") yield* fs.makeDirectory(`${folder}/empty`)
      else yield* fs.writeFileString(`${folder}/${name}`, "")
      const error = yield* Effect.flip(Origin.pipe(Effect.provide(fileOrigin(`${folder}/${name}`))))
      assert.instanceOf(error, FileUnusable)
      assert.strictEqual(error.message, `${message} --file takes a zip, a .json, or a folder with .csv files.`)
    })
  )
})
