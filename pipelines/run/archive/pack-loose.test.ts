import { randomBytes } from "node:crypto"
import { buffer } from "node:stream/consumers"
import { gzipSync } from "node:zlib"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { withClockAhead } from "@larder/test/support/clock-ahead.ts"
import {
  archiveOf,
  assignUrls,
  fetchAll,
  filesIn,
  listMembers,
  originOf,
  packRun,
  sha256Of
} from "@larder/test/support/pipelines/raw-archive.ts"
import { Effect, FileSystem, PlatformError } from "effect"
import { openPromise } from "yauzl"
import { Archive } from "./archive.ts"
import { looseName } from "./run-payloads.ts"

const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  fs.makeTempDirectoryScoped({ prefix: "larder-packs-" })
)
const fourPayloads = assignUrls(["a page, a page, a page, a page, a page, a page", "another", randomBytes(100_000), ""])
const listHashes = (payloads: Readonly<Record<string, string | Uint8Array>>) =>
  [...new Set(Object.values(payloads).map(sha256Of))].sort()

/** The members of the zip, read by `yauzl`. */
const unzip = (file: string) =>
  Effect.promise(async () => {
    const zip = await openPromise(file)
    const members: Array<{ name: string; method: number; bytes: Buffer }> = []
    for await (const entry of zip.eachEntry()) {
      const bytes = await buffer(await zip.openReadStreamPromise(entry))
      members.push({ name: entry.fileName, method: entry.compressionMethod, bytes })
    }
    return members
  })

// on the real clock: files have the time of the disk
layer(NodeServices.layer, { excludeTestServices: true })("when a run ends", (it) => {
  it.effect("its payloads are in one zip, byte for byte, under their SHA-256, and no longer loose", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      yield* packRun(folder, "run-1", fourPayloads)
      assert.deepStrictEqual(filesIn(folder), ["packs/run-1.zip"])
      const fs = yield* FileSystem.FileSystem
      assert.sameMembers(yield* fs.readDirectory(folder), ["fetches", "incoming", "packs"])
      const members = yield* unzip(`${folder}/packs/run-1.zip`)
      assert.deepStrictEqual(members.map(({ name }) => name).sort(), listHashes(fourPayloads))
      for (const { bytes, name } of members) assert.strictEqual(sha256Of(bytes), name)
    })
  )

  it.effect("a payload is deflated if that makes it smaller, and stored otherwise", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const [text, packed] = ["a line\n".repeat(1000), gzipSync(randomBytes(200_000))]
      yield* packRun(folder, "run-1", assignUrls([text, packed]))
      const methods = new Map((yield* unzip(`${folder}/packs/run-1.zip`)).map(({ method, name }) => [name, method]))
      assert.deepStrictEqual([methods.get(sha256Of(text)), methods.get(sha256Of(packed))], [8, 0])
    })
  )

  it.effect("a large payload that is already compressed stays loose, even in later runs", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const large = randomBytes(17 << 20)
      yield* packRun(folder, "run-1", assignUrls([large, "small"]))
      assert.deepStrictEqual(filesIn(folder), [looseName(sha256Of(large)), "packs/run-1.zip"].sort())
      yield* packRun(folder, "run-2", assignUrls(["other"])).pipe(withClockAhead("7 hours"))
      assert.include(filesIn(folder), looseName(sha256Of(large)))
    })
  )

  it.effect("payloads that are already in a pack are not stored again", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      yield* packRun(folder, "run-1", fourPayloads)
      const read = yield* fetchAll(fourPayloads).pipe(
        Effect.provide([archiveOf(folder, "run-2"), originOf(fourPayloads)])
      )
      assert.deepStrictEqual(read.map(sha256Of), Object.values(fourPayloads).map(sha256Of))
      assert.deepStrictEqual(filesIn(folder), ["packs/run-1.zip"])
      yield* packRun(folder, "run-2", fourPayloads)
      assert.deepStrictEqual(filesIn(folder), ["packs/run-1.zip"])
      yield* packRun(folder, "run-3", { ...fourPayloads, "https://source.test/new": "news" })
      assert.deepStrictEqual(yield* listMembers(folder, "run-3"), [sha256Of("news")])
    })
  )

  it.effect("payloads of a failed run are packed, too", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      yield* Effect.gen(function* () {
        yield* fetchAll(fourPayloads)
        yield* Archive.use((archive) => Effect.andThen(archive.recordEnd({ ended: "failed" }), archive.pack))
      }).pipe(Effect.provide([archiveOf(folder, "run-1"), originOf(fourPayloads)]))
      assert.deepStrictEqual(filesIn(folder), ["packs/run-1.zip"])
    })
  )

  it.effect("payloads of an interrupted run are packed by the run that resumes it", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const run = (n: number, finish: (archive: Archive["Service"]) => Effect.Effect<void, unknown>) =>
        Effect.gen(function* () {
          yield* fetchAll(fourPayloads)
          yield* Effect.orDie(Archive.use(finish))
        }).pipe(
          Effect.provide([archiveOf(folder, `2026-${n}-shops-run`, { resumesRuns: true }), originOf(fourPayloads)])
        )
      yield* run(1, () => Effect.void)
      assert.lengthOf(filesIn(folder), 4)
      yield* run(2, (archive) => Effect.andThen(archive.recordEnd({ published: "larder-1" }), archive.pack))
      assert.deepStrictEqual(filesIn(folder), ["packs/2026-2-shops-run.zip"])
      assert.deepStrictEqual(yield* listMembers(folder, "2026-2-shops-run"), listHashes(fourPayloads))
    })
  )

  it.effect("payloads of a killed run stay loose for six hours, and a later run packs them", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      yield* fetchAll(fourPayloads).pipe(Effect.provide([archiveOf(folder, "run-1"), originOf(fourPayloads)]))
      yield* packRun(folder, "run-2", assignUrls(["two"])).pipe(withClockAhead("5.9 hours"))
      assert.lengthOf(filesIn(folder), 5)
      yield* packRun(folder, "run-3", assignUrls(["two"])).pipe(withClockAhead("6.1 hours"))
      assert.deepStrictEqual(filesIn(folder), ["packs/run-2.zip", "packs/run-3.zip"])
      assert.deepStrictEqual(yield* listMembers(folder, "run-3"), listHashes(fourPayloads))
    })
  )

  it.effect("a damaged payload is reported and stays loose, and the others are packed", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      yield* fetchAll(fourPayloads).pipe(Effect.provide([archiveOf(folder, "run-1"), originOf(fourPayloads)]))
      const damaged = looseName(sha256Of("another"))
      yield* fs.writeFileString(`${folder}/${damaged}`, "something else")
      yield* packRun(folder, "run-2", assignUrls(["two"])).pipe(withClockAhead("7 hours"))
      assert.deepStrictEqual(filesIn(folder), [damaged, "packs/run-2.zip"].sort())
      const expected = [...listHashes(fourPayloads), sha256Of("two")].filter((hash) => hash !== sha256Of("another"))
      assert.deepStrictEqual(yield* listMembers(folder, "run-2"), expected.sort())
    })
  )

  it.effect("payloads stay loose if they cannot be packed, and the run succeeds", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const diskFull = PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "rename" })
      const rename: typeof fs.rename = (from, to) =>
        /packs/.test(to.slice(folder.length)) ? Effect.fail(diskFull) : fs.rename(from, to)
      yield* Effect.provideService(packRun(folder, "run-1", fourPayloads), FileSystem.FileSystem, { ...fs, rename })
      assert.deepStrictEqual(filesIn(folder), listHashes(fourPayloads).map(looseName).sort())
    })
  )

  it.effect("the pack of an earlier run is not overwritten", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      yield* packRun(folder, "run-1", fourPayloads)
      yield* packRun(folder, "run-1", assignUrls(["two"]))
      assert.deepStrictEqual(yield* listMembers(folder, "run-1"), listHashes(fourPayloads))
      assert.include(filesIn(folder), looseName(sha256Of("two")))
    })
  )
})

