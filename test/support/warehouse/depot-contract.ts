/** What every depot has to do, wherever it lies. */
import { createHash, randomUUID } from "node:crypto"
import { writeFile } from "node:fs/promises"
import path from "node:path"
import { assert } from "@effect/vitest"
import { type Depot, hintName, listObjectTimes, objectName, putObject } from "@larder/warehouse"
import { Effect, FileSystem, Option, type Scope, Stream } from "effect"
import { itLive } from "../it-live.ts"

const aFile = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const fs = yield* FileSystem.FileSystem
  const file = path.join(yield* fs.makeTempDirectoryScoped({ prefix: "larder-object-" }), "file")
  yield* Effect.promise(() => writeFile(file, bytes))
  return { file, object: { sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length } }
})

const textOf = (depot: Depot, name: string, from = 0) =>
  Effect.map(Stream.runCollect(depot.readBytes(name, from)), (chunks) => Buffer.concat([...chunks]).toString())
const bytesOf = (depot: Depot, sha256: string, from = 0) => textOf(depot, objectName(sha256), from)

/** Of the names that `list` gives: it may give the hint as well. */
const numbered = (names: ReadonlyArray<string>) => names.filter((name) => name !== hintName)

const everybody = { concurrency: "unbounded" } as const

type Needs = FileSystem.FileSystem | Scope.Scope

/** Where `filled` puts, `depot` reads: the same one, or another way to it that is for reading only. */
interface Readable {
  readonly filled: Depot
  readonly depot: Depot
}

/** What every depot gives to who reads it. */
export const isReadableDepot = (open: Effect.Effect<Readable, never, Needs>) => {
  const works = (name: string, test: (depots: Readable) => Effect.Effect<void, unknown, Needs>) =>
    itLive(name, () => Effect.flatMap(open, test))

  works("gives a text, and none where there is no such name", ({ depot, filled }) =>
    Effect.gen(function* () {
      yield* filled.putText("generations/000000001.json", `{ "by": "Zoë" }`)
      assert.deepStrictEqual(yield* depot.readText("generations/000000001.json"), Option.some(`{ "by": "Zoë" }`))
      assert.deepStrictEqual(yield* depot.readText("generations/000000002.json"), Option.none())
    })
  )
  works("gives the bytes of an object as often as they are read, and fails where there is none", ({ depot, filled }) =>
    Effect.gen(function* () {
      const { file, object } = yield* aFile(Buffer.from("some bytes"))
      yield* putObject(filled, object, file)
      const bytes = bytesOf(depot, object.sha256, 5)
      assert.deepStrictEqual([yield* bytes, yield* bytes], ["bytes", "bytes"])
      assert.strictEqual(yield* bytesOf(depot, object.sha256, 10), "")
      const missing = depot.readBytes(objectName("0".repeat(64)), 0) // nobody reads it yet, so nothing fails
      const error = yield* Effect.flip(Stream.runDrain(missing))
      assert.strictEqual(error._tag, "DepotUnusable")
    })
  )
  works("gives the last hint that was put", ({ depot, filled }) =>
    Effect.gen(function* () {
      for (const hint of ["old", "new"]) yield* filled.putHint(hintName, hint)
      assert.deepStrictEqual(yield* depot.readText(hintName), Option.some("new"))
    })
  )
  works("lists the newest name last, also where the hint is old, and nothing after it", ({ depot, filled }) =>
    Effect.gen(function* () {
      const names = [7, 8, 9].map((number) => `generations/${String(number).padStart(9, "0")}.json`)
      const [first = "", , newest = ""] = names
      yield* Effect.forEach(names, (name) => filled.putText(name, "{}"))
      yield* filled.putHint(hintName, JSON.stringify({ newest: first }))
      for (const after of [undefined, first]) {
        assert.strictEqual(numbered(yield* depot.list("generations/", after)).at(-1), newest)
      }
      assert.deepStrictEqual(numbered(yield* depot.list("generations/", newest)), [])
    })
  )
}

