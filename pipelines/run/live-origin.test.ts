import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Redacted } from "effect"
import { type LivePolicy, liveOrigin } from "./live-origin.ts"
import { AccessDenied, RefusedByUpstream, UpstreamUnavailable } from "./origin.ts"
import { readText, startUpstream } from "./upstream-for-tests.ts"

const quick = { interval: 0, firstPause: "1 millis", firstBackOff: "1 millis" } as const
const impatient = { ...quick, tries: 2, idle: "50 millis", head: "50 millis", body: "150 millis" } as const
const key = Redacted.make("s3cret-mars-key")

/** One live origin per test, on the real clock, and without the environment of whoever runs the tests. */
const live = <A, E, R>(test: Effect.Effect<A, E, R>, policy: Partial<LivePolicy> = quick) =>
  Effect.scoped(test).pipe(
    Effect.provide(liveOrigin(policy)),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({})))
  )

describe("a request to the network", () => {
  it.live("says who asks, and carries no trace of our spans", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.end("{}"))
        yield* readText({ url: `${upstream.url}/reports/1603` }).pipe(Effect.withSpan("ingest"))
        const headers = upstream.seen[0]?.headers ?? {}
        assert.match(headers["user-agent"] ?? "", /^Larder\/\d+\.\d+\.\d+ \(self-hosted market data loader\)$/)
        assert.strictEqual(headers.accept, "application/json")
        for (const name of ["b3", "traceparent", "authorization", "cookie"]) assert.notProperty(headers, name)
      })
    )
  )

  it.live("names the contact that the operator set", () =>
    Effect.gen(function* () {
      const upstream = yield* startUpstream((response) => response.end("{}"))
      yield* readText({ url: upstream.url }).pipe(
        Effect.provide(liveOrigin(quick)),
        Effect.provide(
          ConfigProvider.layer(ConfigProvider.fromEnvRecord({ LARDER_CONTACT: "ops@example.test\r\nx: y" }))
        )
      )
      assert.match(upstream.seen[0]?.headers["user-agent"] ?? "", /^Larder\/[\d.]+ \(ops@example\.testx: y\)$/)
    })
  )

  it.live("asks for the address as it was written, percent-encoding included", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.end("{}"))
        const path = "/2993/500%20Pound%20Barrel%2C%20Sales?q=report_begin_date=09/01/2026:09/30/2026&x=a%2Fb"
        yield* readText({ url: upstream.url + path })
        assert.strictEqual(upstream.seen[0]?.url, path)
      })
    )
  )

  it.live("sends the key as user name of HTTP Basic with an empty password", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.end("{}"))
        yield* readText({ url: upstream.url, basicUser: key })
        const expected = `Basic ${Buffer.from("s3cret-mars-key:").toString("base64")}`
        assert.strictEqual(upstream.seen[0]?.headers.authorization, expected)
      })
    )
  )

  it.live("reads a compressed body as it was before, with its validators", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, _, { headers }) => {
          assert.strictEqual(headers["accept-encoding"], "gzip")
          const validators = { etag: '"v1"', "last-modified": "Wed, 30 Sep 2026 17:04:36 GMT" }
          response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip", ...validators })
          response.end(gzipSync('{"value":1.6140}'))
        })
        const { answer, text } = yield* readText({ url: upstream.url })
        assert.strictEqual(text, '{"value":1.6140}')
        const { body: _, ...about } = answer
        assert.deepStrictEqual(about, {
          status: 200,
          final_url: upstream.url,
          content_type: "application/json",
          etag: '"v1"',
          last_modified: "Wed, 30 Sep 2026 17:04:36 GMT",
          exact: true
        })
      })
    )
  )
})

