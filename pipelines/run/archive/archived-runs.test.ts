/** Lists of fetches as a crash, a power failure or a full disk may leave them. */
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { archiveOf, assignUrls, fetchAll, originOf, publishRun } from "@larder/test/support/pipelines/raw-archive.ts"
import { Effect, FileSystem, PlatformError } from "effect"
import { Archive } from "./archive.ts"
import { listArchivedRuns } from "./archived-runs.ts"

const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "larder-raw-" }))

/** A list of two fetches and the end of the run, after `change`. */
const changeList = Effect.fnUntraced(function* (change: (text: string) => string) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* makeFolder
  yield* publishRun(folder, "run-1", assignUrls(["apples", "pears"]))
  const list = `${folder}/fetches/run-1.ndjson`
  yield* fs.writeFileString(list, change(yield* fs.readFileString(list)))
  return { folder, list }
})

const countFetches = (folder: string) =>
  Effect.map(listArchivedRuns(folder, "shops", new Set(["run-1"])), (runs) => runs.map(({ fetches }) => fetches.length))

const cutLastLine = (text: string) => text.slice(0, -10)
const cutSecondLine = (text: string) => text.slice(0, text.indexOf("\n") + 100)

describe("the list of a run", () => {
  for (const [name, change, fetches] of [
    ["is truncated in its last line", cutLastLine, 2],
    ["is truncated in its last fetch", cutSecondLine, 1],
    ["ends with the zeros of a block that was not written", (text: string) => `${text}${"\0".repeat(300)}`, 2]
  ] as const) {
    itLive(`is read without its last line, with a warning, if it ${name}`, (logs) =>
      Effect.gen(function* () {
        const { folder, list } = yield* changeList(change)
        assert.deepStrictEqual(yield* countFetches(folder), [fetches])
        assert.deepStrictEqual(logs, [
          `Warn: the last line of ${list} is ignored: it is incomplete, as a crash or a power failure may leave it`
        ])
      })
    )
  }
  itLive("is read completely if only its last line feed is missing", (logs) =>
    Effect.gen(function* () {
      const { folder } = yield* changeList((text) => text.trimEnd())
      const [run] = yield* listArchivedRuns(folder, "shops")
      assert.deepInclude(run, { has_published: true })
      assert.deepStrictEqual(logs, [])
    })
  )
  for (const [name, change] of [
    ["in its middle", (text: string) => text.replace("\n", "\n{")],
    ["in its last line, which is complete", (text: string) => text.replace(/\}\n$/, "\n")]
  ] as const) {
    itLive(`is an error if it is damaged ${name}`, () =>
      Effect.gen(function* () {
        const { folder, list } = yield* changeList(change)
        const { message } = yield* Effect.flip(countFetches(folder))
        assert.include(message, `The raw archive cannot be read: ${list}: `)
      })
    )
  }
  itLive("keeps no part of a line that a full disk did not take completely", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* makeFolder
      let isFull = false
      const full = PlatformError.systemError({ _tag: "WriteZero", module: "FileSystem", method: "writeAll" })
      const open: typeof fs.open = (path, options) =>
        Effect.map(fs.open(path, options), (file) =>
          Object.create(file, {
            writeAll: {
              value: (bytes: Uint8Array) =>
                isFull && path.endsWith(".ndjson")
                  ? Effect.andThen(file.writeAll(bytes.subarray(0, 20)), Effect.fail(full))
                  : file.writeAll(bytes)
            }
          })
        )
      const payloads = assignUrls(["apples"])
      yield* Effect.gen(function* () {
        yield* fetchAll(payloads)
        isFull = true
        yield* Effect.flip(fetchAll(payloads))
        isFull = false
        yield* Archive.use((archive) => archive.recordEnd({ published: "larder-1" }))
      }).pipe(
        Effect.provide([archiveOf(folder, "run-1"), originOf(payloads)]),
        Effect.provideService(FileSystem.FileSystem, { ...fs, open })
      )
      assert.deepStrictEqual(yield* countFetches(folder), [1])
    })
  )
})
