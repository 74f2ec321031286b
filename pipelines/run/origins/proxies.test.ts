import { assert, describe, it } from "@effect/vitest"
import { makeCertificate } from "@larder/test/support/pipelines/certificates.ts"
import { startProxy } from "@larder/test/support/pipelines/proxy.ts"
import { startTls } from "@larder/test/support/pipelines/tls-host.ts"
import { quick, readText, startUpstream } from "@larder/test/support/pipelines/upstream.ts"
import { ConfigProvider, Effect, Redacted } from "effect"
import { type LivePolicy, liveOrigin } from "./live.ts"

const noRetry: Partial<LivePolicy> = { ...quick, maxAttempts: 1 }

const readThrough = (url: string, environment: Readonly<Record<string, string>>, policy = noRetry) =>
  readText({ url }).pipe(
    Effect.provide(liveOrigin(policy)),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment)))
  )

const failThrough = (...args: Parameters<typeof readThrough>) => Effect.flip(readThrough(...args))

const credentials = "somebody:s3cret%40proxy"
const authorization = `Basic ${Buffer.from("somebody:s3cret@proxy").toString("base64")}`
const mars = "https://marsapi.ams.usda.gov/services/v1.2/reports/1603"

describe("a proxy named in the environment", () => {
  it.live.each(["HTTPS_PROXY", "https_proxy"])("tunnels https for %s, and receives its user and password", (variable) =>
    Effect.gen(function* () {
      const tls = yield* startTls(makeCertificate({ name: "self", hosts: ["marsapi.ams.usda.gov"] }))
      const proxy = yield* startProxy({ portOf: () => tls.port })
      const error = yield* failThrough(mars, { [variable]: `http://${credentials}@127.0.0.1:${proxy.port}` })
      assert.deepStrictEqual(
        proxy.requests.map(({ request, headers }) => [request, headers["proxy-authorization"]]),
        [["CONNECT marsapi.ams.usda.gov:443", authorization]]
      )
      assert.include(
        error.message,
        "the certificate of marsapi.ams.usda.gov is not signed by an authority",
        "the tunnel was made"
      )
      assert.notInclude(JSON.stringify(error) + error.message, "s3cret")
    }).pipe(Effect.scoped)
  )

  it.live("forwards plain http for HTTP_PROXY, which needs no scheme", () =>
    Effect.gen(function* () {
      const upstream = yield* startUpstream((response) => response.end("fine"))
      const proxy = yield* startProxy({ portOf: () => upstream.port })
      const { text } = yield* readThrough("http://api.example.test/a?b=c", { HTTP_PROXY: `127.0.0.1:${proxy.port}` })
      assert.strictEqual(text, "fine")
      assert.deepStrictEqual(
        proxy.requests.map(({ request }) => request),
        ["GET http://api.example.test/a?b=c"]
      )
      assert.strictEqual(upstream.requests[0]?.headers.host, "api.example.test")
    }).pipe(Effect.scoped)
  )

  it.live("is not used for the hosts of NO_PROXY, nor HTTP_PROXY for https", () =>
    Effect.gen(function* () {
      const upstream = yield* startUpstream((response) => response.end("direct"))
      const proxy = yield* startProxy()
      const address = `http://127.0.0.1:${proxy.port}`
      const { text } = yield* readThrough(upstream.url, { HTTP_PROXY: address, NO_PROXY: "example.test, 127.0.0.1" })
      assert.strictEqual(text, "direct")
      const tls = yield* startTls(makeCertificate({ name: "self", hosts: ["127.0.0.1"] }))
      yield* failThrough(`https://127.0.0.1:${tls.port}/`, { HTTP_PROXY: address })
      assert.deepStrictEqual(proxy.requests, [])
    }).pipe(Effect.scoped)
  )

  it.live("is not used for this machine: a key for a mirror here would leave it in plain text", () =>
    Effect.gen(function* () {
      const mirror = yield* startUpstream((response) => response.end("mirror"))
      const proxy = yield* startProxy({ portOf: () => mirror.port })
      const { text } = yield* readText({ url: mars, basicUser: Redacted.make("a-key") }).pipe(
        Effect.provide(liveOrigin(noRetry)),
        Effect.provide(
          ConfigProvider.layer(
            ConfigProvider.fromEnvRecord({
              LARDER_MARS_URL: mirror.url,
              HTTP_PROXY: `http://127.0.0.1:${proxy.port}`
            })
          )
        )
      )
      assert.strictEqual(text, "mirror")
      assert.deepStrictEqual(proxy.requests, [])
    }).pipe(Effect.scoped)
  )

  it.live("is used for addresses of a store list only with LARDER_PROXY_FOR_STORES=yes", () =>
    Effect.gen(function* () {
      const shop = yield* startUpstream((response) => response.end("shop"))
      const proxy = yield* startProxy({ portOf: () => shop.port })
      const environment = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` }
      const stores = { ...noRetry, publicOnly: true }
      const direct = yield* failThrough("http://no-such-shop.invalid/", environment, stores)
      assert.include(direct.message, "HTTP_PROXY is not used for stores")
      assert.include(direct.message, "LARDER_PROXY_FOR_STORES=yes")
      assert.deepStrictEqual(proxy.requests, [])
      const allowed = { ...environment, LARDER_PROXY_FOR_STORES: "yes" }
      assert.strictEqual((yield* readThrough("http://shop.example.test/", allowed, stores)).text, "shop")
      const forbidden = yield* failThrough("http://169.254.169.254/latest", allowed, stores)
      assert.include(forbidden.message, "169.254.169.254 is not a public address")
      assert.lengthOf(proxy.requests, 1)
    }).pipe(Effect.scoped)
  )

  it.live.each([
    [407, "the proxy of HTTPS_PROXY requires a user and a password, or refused those given (HTTP 407)"],
    [403, "the proxy of HTTPS_PROXY does not connect to marsapi.ams.usda.gov (HTTP 403)"]
  ] as const)("that refuses with %i is reported as such, and is not retried", ([status, problem]) =>
    Effect.gen(function* () {
      const proxy = yield* startProxy({ refusalStatus: status })
      const error = yield* failThrough(mars, { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }, quick)
      assert.include(error.message, problem)
      assert.lengthOf(proxy.requests, 1)
    }).pipe(Effect.scoped)
  )

  it.live("that requires a password for plain http is reported as such", () =>
    Effect.gen(function* () {
      const proxy = yield* startProxy({ refusalStatus: 407 })
      const error = yield* failThrough(
        "http://api.example.test/",
        { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` },
        quick
      )
      assert.include(
        error.message,
        "the proxy of HTTP_PROXY requires a user and a password, or refused those given (HTTP 407)"
      )
      assert.lengthOf(proxy.requests, 1)
    }).pipe(Effect.scoped)
  )

  it.live("that cannot be reached is distinguished from a source that cannot be reached", () =>
    Effect.gen(function* () {
      const closed = yield* startUpstream((response) => response.end())
      yield* closed.close
      const error = yield* failThrough(mars, { HTTPS_PROXY: `http://${credentials}@127.0.0.1:${closed.port}` })
      assert.include(
        error.message,
        "the proxy of HTTPS_PROXY cannot be reached: the host refused the connection. Check HTTPS_PROXY."
      )
      assert.notInclude(JSON.stringify(error), "s3cret")
    }).pipe(Effect.scoped)
  )

  it.live.each(["socks5://somebody:s3cret@proxy:1080", "http://somebody:s3cret@:99999"])(
    "that cannot be used is refused before any request, and %s is not quoted",
    (address) =>
      Effect.gen(function* () {
        const error = yield* failThrough(mars, { HTTPS_PROXY: address })
        assert.include(error.message, "HTTPS_PROXY is not the address of a proxy")
        assert.notInclude(error.message, "s3cret")
      })
  )
})
