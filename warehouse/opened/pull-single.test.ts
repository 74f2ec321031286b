/** A laptop that pulls one data set from a shared depot, which is a folder here. */
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { openAsAnalyst } from "@larder/test/support/warehouse/analyst.ts"
import {
  aLayout,
  apples,
  exampleIn,
  pears,
  publishRows,
  queryWarehouse
} from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect, Fiber, FileSystem } from "effect"
import { folderDepot } from "../depot/folder.ts"
import { makeKeyPair, parsePublicKey, trustedDepot } from "../depot/signed.ts"
import { type Layout, layoutOf } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import { catchUp, pull } from "../generation/pull.ts"
import { refreshOpened } from "./opened-files.ts"
import { pullSingle } from "./pull-single.ts"

const cellar = exampleIn("cellar")

const aFolder = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "larder-depot-" }))
const publishIn = Effect.fnUntraced(function* (
  folder: string,
  ...args: Parameters<typeof publishRows> extends [Layout, ...infer A] ? A : never
) {
  const machine = yield* layoutOf((yield* aLayout).home, folderDepot(folder))
  yield* pull(machine)
  yield* refreshOpened(machine)
  yield* publishRows(machine, ...args)
})

const original = oncePerFile(
  Effect.gen(function* () {
    const folder = yield* aFolder
    yield* publishIn(folder, { prices: [apples] })
    yield* publishIn(folder, { prices: [{ item: "wine" }] }, { target: cellar })
    return folder
  })
)
/** A depot with two generations, and a laptop that has none of them. */
const published = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* aFolder
  yield* fs.copy(yield* original, folder)
  return { folder, laptop: yield* layoutOf((yield* aLayout).home, folderDepot(folder)) }
})
const queryItems = (laptop: Layout, pipeline: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const db = yield* openAsAnalyst(laptop.dataSetFile(pipeline))
      return (yield* db.rows(`select item from ${pipeline}.price order by item`)).map(({ item }) => item)
    })
  )
const messageOf = <A, E extends { readonly message: string }, R>(failing: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(failing), (error) => error.message)

