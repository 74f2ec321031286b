/** Machines that share a depot. Each has its own home; the depot is a folder, which is as strict as an object store. */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import {
  aLayout,
  apples,
  exampleIn,
  pears,
  publishRows,
  queryWarehouse
} from "@larder/test/support/warehouse/example-data-set.ts"
import { requireNewest } from "@larder/test/support/warehouse/require-newest.ts"
import { Effect, Fiber, FileSystem, Option, Stream } from "effect"
import { type Depot, objectName, putObject } from "../depot/depot.ts"
import { folderDepot } from "../depot/folder.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { rollback } from "../publishing/rollback.ts"
import { type Layout, layoutOf } from "./layout.ts"
import { withLock } from "./lock.ts"
import { type DataSetEntry, listNumbers, type Manifest, makeGeneration } from "./manifest.ts"
import { identifyFile } from "./parts.ts"
import { pull } from "./pull.ts"

const cellar = exampleIn("cellar")

const aFolder = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "larder-depot-" }))

/** A depot that counts the bytes of objects that are read from it. */
const depotIn = (folder: string) => {
  const stored = folderDepot(folder)
  let bytes = 0
  const depot: Depot = {
    ...stored,
    readBytes: (name, from) =>
      Stream.tap(stored.readBytes(name, from), (chunk) =>
        Effect.sync(() => {
          bytes += chunk.length
        })
      )
  }
  /** Returns the number of bytes since the last call. */
  const takeReceivedBytes = () => {
    const before = bytes
    bytes = 0
    return before
  }
  return { folder, depot, takeReceivedBytes }
}
const aDepot = Effect.map(aFolder, depotIn)
const aMachine = (depot: Depot) => Effect.flatMap(aLayout, ({ home }) => layoutOf(home, depot))

const publishOn = (machine: Layout, ...args: Parameters<typeof publishRows> extends [Layout, ...infer A] ? A : never) =>
  pull(machine).pipe(Effect.andThen(refreshOpened(machine)), Effect.andThen(publishRows(machine, ...args)))
/** What a server does. */
const follow = (machine: Layout) => Effect.tap(pull(machine), () => refreshOpened(machine))
const queryItems = (machine: Layout, from: string) =>
  Effect.map(queryWarehouse(machine, `select item from ${from} order by item`), (rows) => rows.map(({ item }) => item))
const sizeOf = (machine: Layout, pipeline: string) =>
  Effect.map(requireNewest(machine.local), ({ data_sets }) =>
    (data_sets[pipeline]?.parts ?? []).reduce((sum, { bytes }) => sum + bytes, 0)
  )

