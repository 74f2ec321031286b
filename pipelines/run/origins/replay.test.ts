import { gzipSync } from "node:zlib"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { readText } from "@larder/test/support/pipelines/upstream.ts"
import { Effect, FileSystem, Path } from "effect"
import { BundleUnusable } from "./bundle-files.ts"
import { NotRecorded, Origin, RecordingUnreadable } from "./origin.ts"
import { RecordingsMissing, replayOrigin, sampleOrigin } from "./replay.ts"

const reports = "mars.test/services/v1.2/reports"
const url = `https://${reports}`

/** A folder of recordings that contain their own names; those that end in `.gz` are compressed and contain the name without it. */
const record = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-replay-" })
  for (const name of names) {
    const file = path.join(folder, name)
    yield* fs.makeDirectory(path.dirname(file), { recursive: true })
    const isPacked = name.endsWith(".gz")
    yield* fs.writeFile(file, isPacked ? gzipSync(name.slice(0, -3)) : Buffer.from(name))
  }
  return folder
})

const readFrom = (folder: string, address: string) =>
  readText({ url: address }).pipe(
    Effect.map(({ response, text }) => ({ text, exact: response.exact })),
    Effect.provide(replayOrigin(folder))
  )

layer(NodeServices.layer)("a recording", (it) => {
  it.effect("is returned for its address with its bytes, without headers", () =>
    Effect.gen(function* () {
      const folder = yield* record(`${reports}/1603`)
      const { response, text } = yield* readText({ url: `${url}/1603` }).pipe(Effect.provide(replayOrigin(folder)))
      const { body: _, ...about } = response
      assert.strictEqual(text, `${reports}/1603`)
      assert.deepStrictEqual(about, {
        status: 200,
        final_url: `${url}/1603`,
        content_type: null,
        etag: null,
        last_modified: null,
        exact: true,
        from: 0,
        total: `${reports}/1603`.length
      })
    })
  )

  it.effect.each([
    ["the exact query", "1603?q=a%2Fb&x=1", "1603?q=a%2Fb&x=1", true],
    ["a query that contains slashes", "1603?q=begin=09/01/2026:09/30/2026", "1603?q=begin=09/01/2026:09/30/2026", true],
    ["the same parameters in another order", "1603?x=1&q=a%2Fb", "1603?q=a%2Fb&x=1", true],
    ["the same parameters encoded differently", "1603?q=09/01+x,y", "1603?q=09%2F01%20x%2Cy", true],
    ["a query that was not recorded", "1603?q=2026", "1603", false],
    ["a path with encoded spaces and commas", "2993/40%20Pound%2C%20Sales", "2993/40%20Pound%2C%20Sales", true],
    ["a list whose entries are recorded too, as empty query", "reports", "reports?", true],
    ["a path that ends in a slash, with its query", "feed/?page=2", "feed/?page=2", true]
  ] as const)("is returned for %s", ([, path, name, exact]) =>
    Effect.gen(function* () {
      for (const [suffix, others] of [
        ["", [`${reports}/1603?q=other`]],
        [".gz", []]
      ] as const) {
        const folder = yield* record(`${reports}/reports/1`, ...others, `${reports}/${name}${suffix}`)
        assert.deepStrictEqual(yield* readFrom(folder, `${url}/${path}`), { text: `${reports}/${name}`, exact })
      }
    })
  )

  it.effect("is chosen with the exact query first, then with a reordered one, then without a query", () =>
    Effect.gen(function* () {
      const names = [`${reports}/1?a=1&b=2`, `${reports}/1?b=2&a=1.gz`, `${reports}/1`]
      const folder = yield* record(...names)
      const fs = yield* FileSystem.FileSystem
      const texts = []
      for (const name of names) {
        texts.push((yield* readFrom(folder, `${url}/1?a=1&b=2`)).text)
        yield* fs.remove(`${folder}/${name}`)
      }
      assert.deepStrictEqual(texts, [`${reports}/1?a=1&b=2`, `${reports}/1?b=2&a=1`, `${reports}/1`])
    })
  )

  it.effect("may have %3F instead of a question mark in its file name", () =>
    Effect.gen(function* () {
      const names = ["1%3Fa=1&b=2", "2%3Fb=2&a=1.gz", "reports%3F"].map((name) => `${reports}/${name}`)
      const folder = yield* record(...names, `${reports}/1%3Fa=2&b=2`)
      const responses = yield* Effect.forEach(["1?a=1&b=2", "2?a=1&b=2", "reports"], (path) =>
        readFrom(folder, `${url}/${path}`)
      )
      assert.deepStrictEqual(
        responses,
        names.map((name) => ({ text: name.replace(/\.gz$/, ""), exact: true }))
      )
      const listed = yield* Origin.use((origin) => origin.list(`${url}/1`)).pipe(Effect.provide(replayOrigin(folder)))
      assert.deepStrictEqual(listed, [`${url}/1?a=1&b=2`, `${url}/1?a=2&b=2`])
    })
  )

  it.effect("is not returned for a query with fewer, more or other parameters", () =>
    Effect.gen(function* () {
      const folder = yield* record(`${reports}/1?a=1`, `${reports}/1?a=1&a=1&b=2`, `${reports}/1?a=1&b=3`)
      assert.instanceOf(yield* Effect.flip(readFrom(folder, `${url}/1?a=1&b=2`)), NotRecorded)
    })
  )

  it.effect("is the compressed file itself if its .gz name is requested", () =>
    Effect.gen(function* () {
      const folder = yield* record(`${reports}/feed.csv.gz`)
      const { text } = yield* readFrom(folder, `${url}/feed.csv.gz`)
      assert.notStrictEqual(text, `${reports}/feed.csv`)
      assert.strictEqual((yield* readFrom(folder, `${url}/feed.csv`)).text, `${reports}/feed.csv`)
    })
  )

  it.effect("fails and names the file if its gzip is damaged", () =>
    Effect.gen(function* () {
      const folder = yield* record(`${reports}/1.gz`)
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(`${folder}/${reports}/1.gz`, "not gzip")
      const error = yield* Effect.flip(readFrom(folder, `${url}/1`))
      assert.instanceOf(error, RecordingUnreadable)
      assert.include(error.message, `${folder}/${reports}/1.gz cannot be read: incorrect header check`)
    })
  )
})

