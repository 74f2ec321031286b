import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { collectLog } from "@larder/test/support/collect-log.ts"
import { live, quick, readText, startUpstream } from "@larder/test/support/pipelines/upstream.ts"
import { ConfigProvider, Effect, Fiber, Redacted } from "effect"
import { liveOrigin } from "./live.ts"
import { GivenUp, RefusedByUpstream } from "./origin.ts"

const key = Redacted.make("s3cret-mars-key")

describe("a request to the network", () => {
  it.live("names Larder as user agent, and has no tracing headers", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.end("{}"))
        yield* readText({ url: `${upstream.url}/reports/1603` }).pipe(Effect.withSpan("ingest"))
        const headers = upstream.requests[0]?.headers ?? {}
        assert.match(headers["user-agent"] ?? "", /^Larder\/\d+\.\d+\.\d+ \(self-hosted market data loader\)$/)
        assert.strictEqual(headers.accept, "application/json")
        for (const name of ["b3", "traceparent", "authorization", "cookie"]) assert.notProperty(headers, name)
      })
    )
  )

  it.live("sends the contact that the operator configured, without line breaks", () =>
    Effect.gen(function* () {
      const upstream = yield* startUpstream((response) => response.end("{}"))
      yield* readText({ url: upstream.url }).pipe(
        Effect.provide(liveOrigin(quick)),
        Effect.provide(
          ConfigProvider.layer(ConfigProvider.fromEnvRecord({ LARDER_CONTACT: "ops@example.test\r\nx: y" }))
        )
      )
      assert.match(upstream.requests[0]?.headers["user-agent"] ?? "", /^Larder\/[\d.]+ \(ops@example\.testx: y\)$/)
    })
  )

  it.live("requests the URL exactly as written, including percent-encoding", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.end("{}"))
        const path = "/2993/500%20Pound%20Barrel%2C%20Sales?q=report_begin_date=09/01/2026:09/30/2026&x=a%2Fb"
        yield* readText({ url: upstream.url + path })
        assert.strictEqual(upstream.requests[0]?.url, path)
      })
    )
  )

  it.live("sends the key as user name of HTTP Basic with an empty password", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.end("{}"))
        yield* readText({ url: upstream.url, basicUser: key })
        const expected = `Basic ${Buffer.from("s3cret-mars-key:").toString("base64")}`
        assert.strictEqual(upstream.requests[0]?.headers.authorization, expected)
      })
    )
  )

  it.live("unpacks a compressed body, and returns its validators", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, _, { headers }) => {
          assert.strictEqual(headers["accept-encoding"], "gzip")
          const validators = { etag: '"v1"', "last-modified": "Wed, 30 Sep 2026 17:04:36 GMT" }
          response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip", ...validators })
          response.end(gzipSync('{"value":1.6140}'))
        })
        const { response, text } = yield* readText({ url: upstream.url })
        assert.strictEqual(text, '{"value":1.6140}')
        const { body: _, ...about } = response
        assert.deepStrictEqual(about, {
          status: 200,
          final_url: upstream.url,
          content_type: "application/json",
          etag: '"v1"',
          last_modified: "Wed, 30 Sep 2026 17:04:36 GMT",
          exact: true,
          from: 0,
          total: null
        })
      })
    )
  )
})

