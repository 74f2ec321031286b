import { assert, describe, it } from "@effect/vitest"
import { quick, readText, startUpstream } from "@larder/test/support/pipelines/upstream.ts"
import { ConfigProvider, Effect } from "effect"
import { liveOrigin } from "./live.ts"
import { ForbiddenAddress, UpstreamUnavailable } from "./origin.ts"
import { findPrivateRange } from "./private-hosts.ts"

const policy = { ...quick, maxAttempts: 1, publicOnly: true }

const read = (url: string, LARDER_PRIVATE_HOSTS = "") =>
  readText({ url }).pipe(
    Effect.provide(liveOrigin(policy)),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({ LARDER_PRIVATE_HOSTS })))
  )

describe("the range of an address", () => {
  it.each(["1.1.1.1", "172.15.0.1", "192.169.0.1", "2606:4700::1111", "::ffff:8.8.8.8"])("%s is public", (address) => {
    assert.isUndefined(findPrivateRange(address))
  })

  it.each([
    ["127.0.0.1", "loopback"],
    ["0.0.0.0", "unspecified"],
    ["10.1.2.3", "private"],
    ["172.16.0.1", "private"],
    ["192.168.1.1", "private"],
    ["169.254.169.254", "linkLocal"],
    ["100.64.0.1", "carrierGradeNat"],
    ["224.0.0.1", "multicast"],
    ["255.255.255.255", "broadcast"],
    ["192.0.2.1", "reserved"],
    ["240.0.0.1", "reserved"],
    ["::1", "loopback"],
    ["::", "unspecified"],
    ["::ffff:10.0.0.1", "private"],
    ["fe80::1", "linkLocal"],
    ["fc00::1", "uniqueLocal"],
    ["ff02::1", "multicast"],
    ["64:ff9b::7f00:1", "rfc6052"],
    ["2002:7f00:1::", "6to4"]
  ])("%s is %s", (address, range) => {
    assert.strictEqual(findPrivateRange(address), range)
  })
})

describe("a private address", () => {
  it.live.each(["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "localhost"])(
    "is not requested when it is written as %s",
    (host) =>
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.end("inside"))
        const error = yield* Effect.flip(read(`http://${host}:${upstream.port}/`))
        assert.instanceOf(error, ForbiddenAddress)
        assert.include(error.message, "to LARDER_PRIVATE_HOSTS")
        assert.lengthOf(upstream.requests, 0)
      })
  )

  it.live.each([
    ["127.0.0.1", "127.0.0.1"],
    ["localhost", " example.test, LocalHost "],
    ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]"]
  ] as const)("is requested as %s if the operator allows %s", ([host, allowed]) =>
    Effect.gen(function* () {
      const upstream = yield* startUpstream((response) => response.end("inside"))
      assert.strictEqual((yield* read(`http://${host}:${upstream.port}/`, allowed)).text, "inside")
    })
  )

  it.live("is not requested if an allowed host redirects to it", () =>
    Effect.gen(function* () {
      const upstream = yield* startUpstream((response, _, { url }) =>
        url === "/inside"
          ? response.end("inside")
          : response.writeHead(302, { location: `http://localhost:${upstream.port}/inside` }).end()
      )
      const error = yield* Effect.flip(read(upstream.url, "127.0.0.1"))
      assert.instanceOf(error, ForbiddenAddress)
      assert.match(error.message, /localhost is (127\.0\.0\.1|::1), which is not a public address \(loopback\)/)
      assert.lengthOf(upstream.requests, 1)
    })
  )
})

describe("other addresses", () => {
  it.live.each(["ftp://shop.example/feed.csv", "file:///etc/passwd"])("are not requested: %s", (url) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(url))
      assert.instanceOf(error, ForbiddenAddress)
      assert.include(error.message, "is neither http: nor https:")
    })
  )

  it.live("fail as unavailable if their name does not resolve", () =>
    Effect.gen(function* () {
      assert.instanceOf(yield* Effect.flip(read("http://nobody.invalid/")), UpstreamUnavailable)
    })
  )
})