describe("machines that share a depot", () => {
  itLive("get what the others published, and transfer only new parts", () =>
    Effect.gen(function* () {
      const { depot, takeReceivedBytes } = yield* aDepot
      const [first, second, server] = [yield* aMachine(depot), yield* aMachine(depot), yield* aMachine(depot)]
      yield* publishOn(first, { prices: [apples], rejects: ["is not a price"] })
      yield* publishOn(second, { prices: [{ item: "wine" }] }, { target: cellar })
      takeReceivedBytes()
      assert.deepInclude(yield* follow(server), { generation: 2 })
      assert.isAbove(takeReceivedBytes(), (yield* sizeOf(server, "example")) + (yield* sizeOf(server, "cellar")))
      assert.deepStrictEqual(yield* queryItems(server, "example.price"), ["apple"])
      assert.deepStrictEqual(yield* queryItems(server, "cellar.price"), ["wine"])
      assert.lengthOf(yield* queryWarehouse(server, "from ingest.run"), 2)
      assert.lengthOf(yield* queryWarehouse(server, "from ingest.reject"), 1)
      assert.isUndefined(yield* follow(server))

      yield* publishOn(first, { prices: [pears] })
      takeReceivedBytes()
      yield* follow(server)
      assert.isBelow(takeReceivedBytes(), (yield* sizeOf(server, "example")) + 10_000)
      assert.deepStrictEqual(yield* queryItems(server, "example.price"), ["apple", "pear"])
      assert.deepStrictEqual(yield* listNumbers(server.local), [2, 3], "the first is not needed")
    })
  )
  itLive("build on the data that another machine published to the same data set, even if two publish at once", () =>
    Effect.gen(function* () {
      const { depot } = yield* aDepot
      const [first, second] = [yield* aMachine(depot), yield* aMachine(depot)]
      yield* publishOn(first, { prices: [apples] })
      yield* publishOn(second, { prices: [pears] })
      const published = yield* Effect.all(
        [
          publishOn(first, { prices: [{ item: "fig" }] }),
          publishOn(second, { prices: [{ item: "plum" }] }, { target: cellar })
        ],
        { concurrency: 2 }
      )
      assert.deepStrictEqual(published.map(({ run }) => run.generation).sort(), ["larder-000003", "larder-000004"])
      for (const machine of [first, second]) {
        yield* follow(machine)
        assert.deepStrictEqual(yield* queryItems(machine, "example.price"), ["apple", "fig", "pear"])
        assert.deepStrictEqual(yield* queryItems(machine, "cellar.price"), ["plum"])
        assert.lengthOf(yield* queryWarehouse(machine, "from ingest.run"), 4)
      }
    })
  )
  itLive("roll back to a generation whose parts they do not have, and the others follow", () =>
    Effect.gen(function* () {
      const { depot } = yield* aDepot
      const [first, second] = [yield* aMachine(depot), yield* aMachine(depot)]
      yield* publishOn(first, { prices: [apples] })
      yield* publishOn(first, { prices: [pears] })
      const options = { to: Option.some(1), only: Option.none(), note: Option.none() }
      assert.strictEqual((yield* rollback(second, options)).generation, "larder-000003")
      assert.deepStrictEqual(yield* queryItems(second, "example.price"), ["apple"])
      yield* follow(first)
      assert.deepStrictEqual(yield* queryItems(first, "example.price"), ["apple"])
    })
  )
  itLive("pull a requested generation, and reject an older one afterwards", () =>
    Effect.gen(function* () {
      const { depot } = yield* aDepot
      const [publisher, laptop] = [yield* aMachine(depot), yield* aMachine(depot)]
      for (const item of ["fig", "plum", "pear"]) yield* publishOn(publisher, { prices: [{ item }] })
      const pullTo = (to: number) => pull(laptop, "run", { to }).pipe(Effect.tap(() => refreshOpened(laptop)))
      assert.deepInclude(yield* pullTo(2), { generation: 2 })
      assert.deepStrictEqual(yield* queryItems(laptop, "example.price"), ["fig", "plum"])
      assert.strictEqual(
        (yield* Effect.flip(pullTo(1))).message,
        `${laptop.dir} already has larder-000002, and pulling never returns to an older generation. Pull larder-000001 into another folder, with LARDER_HOME.`
      )
      assert.strictEqual(
        (yield* Effect.flip(pullTo(7))).message,
        `There is no larder-000007 in ${depot.location}. There is: larder-000001, larder-000002, larder-000003.`
      )
      yield* follow(laptop)
      assert.deepStrictEqual(yield* queryItems(laptop, "example.price"), ["fig", "pear", "plum"])
    })
  )
  itLive("do not return to an older generation if another pull on the machine was faster", () =>
    Effect.gen(function* () {
      const { depot } = yield* aDepot
      const [publisher, laptop] = [yield* aMachine(depot), yield* aMachine(depot)]
      for (const item of ["fig", "plum"]) yield* publishOn(publisher, { prices: [{ item }] })
      mkdirSync(laptop.dir)
      const waiting = yield* withLock(
        laptop.pullLock,
        Effect.gen(function* () {
          const older = yield* Effect.forkChild(Effect.flip(pull(laptop, "run", { to: 1 })))
          yield* pull({ ...laptop, pullLock: `${laptop.pullLock}.other` })
          return older
        })
      )
      const { message } = yield* Fiber.join(waiting)
      assert.include(message, "already has larder-000002, and pulling never returns")
    })
  )
  itLive("get the generations that a machine had before it shared an empty depot", () =>
    Effect.gen(function* () {
      const { depot } = yield* aDepot
      const unshared = yield* aLayout
      yield* publishRows(unshared, { prices: [apples] })
      yield* publishRows(unshared, { prices: [pears] })
      const sharing = yield* layoutOf(unshared.home, depot)
      yield* publishOn(sharing, { prices: [{ item: "fig" }] })
      const other = yield* aMachine(depot)
      yield* follow(other)
      assert.deepStrictEqual(yield* queryItems(other, "example.price"), ["apple", "fig", "pear"])
      assert.deepStrictEqual(yield* listNumbers(depot), [1, 2, 3])
    })
  )
})

