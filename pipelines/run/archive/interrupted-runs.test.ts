import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { plainName } from "@larder/test/support/pipelines/raw-archive.ts"
import { startUpstream } from "@larder/test/support/pipelines/upstream.ts"
import { ConfigProvider, Effect, FileSystem, Layer, Schema } from "effect"
import { liveOrigin } from "../origins/live.ts"
import { replayOrigin } from "../origins/replay.ts"
import { Archive } from "./archive.ts"
import { Fetch } from "./fetch-list.ts"

const live = liveOrigin({ interval: 0, initialPause: "1 millis", initialBackoff: "1 millis" }).pipe(
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({})))
)
const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "larder-raw-" }))
const decodeLine = Schema.decodeUnknownSync(Schema.fromJsonString(Fetch))

const idOf = (n: number, pipeline = "shops") => `2026-${n}-${pipeline}-run`
const listOf = (folder: string, n: number, pipeline?: string) => `${folder}/fetches/${idOf(n, pipeline)}.ndjson`

/** Runs a pipeline for the `n`th time, and returns the bodies that it fetches from these addresses, one after the other. */
const runPipeline = (
  folder: string,
  n: number,
  urls: ReadonlyArray<string>,
  {
    end = () => Effect.void,
    origin = live,
    ...about
  }: {
    readonly end?: (archive: Archive["Service"]) => Effect.Effect<void, unknown>
    readonly origin?: typeof live | ReturnType<typeof replayOrigin>
    readonly pipeline?: string
    readonly resumesRuns?: boolean
  } = {}
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const archive = yield* Archive
    const bodies = yield* Effect.forEach(urls, (url) =>
      Effect.flatMap(archive.fetch({ url, accept: "*/*" }), ({ path }) => fs.readFileString(path))
    )
    yield* Effect.orDie(end(archive))
    return bodies
  }).pipe(
    Effect.provide([
      Archive.layer({
        folder,
        run_id: idOf(n, about.pipeline),
        pipeline: about.pipeline ?? "shops",
        days: null,
        resumesRuns: about.resumesRuns ?? true
      }),
      origin
    ])
  )

const linesOf = Effect.fnUntraced(function* (folder: string, n: number) {
  const fs = yield* FileSystem.FileSystem
  return (yield* fs.readFileString(listOf(folder, n))).trimEnd().split("\n")
})

/** Responds with the path and the number of requests for it so far. */
const startCounting = Effect.gen(function* () {
  const counts = new Map<string, number>()
  return yield* startUpstream((response, _, { url }) => {
    counts.set(url, (counts.get(url) ?? 0) + 1)
    response.end(`${url} ${counts.get(url)}`)
  })
})