describe("what may pass is asked again", () => {
  it.live("503 twice, then the answer", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, n) => response.writeHead(n < 3 ? 503 : 200).end("fine"))
        assert.strictEqual((yield* readText({ url: upstream.url })).text, "fine")
        assert.lengthOf(upstream.seen, 3)
      })
    )
  )

  it.live("429 with Retry-After in seconds and as a date", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, n) => {
          const soon = n === 1 ? "1" : new Date(Date.now() + 1000).toUTCString()
          response.writeHead(n < 3 ? 429 : 200, { "retry-after": soon }).end("fine")
        })
        assert.strictEqual((yield* readText({ url: upstream.url })).text, "fine")
        assert.lengthOf(upstream.seen, 3)
      })
    )
  )

  it.live("500 for ever ends after the last try and says how many there were", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(500).end('{"message":"no such report"}'))
        const error = yield* Effect.flip(readText({ url: `${upstream.url}/9` }))
        assert.instanceOf(error, UpstreamUnavailable)
        assert.lengthOf(upstream.seen, 5)
        const problem = 'HTTP 500 Internal Server Error, "no such report"'
        const next = "Run the same command again later."
        assert.strictEqual(error.message, `GET ${upstream.url}/9 failed after 5 tries: ${problem}. ${next}`)
      })
    )
  )

  it.live.each([
    ["with a length", { "content-length": "100" }],
    ["in chunks", {}],
    ["compressed", { "content-encoding": "gzip" }]
  ] as const)("a body %s that breaks off", ([, headers]) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, n) => {
          if (n > 1) {
            response.end("whole")
            return
          }
          response.writeHead(200, headers)
          response.write("content-encoding" in headers ? gzipSync("whole").subarray(0, 12) : "who", () =>
            response.destroy()
          )
        })
        assert.strictEqual((yield* readText({ url: upstream.url })).text, "whole")
        assert.lengthOf(upstream.seen, 2)
      })
    )
  )

  it.live.each([
    ["ends too early", gzipSync("whole").subarray(0, 12)],
    ["is damaged", Buffer.from("not gzip at all")]
  ] as const)("a compressed body that %s, although the connection does not break", ([, first]) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, n) => {
          response.writeHead(200, { "content-encoding": "gzip" })
          response.end(n === 1 ? first : gzipSync("whole"))
        })
        assert.strictEqual((yield* readText({ url: upstream.url })).text, "whole")
        assert.lengthOf(upstream.seen, 2)
      })
    )
  )

  it.live.each([
    ["no answer", "no answer came within 50ms", (): void => undefined],
    ["a body that stalls", "the body stalled: nothing came within 50ms", (write: (text: string) => void) => write("a")]
  ] as const)("%s for too long", ([, problem, begin]) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => begin((text) => response.write(text)))
        const error = yield* Effect.flip(readText({ url: upstream.url }))
        assert.include(error.message, problem)
        assert.lengthOf(upstream.seen, 2)
      }),
      impatient
    )
  )

  it.live("a body that drips for ever", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => {
          const drip = setInterval(() => response.write("."), 10)
          response.on("close", () => clearInterval(drip))
        })
        const error = yield* Effect.flip(readText({ url: upstream.url }))
        assert.include(error.message, "the body did not end within 150ms")
      }),
      impatient
    )
  )

  it.live("a host that refuses connections", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.end())
        yield* upstream.close
        const error = yield* Effect.flip(readText({ url: upstream.url }))
        assert.include(error.message, "failed after 5 tries: the host refused the connection")
      })
    )
  )
})

describe("what will not pass is not asked again", () => {
  it.live("a pause that is longer than a run waits, and nobody else asks that host meanwhile", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(503, { "retry-after": "7200" }).end())
        const first = yield* Effect.flip(readText({ url: upstream.url }))
        assert.include(first.message, "it wants a pause of 7200 s, more than the 300 s a run waits")
        const second = yield* Effect.flip(readText({ url: `${upstream.url}/other` }))
        assert.match(second.message, /asked for a pause until \d{4}-/)
        assert.lengthOf(upstream.seen, 1)
      })
    )
  )

  it.live.each([
    ["a JSON body", '{"status":"403 - Forbidden","errorCode":403,"message":"Access is denied"}', '"Access is denied"'],
    ["a page", "<!DOCTYPE html><html><title>Sign in</title>…", 'an HTML page titled "Sign in"'],
    ["nothing to read", "", undefined]
  ] as const)("403 with %s names the variable of the key", ([, body, quoted]) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(403).end(body))
        const error = yield* Effect.flip(readText({ url: upstream.url, keyVariable: "MARS_API_KEY" }))
        assert.instanceOf(error, AccessDenied)
        const problem = ["HTTP 403 Forbidden", quoted].filter(Boolean).join(", ")
        const advice = "This source wants a key: set MARS_API_KEY and run again."
        assert.strictEqual(error.message, `GET ${upstream.url} was denied: ${problem}. ${advice}`)
        assert.lengthOf(upstream.seen, 1)
      })
    )
  )

  it.live("a key that is refused is not repeated, not even where the answer repeats it", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, _, { headers }) =>
          response.writeHead(401).end(`Unknown key s3cret-mars-key in ${headers.authorization}`)
        )
        const error = yield* Effect.flip(readText({ url: upstream.url, basicUser: key, keyVariable: "MARS_API_KEY" }))
        assert.include(error.message, '"Unknown key <key> in Basic <key>"')
        assert.include(error.message, "Check the key in MARS_API_KEY")
        assert.notInclude(JSON.stringify(error), "s3cret")
      })
    )
  )

  it.live.each([404, 410, 501, 204])("%i", (status) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(status).end())
        const error = yield* Effect.flip(readText({ url: upstream.url }))
        assert.instanceOf(error, RefusedByUpstream)
        assert.strictEqual(error.status, status)
        assert.lengthOf(upstream.seen, 1)
      })
    )
  )

  it.live("a body in an encoding that was not asked for", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) =>
          response.writeHead(200, { "content-encoding": "br" }).end("x")
        )
        const error = yield* Effect.flip(readText({ url: upstream.url }))
        assert.include(error.message, "the body is encoded as br, which was not asked for")
        assert.lengthOf(upstream.seen, 1)
      })
    )
  )
})

