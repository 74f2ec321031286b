/** Tests that every kind of depot must pass. */
import { createHash, randomUUID } from "node:crypto"
import { writeFile } from "node:fs/promises"
import path from "node:path"
import { assert } from "@effect/vitest"
import { type Depot, hintName, listObjectTimes, objectName, putObject } from "@larder/warehouse/depot/depot.ts"
import { Effect, FileSystem, Option, type Scope, Stream } from "effect"
import { itLive } from "../it-live.ts"

const aFile = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const fs = yield* FileSystem.FileSystem
  const file = path.join(yield* fs.makeTempDirectoryScoped({ prefix: "larder-object-" }), "file")
  yield* Effect.promise(() => writeFile(file, bytes))
  return { file, object: { sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length } }
})

const readText = (depot: Depot, name: string, from = 0) =>
  Effect.map(Stream.runCollect(depot.readBytes(name, from)), (chunks) => Buffer.concat([...chunks]).toString())
const readObject = (depot: Depot, sha256: string, from = 0) => readText(depot, objectName(sha256), from)

/** Names from `list` without the hint, which may be among them. */
const removeHint = (names: ReadonlyArray<string>) => names.filter((name) => name !== hintName)

const unbounded = { concurrency: "unbounded" } as const

type Needs = FileSystem.FileSystem | Scope.Scope

/** `depot` reads what `filled` contains: it is the same depot, or read-only access to it. */
interface Readable {
  readonly filled: Depot
  readonly depot: Depot
}

/** Tests of reading. */
export const testReadableDepot = (open: Effect.Effect<Readable, never, Needs>) => {
  const testDepots = (name: string, test: (depots: Readable) => Effect.Effect<void, unknown, Needs>) =>
    itLive(name, () => Effect.flatMap(open, test))

  testDepots("returns a text, and none for an unknown name", ({ depot, filled }) =>
    Effect.gen(function* () {
      yield* filled.putText("generations/000000001.json", `{ "by": "Zoë" }`)
      assert.deepStrictEqual(yield* depot.readText("generations/000000001.json"), Option.some(`{ "by": "Zoë" }`))
      assert.deepStrictEqual(yield* depot.readText("generations/000000002.json"), Option.none())
    })
  )
  testDepots("returns the bytes of an object each time, and fails for an unknown object", ({ depot, filled }) =>
    Effect.gen(function* () {
      const { file, object } = yield* aFile(Buffer.from("some bytes"))
      yield* putObject(filled, object, file)
      const bytes = readObject(depot, object.sha256, 5)
      assert.deepStrictEqual([yield* bytes, yield* bytes], ["bytes", "bytes"])
      assert.strictEqual(yield* readObject(depot, object.sha256, 10), "")
      const missing = depot.readBytes(objectName("0".repeat(64)), 0) // a stream fails only when it is read
      const error = yield* Effect.flip(Stream.runDrain(missing))
      assert.strictEqual(error._tag, "DepotUnusable")
    })
  )
  testDepots("returns the last hint", ({ depot, filled }) =>
    Effect.gen(function* () {
      for (const hint of ["old", "new"]) yield* filled.putHint(hintName, hint)
      assert.deepStrictEqual(yield* depot.readText(hintName), Option.some("new"))
    })
  )
  testDepots("lists the newest name last, even if the hint is old, and nothing after it", ({ depot, filled }) =>
    Effect.gen(function* () {
      const names = [7, 8, 9].map((number) => `generations/${String(number).padStart(9, "0")}.json`)
      const [first = "", , newest = ""] = names
      yield* Effect.forEach(names, (name) => filled.putText(name, "{}"))
      yield* filled.putHint(hintName, JSON.stringify({ newest: first }))
      for (const after of [undefined, first]) {
        assert.strictEqual(removeHint(yield* depot.list("generations/", after)).at(-1), newest)
      }
      assert.deepStrictEqual(removeHint(yield* depot.list("generations/", newest)), [])
    })
  )
}