layer(NodeServices.layer, { excludeTestServices: true })("concurrent runs", (it) => {
  it.effect("keep payloads that both fetched, and each can read them while the other packs them", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const startRun = Effect.gen(function* () {
        const archive = yield* Archive
        const raw = yield* Effect.forEach(Object.keys(fourPayloads), (url) => archive.fetch({ url, accept: "*/*" }))
        return { archive, raw }
      })
      yield* Effect.gen(function* () {
        const slow = yield* startRun
        yield* packRun(folder, "run-2", fourPayloads)
        assert.deepStrictEqual(
          filesIn(folder).filter((name) => !name.startsWith("incoming/")),
          ["packs/run-2.zip"]
        )
        for (const { path, sha256 } of slow.raw) assert.strictEqual(sha256Of(yield* fs.readFile(path)), sha256)
        yield* slow.archive.recordEnd({ published: "larder-1" }) // flushes what is no longer loose
        yield* slow.archive.pack
      }).pipe(Effect.provide([archiveOf(folder, "run-1"), originOf(fourPayloads)]))
      assert.deepStrictEqual(filesIn(folder), ["packs/run-2.zip"])
    })
  )

  it.effect("lose nothing if they pack at the same time", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const many = assignUrls(Array.from({ length: 60 }, (_, n) => `page ${n} `.repeat(500)))
      const runs = ["run-1", "run-2", "run-3"].map((run) => packRun(folder, run, many))
      yield* Effect.all(runs, { concurrency: "unbounded" })
      const packs = filesIn(folder)
      assert.includeMembers(["packs/run-1.zip", "packs/run-2.zip", "packs/run-3.zip"], packs)
      const members = yield* Effect.forEach(packs, (name) =>
        listMembers(folder, name.slice("packs/".length, -".zip".length))
      )
      assert.deepStrictEqual([...new Set(members.flat())].sort(), listHashes(many))
      const read = yield* packRun(folder, "run-4", many)
      assert.deepStrictEqual(read.map(sha256Of), Object.values(many).map(sha256Of))
      assert.deepStrictEqual(filesIn(folder), packs)
    })
  )
})
