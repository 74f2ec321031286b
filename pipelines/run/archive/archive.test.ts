import { createHash } from "node:crypto"
import { gzipSync } from "node:zlib"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { plainName } from "@larder/test/support/pipelines/raw-archive.ts"
import { startUpstream } from "@larder/test/support/pipelines/upstream.ts"
import { ConfigProvider, type Duration, Effect, Fiber, FileSystem, Layer, Path, Redacted, Schema } from "effect"
import { liveOrigin } from "../origins/live.ts"
import { AccessDenied, AnswerTooLarge, GivenUp, NotRecorded, RefusedRequest } from "../origins/origin.ts"
import { replayOrigin } from "../origins/replay.ts"
import { Archive } from "./archive.ts"
import { ArchiveUnwritable, Fetch } from "./fetch-list.ts"

const live = liveOrigin({ interval: 0, initialPause: "1 millis", initialBackoff: "1 millis" }).pipe(
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({})))
)
const sha256Of = (text: string) => createHash("sha256").update(text).digest("hex")
const decodeLine = Schema.decodeUnknownSync(Schema.fromJsonString(Fetch), { onExcessProperty: "error" })
const decodeRefused = Schema.decodeUnknownSync(Schema.fromJsonString(RefusedRequest), { onExcessProperty: "error" })

const makeFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "larder-raw-" }))
const archiveIn = (folder: string, more: Partial<Parameters<typeof Archive.layer>[0]> = {}) =>
  Archive.layer({ folder, run_id: "run-1", pipeline: "commodities", days: null, ...more })
const fetchText = (url: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const raw = yield* fetch(url)
    return { raw, text: yield* fs.readFileString(raw.path) }
  })
const fetch = (url: string, accept = "application/json") => Archive.use((archive) => archive.fetch({ url, accept }))

/** All files in the archive, without folders. */
const filesIn = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* fs.readDirectory(folder, { recursive: true })
  const files = yield* Effect.filter(names, (name) =>
    Effect.map(fs.stat(path.join(folder, name)), ({ type }) => type === "File")
  )
  return files.sort()
})

const linesOf = Effect.fnUntraced(function* (folder: string, run_id = "run-1") {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(`${folder}/fetches/${run_id}.ndjson`)
  return text.trimEnd().split("\n")
})