describe("redirects", () => {
  it.live("lead to the answer, whose address is told without its query", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, _, { url }) =>
          url === "/old" ? response.writeHead(301, { location: "/new?signature=abc" }).end() : response.end("moved")
        )
        const { answer, text } = yield* readText({ url: `${upstream.url}/old`, basicUser: key })
        assert.deepStrictEqual([text, answer.final_url], ["moved", `${upstream.url}/new`])
        assert.property(upstream.seen[1]?.headers, "authorization")
      })
    )
  )

  it.live("to another host leave the key behind", () =>
    live(
      Effect.gen(function* () {
        const other = yield* startUpstream((response) => response.end("elsewhere"))
        const upstream = yield* startUpstream((response) => response.writeHead(302, { location: other.url }).end())
        assert.strictEqual((yield* readText({ url: upstream.url, basicUser: key })).text, "elsewhere")
        assert.property(upstream.seen[0]?.headers, "authorization")
        assert.notProperty(other.seen[0]?.headers, "authorization")
      })
    )
  )

  it.live("in a circle end after five", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(302, { location: "/?a=b" }).end())
        const error = yield* Effect.flip(readText({ url: upstream.url }))
        assert.instanceOf(error, RefusedByUpstream)
        assert.include(error.message, `it redirects too often, last to ${upstream.url}/.`)
        assert.lengthOf(upstream.seen, 6)
      })
    )
  )

  it.live.each(["ftp://example.test/", "file:///etc/passwd", "http://["])("to %s are refused", (location) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(302, { location }).end())
        assert.instanceOf(yield* Effect.flip(readText({ url: upstream.url })), RefusedByUpstream)
      })
    )
  )

  it.live("between two hosts that point at each other do not lock up", () =>
    live(
      Effect.gen(function* () {
        const urls: Array<string> = []
        const pointing = (to: number) =>
          startUpstream((response, _, { url }) =>
            url === "/end" ? response.end("end") : response.writeHead(302, { location: `${urls[to]}/end` }).end()
          )
        urls.push((yield* pointing(1)).url, (yield* pointing(0)).url)
        const both = yield* Effect.forEach(urls, (url) => readText({ url }), { concurrency: 2 })
        assert.deepStrictEqual(
          both.map(({ text }) => text),
          ["end", "end"]
        )
      })
    )
  )
})

describe("turns", () => {
  it.live("one host answers one request at a time, body included, in the order of asking", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => {
          response.write("a")
          setTimeout(() => response.end("b"), 5)
        })
        const paths = ["/1", "/2", "/3", "/4"]
        yield* Effect.forEach(paths, (path) => readText({ url: upstream.url + path }), { concurrency: 4 })
        assert.strictEqual(upstream.load.most, 1)
        assert.deepStrictEqual(
          upstream.seen.map(({ url }) => url),
          paths
        )
      })
    )
  )

  it.live("two hosts answer side by side, unless they share a lane", () =>
    live(
      Effect.gen(function* () {
        const load = { now: 0, most: 0 }
        const behave = Effect.fnUntraced(function* () {
          return yield* startUpstream((response) => {
            load.now += 1
            load.most = Math.max(load.most, load.now)
            response.on("close", () => {
              load.now -= 1
            })
            setTimeout(() => response.end(), 50)
          })
        })
        const urls = [(yield* behave()).url, (yield* behave()).url]
        yield* Effect.forEach(urls, (url) => readText({ url, lane: "shops" }), { concurrency: 2 })
        assert.strictEqual(load.most, 1)
        yield* Effect.forEach(urls, (url) => readText({ url }), { concurrency: 2 })
        assert.strictEqual(load.most, 2)
      })
    )
  )

  it.live("an interrupted request gives its turn back and hangs up", () =>
    live(
      Effect.gen(function* () {
        const arrived = Promise.withResolvers<void>()
        const closed = Promise.withResolvers<void>()
        const upstream = yield* startUpstream((response, n) => {
          if (n > 1) {
            response.end("next")
            return
          }
          response.on("close", () => closed.resolve())
          arrived.resolve()
        })
        const first = yield* Effect.forkChild(readText({ url: upstream.url }))
        yield* Effect.promise(() => arrived.promise)
        yield* Fiber.interrupt(first)
        yield* Effect.promise(() => closed.promise)
        assert.strictEqual((yield* readText({ url: upstream.url })).text, "next")
      })
    )
  )
})