// on the real clock: the servers are real, too
layer(NodeServices.layer, { excludeTestServices: true })("a run after an interrupted one", (it) => {
  it.effect("reuses each of its payloads once, in order, and requests the others", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const { requests, url } = yield* startCounting
      yield* runPipeline(folder, 1, [`${url}/a`, `${url}/b`, `${url}/a`])
      const bodies = yield* runPipeline(folder, 2, [`${url}/a`, `${url}/c`, `${url}/a`, `${url}/a`, `${url}/b`])
      assert.deepStrictEqual(bodies, ["/a 1", "/c 1", "/a 2", "/a 3", "/b 1"])
      assert.deepStrictEqual(
        requests.slice(3).map((request) => request.url),
        ["/c", "/a"]
      )
    })
  )

  it.effect("lists reused payloads as its own, with their time and the run that fetched them", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const { url } = yield* startCounting
      yield* runPipeline(folder, 1, [`${url}/a`])
      yield* runPipeline(folder, 2, [`${url}/a`, `${url}/b`])
      yield* runPipeline(folder, 3, [`${url}/a`, `${url}/b`])
      const [[first], third] = yield* Effect.all([linesOf(folder, 1), linesOf(folder, 3)])
      const fetched = decodeLine(first)
      assert.deepStrictEqual(decodeLine(third[0]), { ...fetched, run_id: idOf(3), taken_from: idOf(1) })
      assert.deepInclude(decodeLine(third[1]), { run_id: idOf(3), taken_from: idOf(2) })
    })
  )

  it.effect("reuses a payload only once, even if two earlier runs list it", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const { url } = yield* startCounting
      yield* runPipeline(folder, 1, [`${url}/a`])
      yield* runPipeline(folder, 2, [`${url}/a`])
      assert.deepStrictEqual(yield* runPipeline(folder, 3, [`${url}/a`, `${url}/a`]), ["/a 1", "/a 2"])
    })
  )

  it.effect("reads a list whose last line was truncated", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const { url } = yield* startCounting
      yield* runPipeline(folder, 1, [`${url}/a`])
      yield* fs.writeFileString(listOf(folder, 1), '{"run_id":"2026-1-sh', { flag: "a" })
      assert.deepStrictEqual(yield* runPipeline(folder, 2, [`${url}/a`]), ["/a 1"])
    })
  )

  it.effect("requests a damaged payload again", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const { url } = yield* startCounting
      yield* runPipeline(folder, 1, [`${url}/a`, `${url}/b`])
      yield* fs.writeFileString(`${folder}/${plainName("/a 1")}`, "/a")
      assert.deepStrictEqual(yield* runPipeline(folder, 2, [`${url}/a`, `${url}/b`]), ["/a 2", "/b 1"])
    })
  )

  it.effect("does not reuse payloads that are older than six hours or dated in the future", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const { url } = yield* startCounting
      yield* runPipeline(folder, 1, [`${url}/a`, `${url}/b`, `${url}/c`])
      const [a = "", b = "", c = ""] = yield* linesOf(folder, 1)
      const aged = (line: string, age: number) =>
        JSON.stringify({ ...decodeLine(line), fetched_at: new Date(Date.now() - age).toISOString() })
      const hour = 3_600_000
      yield* fs.writeFileString(listOf(folder, 1), `${aged(a, 6 * hour)}\n${aged(b, 5.9 * hour)}\n${aged(c, -hour)}\n`)
      assert.deepStrictEqual(yield* runPipeline(folder, 2, [`${url}/a`, `${url}/b`, `${url}/c`]), [
        "/a 2",
        "/b 1",
        "/c 2"
      ])
    })
  )

  it.effect.each([
    ["ended without publishing", { end: (archive: Archive["Service"]) => archive.recordEnd({ ended: "failed" }) }],
    ["published", { end: (archive: Archive["Service"]) => archive.recordEnd({ published: "larder-000001" }) }],
    ["is of another pipeline", { pipeline: "prices" }]
  ] as const)("reuses no payload of a run that %s", ([, about]) =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const { url } = yield* startCounting
      yield* runPipeline(folder, 1, [`${url}/a`], about)
      assert.deepStrictEqual(yield* runPipeline(folder, 2, [`${url}/a`]), ["/a 2"])
    })
  )

  it.effect("reuses no payload of runs before one that published", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const { url } = yield* startCounting
      yield* runPipeline(folder, 1, [`${url}/a`])
      yield* runPipeline(folder, 2, [`${url}/b`], {
        end: (archive) => archive.recordEnd({ published: "larder-000001" })
      })
      yield* runPipeline(folder, 3, [`${url}/c`])
      const bodies = yield* runPipeline(folder, 4, [`${url}/a`, `${url}/b`, `${url}/c`])
      assert.deepStrictEqual(bodies, ["/a 2", "/b 2", "/c 1"])
    })
  )

  it.effect("reuses neither recordings nor payloads of a pipeline that does not resume", () =>
    Effect.gen(function* () {
      const [folder, recordings] = [yield* makeFolder, yield* makeFolder]
      const fs = yield* FileSystem.FileSystem
      const { url } = yield* startCounting
      yield* fs.makeDirectory(`${recordings}/${new URL(url).host}`)
      yield* fs.writeFileString(`${recordings}/${new URL(url).host}/a`, "recorded")
      const origin = replayOrigin(recordings)
      assert.deepStrictEqual(yield* runPipeline(folder, 1, [`${url}/a`], { origin }), ["recorded"])
      assert.deepStrictEqual(yield* runPipeline(folder, 2, [`${url}/a`]), ["/a 1"])
      assert.deepStrictEqual(yield* runPipeline(folder, 3, [`${url}/a`], { origin }), ["recorded"])
      assert.deepStrictEqual(yield* runPipeline(folder, 4, [`${url}/a`], { resumesRuns: false }), ["/a 2"])
    })
  )
})