// uses the real clock, because the HTTP servers are real
layer(NodeServices.layer, { excludeTestServices: true })("the raw archive", (it) => {
  it.effect("stores the payload under its SHA-256, and records how it was fetched", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response) =>
        response.writeHead(200, { "content-type": "application/json", etag: '"v1"' }).end('{"results":[]}')
      )
      const { raw, text } = yield* fetchText(`${upstream.url}/1603?q=a`).pipe(Effect.provide([archiveIn(folder), live]))
      const sha256 = sha256Of('{"results":[]}')
      const file = `${sha256.slice(0, 2)}/${sha256}`
      assert.deepStrictEqual(yield* filesIn(folder), [file, "fetches/run-1.ndjson"].sort())
      const fs = yield* FileSystem.FileSystem
      assert.strictEqual(text, '{"results":[]}')
      assert.strictEqual(yield* fs.readFileString(`${folder}/${file}`), text)
      assert.match(raw.fetched_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      const { path, ...listed } = raw
      assert.isFalse(yield* fs.exists(path)) // a temporary copy that belonged to the run
      assert.deepStrictEqual(
        (yield* linesOf(folder)).map((line) => decodeLine(line)),
        [listed]
      )
      assert.deepStrictEqual(listed, {
        run_id: "run-1",
        pipeline: "commodities",
        days: null,
        origin: "live",
        url: `${upstream.url}/1603?q=a`,
        final_url: `${upstream.url}/1603?q=a`,
        status: 200,
        content_type: "application/json",
        etag: '"v1"',
        last_modified: null,
        exact: true,
        fetched_at: raw.fetched_at,
        sha256,
        bytes: 14
      })
    })
  )

  it.effect("stores the requested response headers", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response) => response.writeHead(200, { "x-wp-total": "151" }).end("[]"))
      const request = { url: upstream.url, accept: "*/*", extraValues: ["x-wp-total", "x-wp-totalpages"] }
      const raw = yield* Archive.use((archive) => archive.fetch(request)).pipe(
        Effect.provide([archiveIn(folder), live])
      )
      const [line = ""] = yield* linesOf(folder)
      assert.deepStrictEqual(
        [raw.extra_values, decodeLine(line).extra_values],
        [{ "x-wp-total": "151" }, { "x-wp-total": "151" }]
      )
    })
  )

  it.effect.each([
    ["declares more bytes than maxBytes", { "content-length": "1001" }, Buffer.alloc(1001)],
    ["sends more bytes than maxBytes", {}, Buffer.alloc(1001)],
    ["decompresses to more bytes than maxBytes", { "content-encoding": "gzip" }, gzipSync(Buffer.alloc(1001))]
  ] as const)("discards a response that %s, and does not retry", ([, headers, body]) =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response) => response.writeHead(200, headers).end(body))
      const request = { url: upstream.url, accept: "*/*", maxBytes: 1000 }
      const fetching = Archive.use((archive) => archive.fetch(request)).pipe(Effect.provide([archiveIn(folder), live]))
      const error = yield* Effect.flip(fetching)
      assert.instanceOf(error, AnswerTooLarge)
      assert.strictEqual(error.message, `GET ${upstream.url} was aborted: the response is larger than 1,000 bytes.`)
      assert.lengthOf(upstream.requests, 1)
      assert.deepStrictEqual(yield* filesIn(folder), ["fetches/run-1.ndjson"])
    })
  )

  it.effect("records a refusal and its reason, without its body", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response) => response.writeHead(404).end("<title>Gone</title>"))
      const brokenUpstream = yield* startUpstream((response) =>
        response.write("the beginning", () => response.destroy())
      )
      const url = `${upstream.url}/1603`
      const [refused, broken] = yield* Effect.all([
        Effect.flip(fetch(url)),
        Effect.flip(fetch(brokenUpstream.url))
      ]).pipe(Effect.provide([archiveIn(folder), live]))
      const [first, second] = (yield* linesOf(folder)).map((line) => decodeRefused(line))
      assert.match(first?.refused_at ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepStrictEqual(
        { ...first, refused_at: "" },
        { run_id: "run-1", pipeline: "commodities", url, refused_at: "", refusal: refused }
      )
      assert.deepStrictEqual([second?.refusal._tag, second?.refusal.message], ["UpstreamUnavailable", broken.message])
      assert.notProperty(second?.refusal, "cause")
      assert.deepStrictEqual(yield* filesIn(folder), ["fetches/run-1.ndjson"])
    })
  )

  it.effect("records the URL of an unreadable recording, not its path", () =>
    Effect.gen(function* () {
      const [folder, recordings] = [yield* makeFolder, yield* makeFolder]
      const fs = yield* FileSystem.FileSystem
      yield* fs.makeDirectory(`${recordings}/mars.test`)
      yield* fs.writeFileString(`${recordings}/mars.test/1603.gz`, "not gzip")
      const url = "https://mars.test/1603"
      yield* Effect.flip(fetch(url)).pipe(Effect.provide([archiveIn(folder), replayOrigin(recordings)]))
      const [line = ""] = yield* linesOf(folder)
      const { refusal } = decodeRefused(line)
      assert.notInclude(line, recordings)
      assert.include(refusal.message, `The recording ${url} cannot be read: Z_DATA_ERROR.`)
    })
  )

  it.effect("fails when the time budget runs out, and records the failure", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response) => response.write("the beginning"))
      const { url } = upstream
      const error = new GivenUp({ url, reason: "budget", problem: "it took too long" })
      const fetchWithin = (remaining: Duration.Input) =>
        Archive.use((archive) => Effect.flip(archive.fetch({ url, accept: "*/*", timeLimit: { remaining, error } })))
      const errors = yield* Effect.all([fetchWithin("50 millis"), fetchWithin(0)]).pipe(
        Effect.provide([archiveIn(folder), live])
      )
      assert.deepStrictEqual(errors, [error, error])
      assert.isAtMost(upstream.requests.length, 1)
      assert.deepStrictEqual(
        (yield* linesOf(folder)).map((line) => decodeRefused(line).refusal),
        [error, error]
      )
    })
  )

  it.effect("accepts a response of exactly the maximum size", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response) => response.end(Buffer.alloc(1000)))
      const request = { url: upstream.url, accept: "*/*", maxBytes: 1000 }
      const raw = yield* Archive.use((archive) => archive.fetch(request)).pipe(
        Effect.provide([archiveIn(folder), live])
      )
      assert.strictEqual(raw.bytes, 1000)
    })
  )

  it.effect("stores the same content once and lists every fetch of it", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const upstream = yield* startUpstream((response) => response.end("same"))
      const run = Effect.forEach(["/1", "/2", "/3"], (path) => fetch(upstream.url + path), { concurrency: 3 })
      const [first] = yield* run.pipe(Effect.provide([archiveIn(folder), live]))
      assert.strictEqual(first?.sha256, sha256Of("same"))
      const stored = `${folder}/${plainName("same")}`
      const before = yield* fs.stat(stored)
      yield* run.pipe(Effect.provide([archiveIn(folder, { run_id: "run-2" }), live]))
      const after = yield* fs.stat(stored)
      assert.deepStrictEqual(after.ino, before.ino)
      const lists = ["fetches/run-1.ndjson", "fetches/run-2.ndjson"]
      assert.deepStrictEqual(yield* filesIn(folder), [plainName("same"), ...lists].sort())
      const urls = (yield* linesOf(folder, "run-2")).map((line) => decodeLine(line).url)
      assert.sameMembers(
        urls,
        ["/1", "/2", "/3"].map((path) => upstream.url + path)
      )
    })
  )

  it.effect("rewrites a truncated file", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const upstream = yield* startUpstream((response) => response.end("whole"))
      const file = `${folder}/${plainName("whole")}`
      yield* fs.makeDirectory(file.slice(0, file.lastIndexOf("/")))
      yield* fs.writeFileString(file, "who")
      const { text } = yield* fetchText(upstream.url).pipe(Effect.provide([archiveIn(folder), live]))
      assert.deepStrictEqual([text, yield* fs.readFileString(file)], ["whole", "whole"])
    })
  )

  it.effect("flushes a payload, its folder and the archive before the list names it", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const upstream = yield* startUpstream((response) => response.end("text ".repeat(100)))
      const calls: Array<string> = []
      const record = (call: string, path: string) =>
        Effect.sync(() => void calls.push(`${call} ${path.replace(folder, "").replace(/incoming.*\//, "incoming/")}`))
      const recordingFileSystem = FileSystem.FileSystem.of({
        ...fs,
        rename: (from, to) => Effect.tap(fs.rename(from, to), () => record("rename to", to)),
        open: (path, options) =>
          Effect.map(fs.open(path, options), (file) =>
            Object.create(file, {
              sync: { value: Effect.tap(file.sync, () => record("flush", path)) },
              writeAll: { value: (bytes: Uint8Array) => Effect.tap(file.writeAll(bytes), () => record("write", path)) }
            })
          )
      })
      yield* Effect.andThen(
        fetch(upstream.url),
        Archive.use(({ flush }) => flush)
      ).pipe(
        Effect.provide([archiveIn(folder), live]),
        Effect.provideService(FileSystem.FileSystem, recordingFileSystem)
      )
      const sha256 = sha256Of("text ".repeat(100))
      const shard = `/${sha256.slice(0, 2)}`
      const home = folder.slice(0, folder.lastIndexOf("/"))
      const list = "/fetches/run-1.ndjson"
      const flushed = calls.findIndex((call) => call.startsWith("flush"))
      assert.match(calls[flushed] ?? "", /^flush \/incoming\/[0-9a-f]{64}\.[0-9a-f-]{36}\.zst$/)
      assert.deepStrictEqual(calls.slice(flushed + 1), [
        `rename to ${shard}/${sha256}.zst`,
        `flush ${shard}`,
        "flush ",
        `write ${list}`,
        `flush ${list}`,
        "flush /fetches",
        "flush ",
        `flush ${home}`
      ])
    })
  )

  it.effect("stores the complete payload if the first attempt was cut off", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response, n) => {
        response.writeHead(200, { "content-length": "12" })
        if (n === 1) response.write("half", () => response.destroy())
        else response.end("half and all")
      })
      const raw = yield* fetch(upstream.url).pipe(Effect.provide([archiveIn(folder), live]))
      const file = `${raw.sha256.slice(0, 2)}/${raw.sha256}`
      assert.strictEqual(raw.sha256, sha256Of("half and all"))
      assert.deepStrictEqual(yield* filesIn(folder), [file, "fetches/run-1.ndjson"].sort())
      assert.lengthOf(yield* linesOf(folder), 1)
    })
  )

  it.effect("discards an interrupted fetch", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      const upstream = yield* startUpstream((response) => response.write("the beginning"))
      const arrived = Promise.withResolvers<void>()
      const onBytes = () => Effect.sync(() => arrived.resolve())
      const running = yield* fetch(upstream.url).pipe(
        Effect.provide([archiveIn(folder, { onBytes }), live]),
        Effect.forkChild
      )
      yield* Effect.promise(() => arrived.promise)
      assert.lengthOf(yield* fs.readDirectory(`${folder}/incoming`), 1)
      yield* Fiber.interrupt(running)
      assert.deepStrictEqual(yield* filesIn(folder), [])
    })
  )

  it.effect("stores neither the body of a 403 response nor the key", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response, n) => response.writeHead(n === 1 ? 200 : 403).end("a response"))
      const basicUser = Redacted.make("s3cret-mars-key")
      const request = { url: upstream.url, accept: "*/*", basicUser, keyVariable: "MARS_API_KEY" }
      const error = yield* Archive.use((archive) =>
        Effect.andThen(archive.fetch(request), Effect.flip(archive.fetch({ ...request, url: `${upstream.url}/2` })))
      ).pipe(Effect.provide([archiveIn(folder), live]))
      assert.instanceOf(error, AccessDenied)
      const lines = yield* linesOf(folder)
      assert.lengthOf(lines, 2)
      assert.notInclude(lines.join(), "s3cret")
      assert.notInclude(lines.join(), Buffer.from("s3cret-mars-key:").toString("base64"))
      assert.lengthOf(yield* filesIn(folder), 2)
    })
  )

  it.effect("archives recordings like network responses, and marks a recording of a different query as inexact", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const recordings = yield* makeFolder
      const fs = yield* FileSystem.FileSystem
      yield* fs.makeDirectory(`${recordings}/mars.test`)
      yield* fs.writeFileString(`${recordings}/mars.test/1603`, "recorded")
      const [raw, missing] = yield* Effect.all([
        fetch("https://mars.test/1603?q=2026"),
        Effect.flip(fetch("https://mars.test/1604"))
      ]).pipe(Effect.provide([archiveIn(folder), replayOrigin(recordings)]))
      assert.deepStrictEqual([raw.origin, raw.exact, raw.sha256], ["replay", false, sha256Of("recorded")])
      assert.instanceOf(missing, NotRecorded)
    })
  )

  it.effect("reports received bytes as they arrive", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder
      const upstream = yield* startUpstream((response) => response.end("x".repeat(300_000)))
      let bytes = 0
      const onBytes = (more: number) =>
        Effect.sync(() => {
          bytes += more
        })
      yield* fetch(upstream.url).pipe(Effect.provide([archiveIn(folder, { onBytes }), live]))
      assert.strictEqual(bytes, 300_000)
    })
  )

  it.effect("names the folder and the cause if the archive is not writable", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = `${yield* makeFolder}/raw`
      yield* fs.writeFileString(folder, "a file where the folder should be")
      const error = yield* Effect.flip(Archive.pipe(Effect.provide(archiveIn(folder))))
      assert.instanceOf(error, ArchiveUnwritable)
      assert.match(
        error.message,
        /^The folder of payloads \S+\/raw cannot be written: .*Check permissions, and run again\.$/
      )
    })
  )
})