/** `open` opens the same depot each time, like another program. */
export const testDepot = (open: Effect.Effect<Depot, never, Needs>) => {
  const testDepots = (name: string, test: (depot: Depot) => Effect.Effect<void, unknown, Needs>) =>
    itLive(name, () => Effect.flatMap(open, test))

  testReadableDepot(Effect.map(open, (depot) => ({ filled: depot, depot })))

  testDepots("keeps the first text of a name, and returns false to later writers", (depot) =>
    Effect.gen(function* () {
      assert.isTrue(yield* depot.putText("generations/000000001.json", "first"))
      assert.isFalse(yield* depot.putText("generations/000000001.json", "second"))
      assert.deepStrictEqual(yield* depot.readText("generations/000000001.json"), Option.some("first"))
    })
  )
  testDepots("accepts one of twenty simultaneous texts of the same name, and keeps it", (depot) =>
    Effect.gen(function* () {
      for (let round = 1; round <= 10; round++) {
        const name = `generations/${String(round).padStart(9, "0")}.json`
        const texts = Array.from({ length: 20 }, () => randomUUID())
        const won = yield* Effect.forEach(texts, (text) => depot.putText(name, text), unbounded)
        assert.strictEqual(won.filter(Boolean).length, 1)
        assert.deepStrictEqual(yield* depot.readText(name), Option.some(texts[won.indexOf(true)] ?? ""))
      }
    })
  )
  testDepots("keeps a file under its SHA-256 once, even if eight writers put it at the same time", (depot) =>
    Effect.gen(function* () {
      const { file, object } = yield* aFile(Buffer.from("a part of a generation"))
      yield* Effect.forEach(Array.from({ length: 8 }), () => putObject(depot, object, file), unbounded)
      assert.strictEqual(yield* readObject(depot, object.sha256), "a part of a generation")
      assert.strictEqual(yield* readObject(depot, object.sha256, 7), "of a generation")
      assert.deepStrictEqual([...(yield* listObjectTimes(depot)).keys()], [object.sha256])
    })
  )
  testDepots("returns when each file was put", (depot) =>
    Effect.gen(function* () {
      const { file, object } = yield* aFile(Buffer.from("rows"))
      const name = `lake/data/commodity/price/${object.sha256}.parquet`
      yield* depot.putFile(name, object, file)
      yield* depot.putFile(name, object, file)
      const dated = yield* depot.listTimes("lake/")
      assert.deepStrictEqual([...dated.keys()], [name])
      for (const put of dated.values()) assert.isAbove(put, Date.parse("2026-01-01"))
      assert.deepStrictEqual([...(yield* depot.listTimes("objects/")).keys()], [])
    })
  )
  testDepots("lists names in order, after a given name, without unfinished ones", (depot) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* depot.list("generations/"), [])
      const names = [3, 1, 12, 2].map((number) => `generations/${String(number).padStart(9, "0")}.json`)
      yield* Effect.forEach(names, (name) => depot.putText(name, "{}"), unbounded)
      assert.deepStrictEqual(yield* depot.list("generations/"), names.toSorted())
      assert.deepStrictEqual(yield* depot.list("generations/", "generations/000000002.json"), [
        "generations/000000003.json",
        "generations/000000012.json"
      ])
    })
  )
  testDepots("removes objects and texts, and ignores those that are missing", (depot) =>
    Effect.gen(function* () {
      const { file, object } = yield* aFile(Buffer.from("old"))
      yield* putObject(depot, object, file)
      yield* depot.putText("generations/000000001.json", "old")
      yield* depot.remove([objectName(object.sha256), "generations/000000001.json", "generations/000000007.json"])
      assert.strictEqual((yield* listObjectTimes(depot)).size, 0)
      assert.deepStrictEqual(yield* depot.list("generations/"), [])
      assert.isTrue(yield* depot.putText("generations/000000001.json", "new")) // Larder itself never reuses a number
    })
  )
}
