/** Kills processes with -9 at each step of storing a payload, and checks the archive from another process. */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import {
  assignUrls,
  compressedName,
  filesIn,
  plainName,
  publishRun,
  sha256Of
} from "@larder/test/support/pipelines/raw-archive.ts"
import { Effect, FileSystem } from "effect"
import { openPayload } from "./stored-payloads.ts"

const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  fs.makeTempDirectoryScoped({ prefix: "larder-kills-" })
)

/** Two are compressed, one is stored as fetched, and one is large. */
const makePayloads = () => ["page 1 ".repeat(20_000), "page 2 ".repeat(20_000), "no page", "a line\n".repeat(3_000_000)]
const payloads = makePayloads()
const names = payloads.map((payload) => (payload === "no page" ? plainName(payload) : compressedName(payload))).sort()

interface KillPoint {
  readonly method: "open" | "rename" | "remove" | "makeDirectory"
  /** Only calls with a path that matches this pattern are counted. */
  readonly pattern: string
  /** The call at which the process kills itself, counted from 1. */
  readonly nth: number
  readonly after?: boolean
}

/** Runs in a process that kills itself at a call of its file system. */
const killAt = (folder: string, point: KillPoint) => {
  const script = `
    import * as NodeServices from "@effect/platform-node/NodeServices"
    import { Effect, FileSystem } from "effect"
    import { assignUrls, publishRun } from "@larder/test/support/pipelines/raw-archive.ts"
    const [folder, point] = process.argv.slice(1)
    const { after, method, nth, pattern } = JSON.parse(point)
    const payloads = (${makePayloads})()
    let calls = 0
    const kill = Effect.sync(() => process.kill(process.pid, "SIGKILL"))
    const run = Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const killer = (...args) => {
        const call = fs[method](...args)
        const isMatch = args.some((arg) => typeof arg === "string" && new RegExp(pattern).test(arg)) && ++calls === nth
        if (!isMatch) return call
        return after ? Effect.tap(call, () => kill) : kill
      }
      const running = publishRun(folder, "run-1", assignUrls(payloads))
      yield* Effect.provideService(running, FileSystem.FileSystem, { ...fs, [method]: killer })
    })
    await Effect.runPromise(run.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))`
  const args = ["--input-type=module", "-e", script, folder, JSON.stringify(point)]
  return spawnSync(process.execPath, args, { cwd: import.meta.dirname, encoding: "utf8" })
}

const listed = (folder: string) => {
  const list = `${folder}/fetches/run-1.ndjson`
  const lines = existsSync(list) ? readFileSync(list, "utf8") : ""
  return [...lines.matchAll(/"sha256":"([0-9a-f]{64})"/g)].map(([, sha256 = ""]) => sha256)
}

/** Expects that each payload that the list names can be read, byte for byte, by a process that only reads. */
const expectReadable = (folder: string) =>
  Effect.forEach(listed(folder), (sha256) => openPayload(folder, sha256), { discard: true })

const part = "incoming/.*/[0-9a-f]{64}\\.[0-9a-f-]{36}"
const plain = "/[0-9a-f]{2}/[0-9a-f]{64}$"
const compressed = "/[0-9a-f]{2}/[0-9a-f]{64}\\.zst$"

/** The number of payloads that the list names by then. */
const steps: ReadonlyArray<readonly [name: string, listed: number, KillPoint]> = [
  ["before a compressed payload is flushed", 0, { method: "open", pattern: `${part}\\.zst$`, nth: 1 }],
  ["before a compressed payload gets its name", 1, { method: "rename", pattern: compressed, nth: 2 }],
  [
    "before the folder of a compressed payload is flushed",
    1,
    { method: "rename", pattern: compressed, nth: 2, after: true }
  ],
  ["before a payload that is stored as fetched is flushed", 2, { method: "open", pattern: `${part}$`, nth: 1 }],
  ["before a payload that is stored as fetched gets its name", 2, { method: "rename", pattern: plain, nth: 1 }],
  ["before the list names a payload", 2, { method: "open", pattern: "run-1.ndjson$", nth: 3 }],
  ["before a large payload is flushed", 3, { method: "open", pattern: `${part}$`, nth: 2 }],
  ["before a large payload that was compressed is flushed", 4, { method: "open", pattern: `${part}\\.zst$`, nth: 3 }],
  ["before a large payload that was compressed gets its name", 4, { method: "rename", pattern: compressed, nth: 3 }],
  ["before its plain file is removed", 4, { method: "remove", pattern: plain, nth: 3 }]
]

describe("a process that is killed", () => {
  for (const [name, count, point] of steps) {
    itLive(`${name} loses no payload that its list names, and the next run leaves each in one file`, () =>
      Effect.gen(function* () {
        const folder = yield* makeFolder
        const { signal, stderr } = killAt(folder, point)
        assert.strictEqual(signal, "SIGKILL", stderr)
        assert.deepStrictEqual(listed(folder), payloads.slice(0, count).map(sha256Of))
        yield* expectReadable(folder)
        yield* publishRun(folder, "run-2", assignUrls(payloads))
        yield* expectReadable(folder)
        assert.deepStrictEqual(filesIn(folder), names)
        assert.deepStrictEqual(readdirSync(`${folder}/incoming`), [])
      })
    )
  }
})