describe("a pull", () => {
  const original = oncePerFile(
    Effect.tap(aDepot, ({ depot }) =>
      Effect.flatMap(aMachine(depot), (machine) => publishOn(machine, { prices: [apples] }))
    )
  )
  /** A depot with one generation. */
  const published = Effect.gen(function* () {
    const folder = yield* aFolder
    cpSync((yield* original).folder, folder, { recursive: true })
    const counting = depotIn(folder)
    const { data_sets } = yield* requireNewest(counting.depot)
    const [part] = data_sets.example?.parts ?? []
    return { ...counting, part: part as NonNullable<typeof part> }
  })
  itLive("resumes where an earlier one was interrupted", () =>
    Effect.gen(function* () {
      const { depot, part, takeReceivedBytes } = yield* published
      const server = yield* aMachine(depot)
      const truncating: Depot = { ...depot, readBytes: (name, from) => Stream.take(depot.readBytes(name, from), 1) }
      const interrupted = yield* layoutOf(server.home, {
        ...truncating,
        readBytes: (name, from) =>
          Stream.concat(
            Stream.map(truncating.readBytes(name, from), (chunk) => chunk.subarray(0, 1000)),
            depot.readBytes(objectName("0".repeat(64)), 0) // then the connection breaks
          )
      })
      assert.strictEqual((yield* Effect.flip(pull(interrupted)))._tag, "DepotUnusable")
      assert.strictEqual(readFileSync(path.join(server.incoming, part.sha256)).length, 1000)
      assert.deepStrictEqual(yield* listNumbers(server.local), [])
      takeReceivedBytes()
      yield* follow(server)
      assert.isBelow(takeReceivedBytes(), part.bytes + 2000 - 1000)
      assert.deepStrictEqual(yield* queryItems(server, "example.price"), ["apple"])
      assert.deepStrictEqual(readdirSync(server.incoming), [])
    })
  )
  itLive("fetches an object again if it was damaged in transit or on this machine", () =>
    Effect.gen(function* () {
      const { depot, part } = yield* published
      const server = yield* aMachine(depot)
      let isFirst = true
      const damaging = yield* layoutOf(server.home, {
        ...depot,
        readBytes: (name, from) =>
          Stream.map(depot.readBytes(name, from), (chunk) => {
            if (!isFirst) return chunk
            isFirst = false
            return chunk.map((byte, at) => (at === 5 ? byte ^ 1 : byte))
          })
      })
      yield* follow(damaging)
      assert.deepStrictEqual(yield* queryItems(server, "example.price"), ["apple"])

      const file = server.objectFile(part.sha256)
      const publishWine = publishOn(yield* aMachine(depot), { prices: [{ item: "wine" }] }, { target: cellar })
      for (const prepare of [Effect.void, publishWine]) {
        chmodSync(file, 0o644)
        writeFileSync(file, "damaged")
        yield* prepare
        yield* follow(server)
        assert.strictEqual(readFileSync(file).length, part.bytes)
        assert.deepStrictEqual(yield* queryItems(server, "example.price"), ["apple"])
      }
    })
  )
  itLive("fails if an object in the depot is damaged, and the live data is unchanged", () =>
    Effect.gen(function* () {
      const { depot, folder } = yield* published
      const server = yield* aMachine(depot)
      yield* follow(server)
      yield* publishOn(yield* aMachine(depot), { prices: [pears] })
      const [part] = (yield* requireNewest(depot)).data_sets.example?.parts ?? []
      const file = path.join(folder, objectName(part?.sha256 ?? ""))
      chmodSync(file, 0o644)
      writeFileSync(file, Buffer.alloc(part?.bytes ?? 0))
      const error = yield* Effect.flip(pull(server))
      assert.match(
        error.message,
        /^objects\/\w\w\/\w{64} of larder-000002 in .* is damaged: the size or SHA-256 of the received file differs\. The live data on this machine is unchanged\./
      )
      assert.deepStrictEqual(yield* queryItems(server, "example.price"), ["apple"])
      assert.deepStrictEqual(yield* listNumbers(server.local), [1])
      assert.isFalse(existsSync(path.join(server.incoming, part?.sha256 ?? "")))
    })
  )
  itLive("transfers parts with the same bytes only once, and transfers empty parts", () =>
    Effect.gen(function* () {
      const { depot, folder, takeReceivedBytes } = yield* published
      const large = Buffer.alloc(300_000, "same bytes")
      const addPart = Effect.fnUntraced(function* (name: string, bytes: Uint8Array) {
        const file = path.join(folder, name)
        writeFileSync(file, bytes)
        const object = yield* identifyFile(file)
        yield* putObject(depot, object, file)
        return { name, ...object }
      })
      const parts = [
        yield* addPart("names", large),
        yield* addPart("texts", large),
        yield* addPart("empty", new Uint8Array())
      ]
      yield* makeGeneration(depot, (base) => {
        const { data_sets, event, ingest } = base as Manifest
        const example = data_sets.example as DataSetEntry
        return Effect.succeed({
          event,
          ingest,
          data_sets: { example: { ...example, parts: [...example.parts, ...parts] } }
        })
      })
      const server = yield* aMachine(depot)
      takeReceivedBytes()
      yield* pull(server)
      assert.isBelow(takeReceivedBytes(), (yield* sizeOf(server, "example")) - large.length + 10_000)
      assert.deepStrictEqual(
        parts.map(({ sha256 }) => readFileSync(server.objectFile(sha256)).length),
        [large.length, large.length, 0]
      )
    })
  )
  itLive("rejects a depot that is behind this machine, or has another generation under the same number", () =>
    Effect.gen(function* () {
      const { depot } = yield* published
      const server = yield* aMachine(depot)
      yield* publishOn(server, { prices: [pears] })
      const older = yield* published
      const behindError = yield* Effect.flip(pull(yield* layoutOf(server.home, older.depot)))
      assert.match(
        behindError.message,
        /: larder-000002 of this machine is newer than larder-000001, the newest there\. /
      )
      yield* publishOn(yield* aMachine(older.depot), { prices: [pears] })
      const differentError = yield* Effect.flip(pull(yield* layoutOf(server.home, older.depot)))
      assert.match(
        differentError.message,
        /^.* is not the depot of .*: larder-000002 of this machine is a different one there\. Nothing was changed\. Check LARDER_DEPOT/
      )
      assert.deepStrictEqual(yield* queryItems(server, "example.price"), ["apple", "pear"])
    })
  )
})
