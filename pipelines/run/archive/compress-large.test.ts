/** Large payloads: plain while their run reads them, compressed afterwards. */
import { randomBytes } from "node:crypto"
import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import {
  archiveOf,
  assignUrls,
  compressedName,
  fetchAll,
  filesIn,
  originOf,
  plainName,
  publishRun,
  readPayloads,
  sha256Of
} from "@larder/test/support/pipelines/raw-archive.ts"
import { Effect, Fiber, FileSystem, PlatformError } from "effect"
import { Archive } from "./archive.ts"

const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "larder-raw-" }))

const largeText = (line: string) => Buffer.alloc(16 << 20, line)
const large = largeText("a line of a release\n")
const other = largeText("a line of another release\n")
const zip = randomBytes(16 << 20)

/** Fetches in a run that is killed before it ends. */
const fetchKilled = (folder: string, run_id: string, payloads: ReadonlyArray<Buffer>) =>
  fetchAll(assignUrls(payloads)).pipe(Effect.provide([archiveOf(folder, run_id), originOf(assignUrls(payloads))]))

const withoutIncoming = (folder: string) => filesIn(folder).filter((name) => !name.startsWith("incoming/"))
const assertReadable = (folder: string, payloads: ReadonlyArray<Buffer>) =>
  assert.deepStrictEqual(readPayloads(folder).map(sha256Of).sort(), payloads.map(sha256Of).sort())

describe("a large payload", () => {
  itLive("is plain until its run has ended, and compressed then", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      yield* Effect.gen(function* () {
        yield* fetchAll(assignUrls([large]))
        assert.deepStrictEqual(withoutIncoming(folder), [plainName(large)])
        yield* Archive.use((archive) => Effect.andThen(archive.recordEnd({ ended: "failed" }), archive.compressLarge))
      }).pipe(Effect.provide([archiveOf(folder, "run-1"), originOf(assignUrls([large]))]))
      assert.deepStrictEqual(filesIn(folder), [compressedName(large)])
      assertReadable(folder, [large])
    })
  )
  itLive("stays plain if it is already compressed, as the zip of a release is", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      yield* publishRun(folder, "run-1", assignUrls([zip, large]))
      assert.deepStrictEqual(filesIn(folder), [plainName(zip), compressedName(large)].sort())
    })
  )
  itLive("is not stored again once it is compressed", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      yield* publishRun(folder, "run-1", assignUrls([large]))
      const read = yield* publishRun(folder, "run-2", assignUrls([large]))
      assert.deepStrictEqual(read.map(sha256Of), [sha256Of(large)])
      assert.deepStrictEqual(filesIn(folder), [compressedName(large)])
    })
  )
  itLive("of a killed run is compressed by the next run", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      yield* fetchKilled(folder, "run-1", [large])
      assert.deepStrictEqual(filesIn(folder), [plainName(large)])
      yield* publishRun(folder, "run-2", assignUrls(["news"]))
      assert.deepStrictEqual(filesIn(folder), [plainName("news"), compressedName(large)].sort())
    })
  )
  itLive("is reported and stays as it is if it is damaged, and the others are compressed", (logs) =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      yield* fetchKilled(folder, "run-1", [large, other])
      const damaged = `${folder}/${plainName(large)}`
      yield* fs.writeFile(damaged, other)
      yield* publishRun(folder, "run-2", assignUrls(["news"]))
      assert.deepStrictEqual(filesIn(folder), [plainName(large), plainName("news"), compressedName(other)].sort())
      assert.deepStrictEqual(logs, [
        `Warn: The archived payload ${damaged} has other bytes than were fetched. Restore it from a backup; a run that fetches it again also repairs it.`
      ])
      yield* publishRun(folder, "run-3", assignUrls([large]))
      assertReadable(folder, [large, other, Buffer.from("news")])
    })
  )
  itLive("stays plain if it cannot be compressed, and the run succeeds", (logs) =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const diskFull = PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "rename" })
      const rename: typeof fs.rename = (from, to) => (to.endsWith(".zst") ? Effect.fail(diskFull) : fs.rename(from, to))
      const running = publishRun(folder, "run-1", assignUrls([large]))
      yield* Effect.provideService(running, FileSystem.FileSystem, { ...fs, rename })
      assert.deepStrictEqual(filesIn(folder), [plainName(large)])
      assert.match(
        logs.join("\n"),
        /^Warn: The large payload .* could not be compressed: .*\. It stays as fetched, which loses nothing; a later run tries again\.$/
      )
    })
  )
  itLive("stays plain if it cannot be compressed, and the others are compressed", (logs) =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const refused = PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "rename" })
      const rename: typeof fs.rename = (from, to) =>
        to.endsWith(compressedName(large)) ? Effect.fail(refused) : fs.rename(from, to)
      const running = publishRun(folder, "run-1", assignUrls([large, other]))
      yield* Effect.provideService(running, FileSystem.FileSystem, { ...fs, rename })
      assert.deepStrictEqual(filesIn(folder), [plainName(large), compressedName(other)].sort())
      assert.lengthOf(logs, 1)
      assert.include(logs[0] ?? "", `The large payload ${folder}/${plainName(large)} could not be compressed`)
    })
  )
  itLive("is compressed although something else is in the archive, and each such entry is named in a warning", (logs) =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      yield* fetchKilled(folder, "run-1", [large])
      const shard = plainName(large).slice(0, 2)
      const [fileOfFolder = ""] = ["ab", "cd"].filter((name) => name !== shard)
      const payloadFolder = `${shard}/${shard.padEnd(64, "0")}`
      writeFileSync(`${folder}/notes.txt`, "")
      writeFileSync(`${folder}/${fileOfFolder}`, "")
      mkdirSync(`${folder}/old`)
      mkdirSync(`${folder}/${payloadFolder}`)
      writeFileSync(`${folder}/${shard}/${sha256Of("")}`, "") // in the folder of other payloads
      yield* publishRun(folder, "run-2", assignUrls(["news"]))
      assert.includeMembers(filesIn(folder), [compressedName(large), plainName("news")])
      assert.notInclude(filesIn(folder), plainName(large))
      const warnings = [
        [fileOfFolder, "it cannot be read as a folder (ENOTDIR: not a directory"],
        [payloadFolder, "it is not a regular file"],
        [`${shard}/${sha256Of("")}`, "its name is not that of a payload"],
        ["notes.txt", "it is no folder of payloads"],
        ["old", "it is no folder of payloads"]
      ].map(([name, problem]) => `Warn: ${folder}/${name} in the raw archive is ignored: ${problem}`)
      assert.sameMembers(
        logs.map((line) => line.replace(/(ENOTDIR: not a directory).*/, "$1")),
        warnings
      )
    })
  )
  itLive("is announced in one line of the log if there are more than 100 MB", (logs) =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      yield* publishRun(folder, "run-1", assignUrls([Buffer.alloc(100_000_001, "a line of a release\n"), large]))
      assert.lengthOf(logs, 1)
      assert.match(
        logs[0] ?? "",
        /^Info: compressing 116\.8 MB of payloads in the raw archive, .* after Ctrl-C, a later run/
      )
    })
  )
  itLive("with two files, because its run was killed in between, has one after the next run", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      yield* publishRun(folder, "run-1", assignUrls([large]))
      yield* fetchKilled(yield* makeFolder, "run-1", [large])
      const elsewhere = yield* makeFolder
      yield* fetchKilled(elsewhere, "run-1", [large])
      copyFileSync(`${elsewhere}/${plainName(large)}`, `${folder}/${plainName(large)}`)
      yield* publishRun(folder, "run-2", assignUrls(["news"]))
      assert.deepStrictEqual(filesIn(folder), [plainName("news"), compressedName(large)].sort())
      assertReadable(folder, [large, Buffer.from("news")])
    })
  )
})

