import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { zstdCompressSync } from "node:zlib"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { withClockAhead } from "@larder/test/support/clock-ahead.ts"
import {
  archiveOf,
  assignUrls,
  compressedName,
  fetchAll,
  originOf,
  plainName,
  publishRun,
  sha256Of
} from "@larder/test/support/pipelines/raw-archive.ts"
import { Effect, FileSystem, PlatformError, Stream } from "effect"
import { Archive } from "./archive.ts"
import { listArchivedRuns, repeatRun } from "./archived-runs.ts"
import { openRunPayloads, receivePart } from "./run-payloads.ts"

const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "larder-raw-" }))
/** The first one is compressed, the second one is not. */
const [first, second] = ["first ".repeat(100), "second"] as const
const twoPayloads = assignUrls([first, second])

const listEverything = (folder: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const names = (yield* fs.readDirectory(folder, { recursive: true })).sort()
    return yield* Effect.forEach(names, (name) =>
      Effect.map(fs.stat(`${folder}/${name}`), ({ mtime, size }) => [name, mtime, size])
    )
  })

/** Repeats the first run of an archive, and returns the text of its first payload. */
const repeatFirst = (folder: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const [run] = yield* listArchivedRuns(folder, "shops")
    assert.isDefined(run)
    const archive = { folder, scratch: yield* makeFolder }
    return yield* Archive.use(({ fetch }) => fetch({ url: "https://source.test/0", accept: "*/*" })).pipe(
      Effect.flatMap(({ path }) => fs.readFileString(path)),
      Effect.provide(repeatRun(archive, run))
    )
  })

