/** Kills processes with -9 at each step of packing, and checks the archive from another process. */
import { spawnSync } from "node:child_process"
import { readdirSync, truncateSync } from "node:fs"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { withClockAhead } from "@larder/test/support/clock-ahead.ts"
import { assignUrls, filesIn, listMembers, packRun, sha256Of } from "@larder/test/support/pipelines/raw-archive.ts"
import { Effect, FileSystem } from "effect"
import { openArchive } from "./archived-runs.ts"
import { openRunPayloads } from "./run-payloads.ts"

const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  fs.makeTempDirectoryScoped({ prefix: "larder-kills-" })
)
const payloads = assignUrls(Array.from({ length: 5 }, (_, n) => `page ${n} `.repeat(20_000)))
const hashes = Object.values(payloads).map(sha256Of).sort()

/** Runs and packs in a process that kills itself at the `nth` matching call of its file system. */
const killAt = (folder: string, method: string, pattern: string, nth: number, after: boolean) => {
  const script = `
    import * as NodeServices from "@effect/platform-node/NodeServices"
    import { Effect, FileSystem } from "effect"
    import { assignUrls, packRun } from "@larder/test/support/pipelines/raw-archive.ts"
    const [folder, method, pattern, nth, after] = process.argv.slice(1)
    const payloads = assignUrls(Array.from({ length: 5 }, (_, n) => \`page \${n} \`.repeat(20_000)))
    let calls = 0
    const kill = () => process.kill(process.pid, "SIGKILL")
    const run = Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const killer = (...args) => {
        const isMatch = args.some((arg) => typeof arg === "string" && new RegExp(pattern).test(arg)) && ++calls === Number(nth)
        const call = fs[method](...args)
        if (!isMatch) return call
        return after === "true" ? Effect.tap(call, () => Effect.sync(kill)) : Effect.sync(kill)
      }
      yield* Effect.provideService(packRun(folder, "run-1", payloads), FileSystem.FileSystem, { ...fs, [method]: killer })
    })
    await Effect.runPromise(run.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))`
  const args = ["--input-type=module", "-e", script, folder, method, pattern, String(nth), String(after)]
  return spawnSync(process.execPath, args, { cwd: import.meta.dirname, encoding: "utf8" })
}

/** Whether each payload can be read, byte for byte, by a process that only reads. */
const checkReadable = (folder: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const scratch = yield* makeFolder
    const { packed } = yield* openArchive(folder, scratch)
    const { provide } = yield* openRunPayloads({ root: folder, runFolder: `${scratch}/run`, packed })
    return yield* Effect.forEach(hashes, (sha256) =>
      Effect.gen(function* () {
        const found = yield* provide(sha256)
        return "path" in found && sha256Of(yield* fs.readFile(found.path)) === sha256
      })
    )
  })

const part = "incoming/[^/]*\\.part$"
const loose = "/[0-9a-f]{2}/[0-9a-f]{64}$"

const steps = [
  ["right after its run was published", "stat", loose, 1, false],
  ["before the written zip is flushed", "open", part, 6, false],
  ["before the flushed zip is renamed", "rename", part, 6, false],
  ["before the renamed pack is indexed", "rename", part, 6, true],
  ["before the first loose payload is removed", "remove", loose, 1, false],
  ["when half of the loose payloads are removed", "remove", loose, 3, false]
] as const

// on the real clock: files have the time of the disk
layer(NodeServices.layer, { excludeTestServices: true })("a process that is killed", (it) => {
  it.effect.each(steps)("%s loses no payload, and later runs pack each once", ([, method, pattern, nth, after]) =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const { signal, stderr } = killAt(folder, method, pattern, nth, after)
      assert.strictEqual(signal, "SIGKILL", stderr)
      assert.notInclude(yield* checkReadable(folder), false)
      yield* packRun(folder, "run-2", payloads).pipe(withClockAhead("7 hours"))
      assert.notInclude(yield* checkReadable(folder), false)
      const packs = filesIn(folder)
      assert.deepStrictEqual(
        packs.filter((name) => !name.startsWith("packs/")),
        []
      )
      const members = yield* Effect.forEach(packs, (name) => listMembers(folder, name.replace(/packs\/|\.zip/g, "")))
      assert.deepStrictEqual(members.flat().sort(), hashes)
    })
  )

  it.effect("in the middle of the zip leaves a part, which the next run removes", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const { signal } = killAt(folder, "open", part, 6, false)
      assert.strictEqual(signal, "SIGKILL")
      const [partName = ""] = readdirSync(`${folder}/incoming`).filter((name) => name.endsWith(".part"))
      truncateSync(`${folder}/incoming/${partName}`, 500)
      assert.notInclude(yield* checkReadable(folder), false)
      yield* packRun(folder, "run-2", payloads)
      assert.deepStrictEqual(filesIn(folder), ["packs/run-2.zip"])
    })
  )
})