describe("redirects", () => {
  it.live("are followed, and the final address is reported without its query", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, _, { url }) =>
          url === "/old" ? response.writeHead(301, { location: "/new?signature=abc" }).end() : response.end("moved")
        )
        const { response, text } = yield* readText({ url: `${upstream.url}/old`, basicUser: key })
        assert.deepStrictEqual([text, response.final_url], ["moved", `${upstream.url}/new`])
        assert.property(upstream.requests[1]?.headers, "authorization")
      })
    )
  )

  it.live(
    "that are permanent are a warning if the new address can be read; otherwise the failed feed is the only line of the log",
    () =>
      live(
        Effect.gen(function* () {
          const upstream = yield* startUpstream((response, _, { url }) => {
            if (url.startsWith("/old")) response.writeHead(301, { location: url.replace("old", "new") }).end()
            else response.writeHead(url === "/new/gone" ? 500 : 200).end("moved")
          })
          const warningsOf = (path: string) =>
            Effect.map(collectLog(Effect.exit(readText({ url: upstream.url + path }))), ({ lines }) => lines)
          assert.deepStrictEqual(yield* warningsOf("/old/gone"), [])
          const [warning, ...others] = yield* warningsOf("/old/moved")
          assert.include(String(warning?.event), "has moved permanently")
          assert.deepStrictEqual(others, [])
        })
      )
  )

  it.live("do not send the key to another host", () =>
    live(
      Effect.gen(function* () {
        const other = yield* startUpstream((response) => response.end("elsewhere"))
        const upstream = yield* startUpstream((response) => response.writeHead(302, { location: other.url }).end())
        assert.strictEqual((yield* readText({ url: upstream.url, basicUser: key })).text, "elsewhere")
        assert.property(upstream.requests[0]?.headers, "authorization")
        assert.notProperty(other.requests[0]?.headers, "authorization")
      })
    )
  )

  it.live("are checked by the caller before they are followed", () =>
    live(
      Effect.gen(function* () {
        const other = yield* startUpstream((response, _, { url }) =>
          response.writeHead(302, { location: `${url}/further?signature=abc` }).end()
        )
        const upstream = yield* startUpstream((response) =>
          response.writeHead(302, { location: `${other.url}/feed` }).end()
        )
        const checked: Array<string> = []
        const error = new GivenUp({ url: upstream.url, reason: "forbidden", problem: "no further" })
        const mayFollow = (to: URL) => {
          checked.push(to.href)
          return checked.length === 1 ? Effect.succeed({}) : Effect.fail(error)
        }
        assert.deepStrictEqual(yield* Effect.flip(readText({ url: upstream.url, mayFollow })), error)
        assert.deepStrictEqual(checked, [`${other.url}/feed`, `${other.url}/feed/further?signature=abc`])
        assert.deepStrictEqual(
          other.requests.map(({ url }) => url),
          ["/feed"]
        )
      })
    )
  )

  it.live("end with an error after five", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(302, { location: "/?a=b" }).end())
        const error = yield* Effect.flip(readText({ url: upstream.url }))
        assert.instanceOf(error, RefusedByUpstream)
        assert.include(error.message, `it redirects too often, last to ${upstream.url}/.`)
        assert.lengthOf(upstream.requests, 6)
      })
    )
  )

  it.live.each(["ftp://example.test/", "file:///etc/passwd", "http://["])("are not followed to %s", (location) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(302, { location }).end())
        assert.instanceOf(yield* Effect.flip(readText({ url: upstream.url })), RefusedByUpstream)
      })
    )
  )

  it.live("do not deadlock if two hosts redirect to each other", () =>
    live(
      Effect.gen(function* () {
        const urls: Array<string> = []
        const startRedirecting = (to: number) =>
          startUpstream((response, _, { url }) =>
            url === "/end" ? response.end("end") : response.writeHead(302, { location: `${urls[to]}/end` }).end()
          )
        urls.push((yield* startRedirecting(1)).url, (yield* startRedirecting(0)).url)
        const both = yield* Effect.forEach(urls, (url) => readText({ url }), { concurrency: 2 })
        assert.deepStrictEqual(
          both.map(({ text }) => text),
          ["end", "end"]
        )
      })
    )
  )
})

describe("concurrency per host", () => {
  it.live("sends one request at a time to each host, in order, and waits for its body", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => {
          response.write("a")
          setTimeout(() => response.end("b"), 5)
        })
        const paths = ["/1", "/2", "/3", "/4"]
        yield* Effect.forEach(paths, (path) => readText({ url: upstream.url + path }), { concurrency: 4 })
        assert.strictEqual(upstream.load.max, 1)
        assert.deepStrictEqual(
          upstream.requests.map(({ url }) => url),
          paths
        )
      })
    )
  )

  it.live("sends requests to two hosts concurrently, unless they share a pool", () =>
    live(
      Effect.gen(function* () {
        const load = { current: 0, max: 0 }
        const startSlow = Effect.fnUntraced(function* () {
          return yield* startUpstream((response) => {
            load.current += 1
            load.max = Math.max(load.max, load.current)
            response.on("close", () => {
              load.current -= 1
            })
            setTimeout(() => response.end(), 50)
          })
        })
        const urls = [(yield* startSlow()).url, (yield* startSlow()).url]
        yield* Effect.forEach(urls, (url) => readText({ url, pool: "shops" }), { concurrency: 2 })
        assert.strictEqual(load.max, 1)
        yield* Effect.forEach(urls, (url) => readText({ url }), { concurrency: 2 })
        assert.strictEqual(load.max, 2)
      })
    )
  )

  it.live("releases the host and closes the connection of an interrupted request", () =>
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

describe("the headers of a response", () => {
  it.live("are returned if requested, including single cookies", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => {
          const cookies = ["secret=1; HttpOnly", "cart_currency=NOK; path=/; expires=Wed, 30 Sep 2026 17:04:36 GMT"]
          response.writeHead(200, { "X-WP-Total": "151", "set-cookie": cookies }).end("[]")
        })
        const extraValues = ["set-cookie:cart_currency", "set-cookie:cart", "x-wp-total", "x-wp-totalpages"]
        const { response } = yield* readText({ url: upstream.url, extraValues })
        assert.deepStrictEqual(response.extra_values, { "set-cookie:cart_currency": "NOK", "x-wp-total": "151" })
      })
    )
  )

  it.live("are left out if they are longer than 200 characters", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) =>
          response.writeHead(200, { "x-wp-total": "1".repeat(201) }).end("[]")
        )
        const { response } = yield* readText({ url: upstream.url, extraValues: ["x-wp-total"] })
        assert.notProperty(response, "extra_values")
      })
    )
  )
})