layer(NodeServices.layer)("an address without a recording", (it) => {
  it.effect("fails with a list of the files that were looked for", () =>
    Effect.gen(function* () {
      const folder = yield* record(`${reports}/1603?x=1`)
      const error = yield* Effect.flip(readFrom(folder, `${url}/1603?q=a%2Cb`))
      assert.strictEqual(
        error.message,
        [
          `There is no recording of GET ${url}/1603?q=a%2Cb. Looked in ${folder} for:`,
          `${reports}/1603?q=a%2Cb`,
          `${reports}/1603?q=a%2Cb.gz`,
          `${reports}/1603?… (the same parameters in another order)`,
          `${reports}/1603`,
          `${reports}/1603.gz`
        ].join("\n  ")
      )
    })
  )

  it.effect.each([
    ["a folder", `${url}`],
    ["below a file", `${url}/1603/Detail`],
    ["a host of dots", "https://../secret"],
    ["dots in the path", `${url}/../../../../secret`],
    ["encoded dots in the path", "https://mars.test/%2e%2e/%2E%2E/secret"],
    ["an encoded slash after dots", "https://mars.test/..%2F..%2Fsecret"],
    ["dots in the query", "https://mars.test/x?/../../../secret"],
    ["a name that no file system accepts", `${url}/1604?q=${"x".repeat(5000)}`]
  ] as const)("is not found, and never leads out of the folder: %s", ([, address]) =>
    Effect.gen(function* () {
      const outer = yield* record("secret", `recordings/${reports}/1603`, "recordings/mars.test/x?/y")
      assert.instanceOf(yield* Effect.flip(readFrom(`${outer}/recordings`, address)), NotRecorded)
    })
  )

  it.effect("fails in the samples with advice to use the network", () =>
    Effect.gen(function* () {
      const folder = yield* record(`${reports}/1603`)
      const error = yield* Effect.flip(readText({ url: `${url}/1` }).pipe(Effect.provide(sampleOrigin(folder))))
      const advice = "Set LARDER_SOURCES=live to read from the network."
      assert.strictEqual(error.message, `The bundled samples have no recording of GET ${url}/1. ${advice}`)
    })
  )
})

layer(NodeServices.layer)("a folder of recordings", (it) => {
  it.effect("fails before any request if it does not exist", () =>
    Effect.gen(function* () {
      const folder = `${yield* record("file")}/missing`
      const error = yield* Effect.flip(Origin.pipe(Effect.provide(replayOrigin(folder))))
      assert.instanceOf(error, RecordingsMissing)
      const layout = "A folder of recordings has files named <host>/<path as in the URL>[?query]."
      assert.strictEqual(error.message, `There is no folder ${folder}. ${layout}`)
    })
  )

  it.effect("fails before any request if it is a file that is not a bundle of probe", () =>
    Effect.gen(function* () {
      const file = `${yield* record("file")}/file`
      const error = yield* Effect.flip(Origin.pipe(Effect.provide(replayOrigin(file))))
      assert.instanceOf(error, BundleUnusable)
      assert.match(
        error.message,
        /file cannot be replayed: .+ --replay takes a folder of recordings, or a bundle of larder-ingest probe\.$/
      )
    })
  )
})

layer(NodeServices.layer)("the .extra-values.json file beside a recording", (it) => {
  const extraValues = ["x-wp-total"]
  const readWith = Effect.fnUntraced(function* (content: string, ...names: ReadonlyArray<string>) {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* record(...names)
    yield* fs.writeFileString(`${folder}/${reports}/1?page=1.extra-values.json`, content)
    return yield* readText({ url: `${url}/1?page=1`, extraValues }).pipe(Effect.provide(replayOrigin(folder)))
  })

  it.effect.each(["1?page=1", "1?page=1.gz"])("contains the headers that are returned if requested with %s", (name) =>
    Effect.gen(function* () {
      const { response } = yield* readWith('{"x-wp-total":"151","x-wp-totalpages":"2"}', `${reports}/${name}`)
      assert.deepStrictEqual(response.extra_values, { "x-wp-total": "151" })
    })
  )

  it.effect("fails if it is not an object of strings", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(readWith('{"x-wp-total":151}', `${reports}/1?page=1`))
      assert.instanceOf(error, RecordingUnreadable)
      assert.include(error.message, "1?page=1.extra-values.json cannot be read")
    })
  )

  it.effect("is not listed as a recording", () =>
    Effect.gen(function* () {
      const folder = yield* record(`${reports}/1`, `${reports}/1.extra-values.json`)
      const listed = yield* Origin.use((origin) => origin.list(url)).pipe(Effect.provide(replayOrigin(folder)))
      assert.deepStrictEqual(listed, [`${url}/1`])
    })
  )
})