describe("a data set that is pulled alone", () => {
  itLive("is pulled without the others, and pulled again after it was published", () =>
    Effect.gen(function* () {
      const { folder, laptop } = yield* published
      assert.deepInclude(yield* pullSingle(laptop, "example"), { generation: 2 })
      assert.deepStrictEqual(yield* queryItems(laptop, "example"), ["apple"])
      assert.deepStrictEqual(
        readdirSync(laptop.dir).filter((name) => !name.startsWith(".")),
        ["alone", "example.duckdb"]
      )
      assert.deepStrictEqual(yield* pullSingle(laptop, "example"), { generation: 2, bytes: 0 })

      yield* publishIn(folder, { prices: [pears] })
      yield* pullSingle(laptop, "example")
      assert.deepStrictEqual(yield* queryItems(laptop, "example"), ["apple", "pear"])
      const aloneFolder = path.join(laptop.dir, "alone/example/warehouse")
      assert.deepStrictEqual(readdirSync(path.join(aloneFolder, "generations")), ["000000003.json"])
      const objects = readdirSync(path.join(aloneFolder, "objects"), { recursive: true, withFileTypes: true })
      assert.lengthOf(
        objects.filter((entry) => entry.isFile()),
        1
      )
      assert.deepInclude(yield* pullSingle(laptop, "cellar"), { generation: 3 })
      assert.deepStrictEqual(yield* queryItems(laptop, "cellar"), ["wine"])
    })
  )
  itLive("is pulled again if its file was changed", () =>
    Effect.gen(function* () {
      const { laptop } = yield* published
      yield* pullSingle(laptop, "example")
      const file = laptop.dataSetFile("example")
      chmodSync(file, 0o644)
      writeFileSync(file, "changed")
      yield* pullSingle(laptop, "example")
      assert.deepStrictEqual(yield* queryItems(laptop, "example"), ["apple"])
    })
  )
  itLive("never returns to an older generation than the laptop has had, or to another history", () =>
    Effect.gen(function* () {
      const { laptop } = yield* published
      yield* pullSingle(laptop, "example")
      const older = `${laptop.dir} already has larder-000002, and pulling never returns to an older generation. Pull larder-000001 into another folder, with LARDER_HOME.`
      assert.strictEqual(yield* messageOf(pullSingle(laptop, "example", 1)), older)
      assert.strictEqual(yield* messageOf(pullSingle(laptop, "cellar", 1)), older)
      assert.strictEqual(yield* messageOf(pull(laptop, "run", { to: 1 })), older)

      const other = yield* aFolder
      yield* publishIn(other, { prices: [pears] })
      const unrelated = yield* layoutOf(laptop.home, folderDepot(other))
      assert.include(
        yield* messageOf(pullSingle(unrelated, "example")),
        "is newer than larder-000001, the newest there"
      )
      yield* publishIn(other, { prices: [apples] })
      assert.include(
        yield* messageOf(pullSingle(unrelated, "example")),
        "larder-000002 of this machine is a different one"
      )
      assert.include(yield* messageOf(pull(unrelated)), "larder-000002 of this machine is a different one")
      const withoutGenerations = yield* layoutOf(laptop.home, folderDepot(yield* aFolder))
      assert.include(
        yield* messageOf(pull(withoutGenerations)),
        "larder-000002 of this machine is not there, and neither is any other"
      )
      assert.deepStrictEqual(yield* queryItems(laptop, "example"), ["apple"])
    })
  )
  itLive("is replaced by a complete generation, and is not pulled into a folder that has one", () =>
    Effect.gen(function* () {
      const { laptop } = yield* published
      yield* pullSingle(laptop, "example")
      yield* pull(laptop)
      yield* refreshOpened(laptop)
      assert.isFalse(existsSync(path.join(laptop.dir, "alone")))
      assert.deepStrictEqual(
        yield* queryWarehouse(laptop, "select item from example.price union from cellar.price select item order by 1"),
        [{ item: "apple" }, { item: "wine" }]
      )
      assert.strictEqual(
        yield* messageOf(pullSingle(laptop, "example")),
        `${laptop.dir} has complete generations, up to larder-000002. Pull without --only, or into another folder with LARDER_HOME.`
      )
    })
  )
  itLive("does not return to an older generation if another pull was faster", () =>
    Effect.gen(function* () {
      const { folder, laptop } = yield* published
      mkdirSync(laptop.dir)
      const pulls = yield* withLock(
        laptop.pullLock,
        Effect.gen(function* () {
          const older = [
            yield* Effect.forkChild(messageOf(pullSingle(laptop, "example", 1))),
            yield* Effect.forkChild(messageOf(pull(laptop, "run", { to: 1 })))
          ]
          yield* publishIn(folder, { prices: [pears] })
          yield* pullSingle({ ...laptop, pullLock: `${laptop.pullLock}.other` }, "example")
          return older
        })
      )
      for (const refused of pulls) {
        assert.include(yield* Fiber.join(refused), "already has larder-000003, and pulling never returns")
      }
      assert.deepStrictEqual(yield* queryItems(laptop, "example"), ["apple", "pear"])
    })
  )
  itLive("removes the files of an interrupted pull, and ignores unrelated files", () =>
    Effect.gen(function* () {
      const { laptop } = yield* published
      const aloneFolder = path.join(laptop.dir, "alone/example/warehouse")
      mkdirSync(path.join(aloneFolder, "incoming"), { recursive: true })
      writeFileSync(path.join(aloneFolder, "incoming", "0".repeat(64)), "half")
      writeFileSync(path.join(laptop.dir, "alone/.DS_Store"), "of a desktop")
      yield* pullSingle(laptop, "example")
      assert.deepStrictEqual(readdirSync(aloneFolder).sort(), ["generations", "objects", "seen"])
      const bytes = yield* Effect.map(pull(laptop), (pulled) => pulled?.bytes ?? 0)
      assert.isBelow(
        bytes,
        1.5 * statSync(laptop.dataSetFile("example")).size,
        "a part that this machine has is not transferred again"
      )
      assert.isFalse(existsSync(path.join(laptop.dir, "alone")))
    })
  )
  itLive("is not mixed with what a machine without a shared depot publishes", () =>
    Effect.gen(function* () {
      const { laptop } = yield* published
      yield* pullSingle(laptop, "example")
      assert.strictEqual(
        yield* messageOf(catchUp(yield* layoutOf(laptop.home))),
        `${laptop.dir} contains a data set of generation larder-000002 that was pulled on its own from a depot. Nothing was changed. Set LARDER_DEPOT, or set LARDER_HOME to another folder.`
      )
    })
  )
  itLive("is accepted only if its generation is signed with the given key", () =>
    Effect.gen(function* () {
      const { folder, laptop } = yield* published
      const { publicKey } = makeKeyPair()
      const trustingLayout = yield* layoutOf(laptop.home, trustedDepot(folderDepot(folder), parsePublicKey(publicKey)))
      assert.include(yield* messageOf(pullSingle(trustingLayout, "example")), "it has no signature. It was not used.")
      assert.isFalse(existsSync(laptop.dataSetFile("example")))
    })
  )
  itLive("fails if the generation does not have it", () =>
    Effect.gen(function* () {
      const { folder, laptop } = yield* published
      assert.strictEqual(
        yield* messageOf(pullSingle(laptop, "cellar", 1)),
        `There is no cellar of larder-000001 in ${folder}. There is: example.`
      )
      assert.isUndefined(yield* pullSingle(yield* layoutOf(laptop.home, folderDepot(yield* aFolder)), "example"))
    })
  )
})