layer(NodeServices.layer, { excludeTestServices: true })("payloads of a run", (it) => {
  it.effect("are hashed and counted as they arrive, and deleted when the scope closes", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* makeFolder
      const counted: Array<number> = []
      const pieces = ["one ", "two"].map((text) => Buffer.from(text))
      const onBytes = (bytes: number) => Effect.sync(() => void counted.push(bytes))
      const text = yield* Effect.scoped(
        Effect.gen(function* () {
          const { part, sha256, bytes } = yield* receivePart(
            folder,
            "https://source.test/0",
            { body: Stream.fromIterable(pieces), total: 7 },
            onBytes
          )
          assert.strictEqual(sha256, sha256Of("one two"))
          assert.strictEqual(bytes, 7)
          return yield* fs.readFileString(part)
        })
      )
      assert.strictEqual(text, "one two")
      assert.deepStrictEqual(counted, [4, 3])
      assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
    })
  )

  it.effect("are read by a dry run, which changes nothing in the archive", () =>
    Effect.gen(function* () {
      const [folder, dryRunFolder] = [yield* makeFolder, yield* makeFolder]
      yield* publishRun(folder, "run-1", twoPayloads)
      const killedPayloads = assignUrls(["left by a run that was killed"])
      yield* fetchAll(killedPayloads).pipe(Effect.provide([archiveOf(folder, "run-0"), originOf(killedPayloads)]))
      const before = yield* listEverything(folder)
      const read = yield* Effect.gen(function* () {
        const archive = yield* Archive
        yield* archive.revalidate(["run-1"])
        const raw = yield* archive.fetch({ url: "https://source.test/0", accept: "*/*" })
        yield* archive.compressLarge
        const earlier = yield* archive.findEarlier("run-1", "https://source.test/1")
        const fs = yield* FileSystem.FileSystem
        return [raw.status, yield* fs.readFileString(raw.path), yield* fs.readFileString(earlier?.path ?? "")]
      }).pipe(
        Effect.provide([archiveOf(folder, "run-2", { dryRunFolder }), originOf(twoPayloads)]),
        withClockAhead("7 hours")
      )
      assert.deepStrictEqual(read, [304, first, second])
      assert.deepStrictEqual(yield* listEverything(folder), before)
    })
  )

  it.effect("of an earlier run are undefined if their file is missing", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      yield* publishRun(folder, "run-1", twoPayloads)
      yield* fs.remove(`${folder}/${compressedName(first)}`)
      const earlier = yield* Archive.use((archive) => archive.findEarlier("run-1", "https://source.test/0")).pipe(
        Effect.provide(archiveOf(folder, "run-2"))
      )
      assert.isUndefined(earlier)
    })
  )

  it.effect("are copied if the file system has no hard links", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const refused = PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "link" })
      const withoutLinks = { ...fs, link: () => Effect.fail(refused) }
      const read = yield* Effect.gen(function* () {
        yield* fetchAll(twoPayloads).pipe(Effect.provide([archiveOf(folder, "run-1"), originOf(twoPayloads)]))
        return yield* publishRun(folder, "run-2", twoPayloads)
      }).pipe(Effect.provideService(FileSystem.FileSystem, withoutLinks))
      assert.deepStrictEqual(read.map(String), [first, second])
      assert.strictEqual(yield* repeatFirst(folder), first)
    })
  )

  it.effect("are not reported as damaged if the disk is full when they are copied", () =>
    Effect.gen(function* () {
      const [folder, scratch] = [yield* makeFolder, yield* makeFolder]
      yield* publishRun(folder, "run-1", assignUrls([randomBytes(200_000)])) // stored as it is
      const script = `
        import * as NodeServices from "@effect/platform-node/NodeServices"
        import { Effect, FileSystem, PlatformError } from "effect"
        import { Archive } from "./archive.ts"
        import { listArchivedRuns, repeatRun } from "./archived-runs.ts"
        const [folder, scratch] = process.argv.slice(1)
        const otherDisk = PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "link" })
        const message = Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const [run] = yield* listArchivedRuns(folder, "shops")
          const fetching = Archive.use(({ fetch }) => fetch({ url: "https://source.test/0", accept: "*/*" }))
          const { message } = yield* Effect.flip(fetching).pipe(
            Effect.provide(repeatRun({ folder, scratch }, run)),
            Effect.provideService(FileSystem.FileSystem, { ...fs, link: () => Effect.fail(otherDisk) })
          )
          return message
        })
        console.log(await Effect.runPromise(message.pipe(Effect.provide(NodeServices.layer))))`
      const limited = `trap '' XFSZ; ulimit -f 100; exec "$@"` // a write beyond 100 kB of a file fails, as on a full disk
      const command = ["-c", limited, "bash", process.execPath, "--input-type=module", "-e", script, folder, scratch]
      const { stderr, stdout } = spawnSync("bash", command, { cwd: import.meta.dirname, encoding: "utf8" })
      const problem = "EFBIG: file too large, write. The disk is full: make room, and run again."
      assert.strictEqual(stdout, `The folder of payloads ${scratch} cannot be written: ${problem}\n`, stderr)
    })
  )

  it.effect("can be requested many times at once", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const texts = Array.from({ length: 40 }, (_, n) => `payload ${n} `.repeat(n))
      yield* publishRun(folder, "run-1", assignUrls(texts))
      const { provide } = yield* openRunPayloads({ root: folder, runFolder: `${yield* makeFolder}/run` })
      const read = Effect.flatMap(
        Effect.forEach([...texts, ...texts], (text) => provide(sha256Of(text)), { concurrency: 30 }),
        (all) =>
          Effect.forEach(all, (found) =>
            "path" in found ? fs.readFileString(found.path) : Effect.succeed(found.problem)
          )
      )
      assert.deepStrictEqual(yield* read, [...texts, ...texts])
    })
  )

  it.effect("come from the other file if one is damaged", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      yield* publishRun(folder, "run-1", twoPayloads)
      yield* fs.writeFileString(`${folder}/${plainName(first)}`, "other bytes")
      assert.strictEqual(yield* repeatFirst(folder), first)
    })
  )

  it.effect.each([
    ["are missing", undefined, "is missing, with and without the ending .zst"],
    ["are other bytes", () => zstdCompressSync("other bytes"), "has other bytes than were fetched"],
    ["are truncated", (bytes: Uint8Array) => bytes.subarray(0, 20), "cannot be read (unexpected end of file)"],
    ["are no Zstandard", () => Buffer.from("other bytes"), "cannot be read (Unknown frame descriptor)"]
  ] as const)("are reported if their bytes %s, with what to do", ([, damage, problem]) =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      yield* publishRun(folder, "run-1", twoPayloads)
      const file = `${folder}/${compressedName(first)}`
      if (damage === undefined) yield* fs.remove(file)
      else yield* fs.writeFile(file, damage(yield* fs.readFile(file)))
      const where = damage === undefined ? `${folder}/${plainName(first)}` : file
      const advice = "Restore it from a backup; a run that fetches it again also repairs it."
      const error = yield* Effect.flip(repeatFirst(folder))
      assert.strictEqual(error.message, `The archived payload ${where} ${problem}. ${advice}`)
    })
  )
})
