import { spawn } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import type { ServerResponse } from "node:http"
import { hostname } from "node:os"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { readPayloads } from "@larder/test/support/pipelines/raw-archive.ts"
import { quick, type ReceivedRequest, startUpstream } from "@larder/test/support/pipelines/upstream.ts"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"
import { liveOrigin } from "../origins/live.ts"
import { AnswerTooLarge, UpstreamUnavailable } from "../origins/origin.ts"
import { Archive } from "./archive.ts"

const payload = randomBytes(300_000)
const half = 150_000
const sha256 = createHash("sha256").update(payload).digest("hex")

const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "larder-raw-" }))

const run = (folder: string, url: string, maxBytes = 1 << 20) =>
  Archive.use((archive) => archive.fetch({ url, accept: "*/*", resumable: true, maxBytes })).pipe(
    Effect.provide([
      Archive.layer({ folder, run_id: "run-1", pipeline: "branded-foods", days: null }),
      liveOrigin({ ...quick, maxAttempts: 2 }).pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({})))
      )
    ])
  )

const listIncoming = (folder: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readDirectory(`${folder}/incoming`))

const readRangeStart = ({ headers }: Pick<ReceivedRequest, "headers">) =>
  /^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1]

interface Served {
  readonly body?: Buffer
  readonly validators?: Readonly<Record<string, string>>
  /** Breaks the connection after this many bytes of the response. */
  readonly upTo?: number
}

/** Serves ranges by the rules of HTTP. */
const serve = (
  response: ServerResponse,
  request: ReceivedRequest,
  { body = payload, validators = { etag: '"v1"' }, upTo }: Served = {}
) => {
  const from = Number(readRangeStart(request) ?? 0)
  const isSame = Object.values(validators).includes(String(request.headers["if-range"]))
  const rest = body.subarray(isSame ? from : 0)
  const range = { "content-range": `bytes ${from}-${body.length - 1}/${body.length}` }
  response.writeHead(isSame ? 206 : 200, { ...validators, "content-length": rest.length, ...(isSame ? range : {}) })
  if (upTo === undefined) response.end(rest)
  else response.write(rest.subarray(0, upTo), () => setTimeout(() => response.destroy(), 20)) // or the last piece is lost
}

