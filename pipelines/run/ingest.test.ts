import { assert, describe, it } from "@effect/vitest"
import type { FeedLeftOut } from "@larder/schemas"
import { itLive } from "@larder/test/support/it-live.ts"
import { aLayout, example } from "@larder/test/support/warehouse/example-data-set.ts"
import { exitCodeOf } from "@larder/warehouse/cli"
import { ConfigProvider, Console, Effect, FileSystem, Option } from "effect"
import { ingest, worstExitCode } from "./ingest.ts"
import type { Pipeline } from "./pipeline.ts"

describe("the exit code of several pipelines", () => {
  it.each([
    [[0, 0, 0], 0],
    [[0, 4, 0], 4],
    [[4, 2, 0], 2],
    [[2, 1, 4], 1],
    [[1, 3, 2], 3],
    [[4, 3, 0], 3]
  ])("of %j is %i", (codes, worst) => {
    assert.strictEqual(worstExitCode(codes), worst)
  })
})

const readingInPart = (left_out: ReadonlyArray<FeedLeftOut>): Pipeline => ({
  name: "example",
  dataSet: example.dataSet,
  rowNoun: "prices",
  mappingVersion: 1,
  checks: [],
  samples: new URL("file:///none/"),
  recordingFolders: [],
  read: () => Effect.succeed({ rows_read: 40, rows_skipped: 19, rows_rejected: 21, feeds: 39, left_out })
})

/** The exit code of a run, and what it printed on stdout. */
const runPipeline = Effect.fnUntraced(function* (left_out: ReadonlyArray<FeedLeftOut>, dryRun: boolean, quiet = false) {
  const fs = yield* FileSystem.FileSystem
  const { home } = yield* aLayout
  const recording = yield* fs.makeTempDirectoryScoped()
  const pipeline = readingInPart(left_out)
  const none = Option.none()
  const options = {
    ...{ replay: Option.some(recording), file: none, stores: none, from: none, to: none },
    ...{ ifMissing: false, dryRun, acceptShrinkage: false, json: false, quiet, maxTime: Option.none() }
  }
  const printed: Array<string> = []
  const console = yield* Console.Console
  const exit = yield* ingest([pipeline], [pipeline], options).pipe(
    Effect.exit,
    Effect.provideService(Console.Console, { ...console, log: (text: string) => printed.push(text) }),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ LARDER_HOME: home })))
  )
  return { code: exitCodeOf(exit), stdout: printed.join("\n") }
})

const inPart = (feed: string, is_known: boolean): FeedLeftOut => ({
  feed,
  kind: "partial",
  reason: "21 of 40 rows were rejected (52.5 %).",
  is_known
})
const reasons = "gov-mars/1603: 21 of 40 rows were rejected (52.5 %)."

describe("a run that leaves feeds out in part", () => {
  for (const dryRun of [false, true]) {
    const kind = dryRun ? "dry run" : "run"
    itLive(`exits with 0, names them and logs a warning if an earlier run rejected the same rows: ${kind}`, (logs) =>
      Effect.gen(function* () {
        const { code, stdout } = yield* runPipeline([inPart("gov-mars/1603", true)], dryRun)
        assert.strictEqual(code, 0)
        assert.match(stdout, /\n {2}1 feed left out in part, as in an earlier run: gov-mars\/1603$/)
        assert.deepStrictEqual(
          logs.filter((line) => line.startsWith("Warn")),
          [`Warn: 1 feed of example read only in part; nothing else was new.\n${reasons}`]
        )
      })
    )
    itLive(`exits with 4 if a feed has new rejects: ${kind}`, () =>
      Effect.gen(function* () {
        const left_out = [inPart("gov-mars/1602", true), inPart("gov-mars/1603", false)]
        const { code, stdout } = yield* runPipeline(left_out, dryRun)
        assert.strictEqual(code, 4)
        assert.notInclude(stdout, "left out in part")
      })
    )
  }
  itLive("prints and logs nothing with --quiet if it exits with 0, and fails with its message otherwise", (logs) =>
    Effect.gen(function* () {
      const known = yield* runPipeline([inPart("gov-mars/1603", true)], true, true)
      const failed = yield* runPipeline([inPart("gov-mars/1603", false)], true, true)
      assert.deepStrictEqual(
        [known, failed],
        [
          { code: 0, stdout: "" },
          { code: 4, stdout: "" }
        ]
      )
      assert.deepStrictEqual(logs, [])
    })
  )
})
