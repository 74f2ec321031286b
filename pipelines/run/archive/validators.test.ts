import { createHash } from "node:crypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { withClockAhead } from "@larder/test/support/clock-ahead.ts"
import { compressedName, plainName } from "@larder/test/support/pipelines/raw-archive.ts"
import { quick, startUpstream } from "@larder/test/support/pipelines/upstream.ts"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"
import { liveOrigin } from "../origins/live.ts"
import type { SourceRequest } from "../origins/origin.ts"
import { Archive } from "./archive.ts"
import { listArchivedRuns, repeatRun } from "./archived-runs.ts"

const origin = liveOrigin(quick).pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({}))))
const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "larder-raw-" }))

/** A server whose payload may change, with an ETag for each version. */
const startTagged = Effect.gen(function* () {
  const served = { text: "the first version" }
  const tag = () => `"${createHash("sha1").update(served.text).digest("hex")}"`
  const upstream = yield* startUpstream((response, _, { headers, url }) => {
    const etag = tag().replace('"', `"${url}`)
    const isSame = headers["if-none-match"] === etag
    response.writeHead(isSame ? 304 : 200, { etag, "x-wp-total": "7" }).end(isSame ? undefined : served.text)
  })
  const statuses = () =>
    upstream.requests.map(({ headers }) => (headers["if-none-match"] === undefined ? "in full" : "conditional"))
  return { ...upstream, served, statuses }
})

/** A run that publishes: sends these requests, conditional on the payloads of earlier runs. */
const run = (
  folder: string,
  n: number,
  requests: ReadonlyArray<Partial<SourceRequest> & Pick<SourceRequest, "url">>,
  earlierRuns: ReadonlyArray<number>
) =>
  Effect.gen(function* () {
    const archive = yield* Archive
    yield* archive.revalidate(earlierRuns.map((earlier) => `run-${earlier}`))
    const fetched = yield* Effect.forEach(requests, (request) =>
      Effect.gen(function* () {
        const { path, ...line } = yield* archive.fetch({ accept: "*/*", extraValues: ["x-wp-total"], ...request })
        return { ...line, text: yield* textOf(path) }
      })
    )
    yield* archive.recordEnd({ published: `larder-${n}` })
    return fetched
  }).pipe(Effect.provide([Archive.layer({ folder, run_id: `run-${n}`, pipeline: "storefronts", days: null }), origin]))

const textOf = (path: string) => Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(path))

// on the real clock: the servers are real, too
layer(NodeServices.layer, { excludeTestServices: true })("a payload that an earlier run fetched", (it) => {
  it.effect("is requested conditionally; a 304 returns the archived bytes and headers", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startTagged
      const [first] = yield* run(folder, 1, [upstream], [])
      const [second] = yield* run(folder, 2, [upstream], [1])
      assert.deepStrictEqual(upstream.statuses(), ["in full", "conditional"])
      assert.strictEqual(second?.text, "the first version")
      assert.deepStrictEqual(second, {
        ...first,
        run_id: "run-2",
        status: 304,
        fetched_at: second?.fetched_at,
        received_at: first?.fetched_at
      } as typeof second)
      assert.deepStrictEqual(second?.extra_values, { "x-wp-total": "7" })
    })
  )

  it.effect("is replaced by a newer payload, whose validators the next run sends", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startTagged
      yield* run(folder, 1, [upstream], [])
      upstream.served.text = "the second version"
      yield* run(folder, 2, [upstream], [1])
      const [third] = yield* run(folder, 3, [upstream], [2, 1])
      assert.deepStrictEqual([third?.status, third?.bytes], [304, "the second version".length])
    })
  )

  it.effect("is identified by its full URL: a different query string is requested without validators", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startTagged
      const pages = [1, 2].map((page) => ({ url: `${upstream.url}/products?page=${page}` }))
      yield* run(folder, 1, pages.slice(0, 1), [])
      yield* run(folder, 2, pages, [1])
      assert.deepStrictEqual(upstream.statuses(), ["in full", "conditional", "in full"])
    })
  )

  it.effect.each(
    (["plain", "compressed"] as const).flatMap((form) => ["missing", "damaged"].map((fault) => [form, fault] as const))
  )("is requested in full and stored again if its %s file is %s", ([form, fault]) =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const upstream = yield* startTagged
      const text = form === "plain" ? "the first version" : "the first version ".repeat(100)
      upstream.served.text = text
      yield* run(folder, 1, [upstream], [])
      const file = `${folder}/${form === "plain" ? plainName(text) : compressedName(text)}`
      const bytes = yield* fs.readFile(file)
      yield* fault === "missing" ? fs.remove(file) : fs.writeFile(file, bytes.with(Math.floor(bytes.length / 2), 1))
      const [second] = yield* run(folder, 2, [upstream], [1])
      const [third] = yield* run(folder, 3, [upstream], [2, 1])
      assert.deepStrictEqual(upstream.statuses(), ["in full", "in full", "conditional"])
      assert.deepStrictEqual([second?.status, second?.text], [200, text])
      assert.deepStrictEqual([third?.status, third?.text], [304, text])
      assert.deepStrictEqual(yield* fs.readFile(file), bytes)
    })
  )

  it.effect("is requested in full a month after it was fetched, even if 304s confirmed it since", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startTagged
      for (const [index, day] of [0, 20, 29, 31, 60].entries()) {
        yield* run(folder, index, [upstream], index === 0 ? [] : [index - 1]).pipe(withClockAhead(`${day} days`))
      }
      assert.deepStrictEqual(upstream.statuses(), ["in full", "conditional", "conditional", "in full", "conditional"])
    })
  )

  it.effect("is requested conditionally if it is a resumable download", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const upstream = yield* startTagged
      const request = { url: upstream.url, resumable: true as const }
      yield* run(folder, 1, [request], [])
      const [second] = yield* run(folder, 2, [request], [1])
      assert.deepStrictEqual(upstream.statuses(), ["in full", "conditional"])
      assert.strictEqual(second?.text, "the first version")
      assert.deepStrictEqual(yield* fs.readDirectory(`${folder}/incoming`), [])
    })
  )

  it.effect("is available when the run that got the 304 is replayed from the archive", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startTagged
      const [first] = yield* run(folder, 1, [upstream], [])
      const [second] = yield* run(folder, 2, [upstream], [1])
      yield* upstream.close
      const runs = yield* listArchivedRuns(folder, "storefronts")
      const archive = { folder, scratch: yield* makeFolder }
      const repeated = yield* Effect.forEach(runs, (archived) =>
        Effect.gen(function* () {
          const { path, ...line } = yield* (yield* Archive).fetch({ url: upstream.url, accept: "*/*" })
          return { ...line, text: yield* textOf(path) }
        }).pipe(Effect.provide(repeatRun(archive, archived)))
      )
      assert.deepStrictEqual(repeated, [first, second] as typeof repeated)
    })
  )

  it.effect("is requested in full if its run's fetch list is missing", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startTagged
      yield* run(folder, 2, [upstream], [1])
      assert.deepStrictEqual(upstream.statuses(), ["in full"])
    })
  )
})