/** `open` opens the same depot again and again, as other programs would. */
export const isDepot = (open: Effect.Effect<Depot, never, Needs>) => {
  const works = (name: string, test: (depot: Depot) => Effect.Effect<void, unknown, Needs>) =>
    itLive(name, () => Effect.flatMap(open, test))

  isReadableDepot(Effect.map(open, (depot) => ({ filled: depot, depot })))

  works("keeps the text of the first, and lets the others know", (depot) =>
    Effect.gen(function* () {
      assert.isTrue(yield* depot.putText("generations/000000001.json", "first"))
      assert.isFalse(yield* depot.putText("generations/000000001.json", "second"))
      assert.deepStrictEqual(yield* depot.readText("generations/000000001.json"), Option.some("first"))
    })
  )
  works("gives the last hint that was put", (depot) =>
    Effect.gen(function* () {
      for (const hint of ["old", "new"]) yield* depot.putHint(hintName, hint)
      assert.deepStrictEqual(yield* depot.readText(hintName), Option.some("new"))
    })
  )
  works("has one winner of twenty who put the same name at once, and keeps the winner's text", (depot) =>
    Effect.gen(function* () {
      for (let round = 1; round <= 10; round++) {
        const name = `generations/${String(round).padStart(9, "0")}.json`
        const texts = Array.from({ length: 20 }, () => randomUUID())
        const won = yield* Effect.forEach(texts, (text) => depot.putText(name, text), everybody)
        assert.strictEqual(won.filter(Boolean).length, 1)
        assert.deepStrictEqual(yield* depot.readText(name), Option.some(texts[won.indexOf(true)] ?? ""))
      }
    })
  )
  works("keeps files under their SHA-256, once, however many put them at the same time", (depot) =>
    Effect.gen(function* () {
      const { file, object } = yield* aFile(Buffer.from("a part of a generation"))
      yield* Effect.forEach(Array.from({ length: 8 }), () => putObject(depot, object, file), everybody)
      assert.strictEqual(yield* bytesOf(depot, object.sha256), "a part of a generation")
      assert.strictEqual(yield* bytesOf(depot, object.sha256, 7), "of a generation".slice(0))
      assert.deepStrictEqual([...(yield* listObjectTimes(depot)).keys()], [object.sha256])
    })
  )
  works("replaces a file that readers of other programs open, and says when each file was put", (depot) =>
    Effect.gen(function* () {
      const name = "lake/larder.ducklake"
      for (const text of ["the first, which is longer", "the second"]) {
        const { file, object } = yield* aFile(Buffer.from(text))
        yield* depot.replaceFile(name, object, file)
        assert.strictEqual(yield* textOf(depot, name), text)
      }
      const { file, object } = yield* aFile(Buffer.from("rows"))
      yield* depot.putFile(`lake/data/commodity/price/${object.sha256}.parquet`, object, file)
      yield* depot.putFile(`lake/data/commodity/price/${object.sha256}.parquet`, object, file)
      const dated = yield* depot.listTimes("lake/")
      assert.deepStrictEqual([...dated.keys()].sort(), [`lake/data/commodity/price/${object.sha256}.parquet`, name])
      for (const put of dated.values()) assert.isAbove(put, Date.parse("2026-01-01"))
      assert.deepStrictEqual([...(yield* depot.listTimes("objects/")).keys()], [])
    })
  )
  works("lists names in their order, from a name on, and no unfinished ones", (depot) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* depot.list("generations/"), [])
      const names = [3, 1, 12, 2].map((number) => `generations/${String(number).padStart(9, "0")}.json`)
      yield* Effect.forEach(names, (name) => depot.putText(name, "{}"), everybody)
      assert.deepStrictEqual(yield* depot.list("generations/"), names.toSorted())
      assert.deepStrictEqual(yield* depot.list("generations/", "generations/000000002.json"), [
        "generations/000000003.json",
        "generations/000000012.json"
      ])
    })
  )
  works("removes what it is given, and does not fail on what is gone already", (depot) =>
    Effect.gen(function* () {
      const { file, object } = yield* aFile(Buffer.from("old"))
      yield* putObject(depot, object, file)
      yield* depot.putText("generations/000000001.json", "old")
      yield* depot.remove([objectName(object.sha256), "generations/000000001.json", "generations/000000007.json"])
      assert.strictEqual((yield* listObjectTimes(depot)).size, 0)
      assert.deepStrictEqual(yield* depot.list("generations/"), [])
      assert.isTrue(yield* depot.putText("generations/000000001.json", "new")) // numbers are never given again by Larder itself
    })
  )
}