describe("compressing that is interrupted", () => {
  /** Compresses to nearly its size, so that the size of the compressed file shows how much was done. */
  const slow = Buffer.concat([Buffer.alloc(65_536, "a line of a release\n"), randomBytes(128 << 20)])

  itLive("stops before its payload has been compressed, leaves it plain, and the next run compresses it", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const payloads = assignUrls([slow])
      /** What is compressed so far: the bytes of the unfinished file. */
      const bytesSoFar = () =>
        readdirSync(`${folder}/incoming`, { recursive: true, encoding: "utf8" })
          .filter((name) => name.endsWith(".zst"))
          .reduce((sum, name) => sum + statSync(`${folder}/incoming/${name}`).size, 0)
      yield* Effect.gen(function* () {
        const archive = yield* Archive
        yield* archive.fetch({ url: "https://source.test/0", accept: "*/*" })
        const compressing = yield* Effect.forkChild(archive.compressLarge)
        while (bytesSoFar() === 0) yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
        yield* Fiber.interrupt(compressing)
        assert.isBelow(bytesSoFar(), slow.length * 0.9)
      }).pipe(Effect.provide([archiveOf(folder, "run-1"), originOf(payloads)]))
      assert.deepStrictEqual(filesIn(folder), [plainName(slow)])
      yield* publishRun(folder, "run-2", assignUrls(["news"]))
      assert.deepStrictEqual(filesIn(folder), [plainName("news"), compressedName(slow)].sort())
      assertReadable(folder, [slow, Buffer.from("news")])
    })
  )
})

describe("concurrent runs", () => {
  itLive("keep a payload that both fetched, and one can read it after the other has compressed it", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const payloads = assignUrls([large, "small"])
      yield* Effect.gen(function* () {
        const slow = yield* Archive
        const urls = Object.keys(payloads)
        const fetched = yield* Effect.forEach(urls, (url) => slow.fetch({ url, accept: "*/*" }))
        yield* publishRun(folder, "run-2", payloads)
        assert.deepStrictEqual(withoutIncoming(folder), [plainName("small"), compressedName(large)].sort())
        for (const { path, sha256 } of fetched) assert.strictEqual(sha256Of(yield* fs.readFile(path)), sha256)
        yield* slow.recordEnd({ published: "larder-1" })
        yield* slow.compressLarge
      }).pipe(Effect.provide([archiveOf(folder, "run-1"), originOf(payloads)]))
      assert.deepStrictEqual(filesIn(folder), [plainName("small"), compressedName(large)].sort())
    })
  )
  itLive("lose nothing if they store and compress the same payloads at the same time", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const pages = Array.from({ length: 20 }, (_, n) => Buffer.from(`page ${n} `.repeat(500)))
      const all = [...pages, large, other]
      const runs = ["run-1", "run-2", "run-3"].map((run) => publishRun(folder, run, assignUrls(all)))
      yield* Effect.all(runs, { concurrency: "unbounded" })
      assert.deepStrictEqual(filesIn(folder), all.map(compressedName).sort())
      assertReadable(folder, all)
    })
  )
})