// on the real clock: the servers are real, too
layer(NodeServices.layer, { excludeTestServices: true })("a download that broke off", (it) => {
  it.effect("resumes in the same run, with the hash of the whole payload", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response, n, request) =>
        serve(response, request, n === 1 ? { upTo: half } : {})
      )
      const raw = yield* run(folder, upstream.url)
      assert.deepStrictEqual([raw.sha256, raw.bytes, raw.status], [sha256, payload.length, 206])
      assert.deepStrictEqual(readPayloads(folder), [payload])
      const [first, second] = upstream.requests
      assert.isUndefined(first?.headers.range)
      assert.strictEqual(first?.headers["accept-encoding"], "identity")
      assert.deepStrictEqual([second?.headers.range, second?.headers["if-range"]], [`bytes=${half}-`, '"v1"'])
      assert.deepStrictEqual(yield* listIncoming(folder), [])
    })
  )

  it.effect("resumes in a later run, by Last-Modified if it has no strong ETag", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const modified = "Thu, 30 Apr 2026 12:00:00 GMT"
      const validators = { etag: 'W/"v1"', "last-modified": modified }
      const upstream = yield* startUpstream((response, n, request) =>
        serve(response, request, n <= 2 ? { validators, upTo: 100_000 } : { validators })
      )
      assert.instanceOf(yield* Effect.flip(run(folder, upstream.url)), UpstreamUnavailable)
      assert.lengthOf(yield* listIncoming(folder), 1)
      assert.strictEqual((yield* run(folder, upstream.url)).sha256, sha256)
      assert.deepStrictEqual(upstream.requests.map(readRangeStart), [undefined, "100000", "200000"])
      assert.strictEqual(upstream.requests[2]?.headers["if-range"], modified)
      assert.deepStrictEqual(yield* listIncoming(folder), [])
    })
  )

  it.effect("resumes after the process was killed", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response, n, request) => {
        if (n > 1) return serve(response, request)
        response.writeHead(200, { etag: '"v1"', "content-length": payload.length })
        response.write(payload.subarray(0, half)) // and then nothing more
      })
      const script = `
        import * as NodeServices from "@effect/platform-node/NodeServices"
        import { Effect } from "effect"
        import { Archive } from "./archive.ts"
        import { liveOrigin } from "../origins/live.ts"
        const [folder, url] = process.argv.slice(1)
        const layers = [Archive.layer({ folder, run_id: "run-0", pipeline: "branded-foods", days: null }), liveOrigin(), NodeServices.layer]
        const fetch = Archive.use((archive) => archive.fetch({ url, accept: "*/*", resumable: true }))
        await Effect.runPromise(fetch.pipe(Effect.provide(layers[0]), Effect.provide(layers[1]), Effect.provide(layers[2])))`
      const child = spawn(process.execPath, ["--input-type=module", "-e", script, folder, upstream.url], {
        cwd: import.meta.dirname,
        stdio: "ignore"
      })
      const ended = new Promise((done) => child.once("exit", (_, signal) => done(signal)))
      const fs = yield* FileSystem.FileSystem
      const received = Effect.gen(function* () {
        const [part] = yield* listIncoming(folder)
        return Number((yield* fs.stat(`${folder}/incoming/${part}/body`)).size)
      }).pipe(Effect.orElseSucceed(() => 0))
      while ((yield* received) < half && child.exitCode === null) yield* Effect.sleep("20 millis")
      child.kill("SIGKILL")
      assert.strictEqual(yield* Effect.promise(() => ended), "SIGKILL")
      assert.strictEqual((yield* run(folder, upstream.url)).sha256, sha256)
      assert.strictEqual(readRangeStart(upstream.requests[1] ?? { headers: {} }), String(half))
      assert.deepStrictEqual(yield* listIncoming(folder), [])
    })
  )

  it.effect("is discarded if it is oversized", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response) => {
        response.writeHead(200, { etag: '"v1"' }) // without its length
        response.write(payload.subarray(0, 100_000), () => setTimeout(() => response.end(payload), 50)) // in two pieces
      })
      const error = yield* Effect.flip(run(folder, upstream.url, half))
      assert.instanceOf(error, AnswerTooLarge)
      assert.deepStrictEqual(yield* listIncoming(folder), [])
    })
  )

  it.effect("requests its last byte if it was complete", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const upstream = yield* startUpstream((response, n, request) =>
        serve(response, request, n <= 2 ? { upTo: 9 } : {})
      )
      yield* Effect.flip(run(folder, upstream.url))
      const [part] = yield* listIncoming(folder)
      yield* fs.writeFile(`${folder}/incoming/${part}/body`, payload)
      assert.strictEqual((yield* run(folder, upstream.url)).sha256, sha256)
      assert.strictEqual(readRangeStart(upstream.requests[2] ?? { headers: {} }), String(payload.length - 1))
    })
  )

  const newer = randomBytes(1000)
  const wrongRange = (response: ServerResponse) => {
    response.writeHead(206, { etag: '"v1"', "content-range": `bytes 7-${payload.length - 1}/${payload.length}` })
    response.end(payload.subarray(7))
  }
  it.effect.each([
    [
      "another payload with a new ETag",
      (response: ServerResponse) => response.writeHead(200, { etag: '"v2"' }).end(newer),
      newer,
      2
    ],
    [
      "the whole payload, because the server does not support ranges",
      (response: ServerResponse) => response.writeHead(200).end(payload),
      payload,
      2
    ],
    ["a refusal with 416", (response: ServerResponse) => response.writeHead(416).end(), payload, 3],
    ["a part that was not requested", wrongRange, payload, 3],
    [
      "a part with another ETag despite If-Range",
      (response: ServerResponse) =>
        response.writeHead(206, { etag: '"v2"', "content-range": `bytes ${half}-999999/1000000` }).end(newer),
      payload,
      3
    ]
  ] as const)("starts again if the response to the resumed request is %s", ([, respond, expected, requests]) =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response, n, request) => {
        if (n === 2) respond(response)
        else serve(response, request, n === 1 ? { upTo: half } : {})
      })
      yield* run(folder, upstream.url)
      assert.deepStrictEqual(readPayloads(folder), [expected])
      assert.lengthOf(upstream.requests, requests)
      assert.isUndefined(requests === 3 ? upstream.requests[2]?.headers.range : undefined)
      assert.deepStrictEqual(yield* listIncoming(folder), [])
    })
  )

  it.effect("starts again, and is discarded, if it has neither a strong ETag nor Last-Modified", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response, n, request) =>
        serve(response, request, { validators: { etag: 'W/"v1"' }, ...(n <= 3 ? { upTo: half } : {}) })
      )
      yield* Effect.flip(run(folder, upstream.url))
      assert.deepStrictEqual(yield* listIncoming(folder), [])
      assert.strictEqual((yield* run(folder, upstream.url)).sha256, sha256)
      assert.deepStrictEqual(upstream.requests.map(readRangeStart), [undefined, undefined, undefined, undefined])
    })
  )

  it.effect("is not resumed by another run while it is being written", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response, _, request) => {
        response.once("close", () => undefined)
        setTimeout(() => serve(response, request), 50)
      })
      const raws = yield* Effect.all([run(folder, upstream.url), run(folder, upstream.url)], { concurrency: 2 })
      assert.deepStrictEqual(
        raws.map((raw) => raw.sha256),
        [sha256, sha256]
      )
      assert.deepStrictEqual(upstream.requests.map(readRangeStart), [undefined, undefined])
      assert.deepStrictEqual(yield* listIncoming(folder), [])
    })
  )

  it.effect("is removed a week after its last write", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const part = (machine: string, pid: number, digit: string) =>
        `${"a".repeat(32)}.${machine}.${pid}.${digit.repeat(8)}-0000-4000-8000-000000000000.resumable`
      const parts = [
        [part("elsewhere", 1, "1"), 8],
        [part(hostname(), 4_194_305, "2"), 8],
        [part(hostname(), 4_194_305, "3"), 6],
        [part(hostname(), process.ppid, "4"), 0]
      ] as const
      for (const [name, days] of parts) {
        yield* fs.makeDirectory(`${folder}/incoming/${name}`, { recursive: true })
        yield* fs.writeFileString(`${folder}/incoming/${name}/body`, "half")
        const lastWrite = Date.now() / 1000 - days * 86_400 - 60
        yield* fs.utimes(`${folder}/incoming/${name}/body`, lastWrite, lastWrite)
      }
      const upstream = yield* startUpstream((response) => response.end("small"))
      yield* run(folder, upstream.url)
      assert.sameMembers(yield* listIncoming(folder), [parts[2][0], parts[3][0]])
    })
  )
})

layer(NodeServices.layer, { excludeTestServices: true })("the declared length", (it) => {
  it.effect("fails a resumed download that ends too early", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response, _, request) => {
        if (readRangeStart(request) === undefined) return serve(response, request, { upTo: half })
        response.writeHead(206, {
          etag: '"v1"',
          "content-range": `bytes ${half}-${payload.length - 1}/${payload.length}`
        })
        response.end(payload.subarray(half, half + 10)) // in chunks, so the length is not known from the connection
      })
      const error = yield* Effect.flip(run(folder, upstream.url))
      assert.instanceOf(error, UpstreamUnavailable)
      assert.include(error.message, `the body has ${half + 10} bytes, and ${payload.length} were declared`)
    })
  )
})
