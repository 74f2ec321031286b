import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { live, quick, readText, startUpstream, whileClockAdvances } from "@larder/test/support/pipelines/upstream.ts"
import { Effect, Redacted } from "effect"
import { AccessDenied, RefusedByUpstream, UpstreamUnavailable } from "./origin.ts"

/** Time limits for the test clock: longer than any response of this machine takes. */
const twoAttempts = {
  ...quick,
  maxAttempts: 2,
  responseTimeout: "10000 days",
  idleTimeout: "10000 days",
  totalTimeout: "10000 days"
} as const
const key = Redacted.make("s3cret-mars-key")

describe("a temporary failure", () => {
  it.live("is retried after two responses of 503", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, n) => response.writeHead(n < 3 ? 503 : 200).end("fine"))
        assert.strictEqual((yield* readText({ url: upstream.url })).text, "fine")
        assert.lengthOf(upstream.requests, 3)
      })
    )
  )

  it.live("is retried after 429 with Retry-After in seconds and as a date", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, n) => {
          const retryAfter = n === 1 ? "1" : new Date(Date.now() + 1000).toUTCString()
          response.writeHead(n < 3 ? 429 : 200, { "retry-after": retryAfter }).end("fine")
        })
        assert.strictEqual((yield* readText({ url: upstream.url })).text, "fine")
        assert.lengthOf(upstream.requests, 3)
      })
    )
  )

  it.live("fails after five responses of 500, and reports the number of tries", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(500).end('{"message":"no such report"}'))
        const error = yield* Effect.flip(readText({ url: `${upstream.url}/9` }))
        assert.instanceOf(error, UpstreamUnavailable)
        assert.lengthOf(upstream.requests, 5)
        const problem = 'HTTP 500 Internal Server Error, "no such report"'
        const nextStep = "Run the same command again later."
        assert.strictEqual(error.message, `GET ${upstream.url}/9 failed after 5 tries: ${problem}. ${nextStep}`)
      })
    )
  )

  it.live.each([
    ["with a length", { "content-length": "100" }],
    ["in chunks", {}],
    ["compressed", { "content-encoding": "gzip" }]
  ] as const)("is retried after a body %s that breaks off", ([, headers]) =>
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
        assert.lengthOf(upstream.requests, 2)
      })
    )
  )

  it.live.each([
    ["ends too early", gzipSync("whole").subarray(0, 12)],
    ["is damaged", Buffer.from("not gzip at all")]
  ] as const)("is retried after a compressed body that %s, although the connection does not break", ([, first]) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, n) => {
          response.writeHead(200, { "content-encoding": "gzip" })
          response.end(n === 1 ? first : gzipSync("whole"))
        })
        assert.strictEqual((yield* readText({ url: upstream.url })).text, "whole")
        assert.lengthOf(upstream.requests, 2)
      })
    )
  )

  it.effect.each([
    ["no response", "no response arrived within 1h", (): void => undefined, { responseTimeout: "1 hour" }],
    [
      "a body that stalls",
      "the body stalled: nothing arrived within 1h",
      (write: (text: string) => void) => write("a"),
      { idleTimeout: "1 hour" }
    ]
  ] as const)("is retried after %s for too long", ([, problem, begin, limit]) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => begin((text) => response.write(text)))
        const error = yield* whileClockAdvances(() => "1 hour", Effect.flip(readText({ url: upstream.url })))
        assert.include(error.message, `failed after 2 tries: ${problem}`)
      }),
      { ...twoAttempts, ...limit }
    )
  )

  it.live("fails after 5 tries if the host refuses connections", () =>
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

describe("a permanent failure", () => {
  it.live.each([
    ["a JSON body", '{"status":"403 - Forbidden","errorCode":403,"message":"Access is denied"}', '"Access is denied"'],
    ["a page", "<!DOCTYPE html><html><title>Sign in</title>…", 'an HTML page titled "Sign in"'],
    ["nothing to read", "", undefined]
  ] as const)("is a 403 with %s, and the message names the variable of the key", ([, body, quoted]) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(403).end(body))
        const error = yield* Effect.flip(readText({ url: upstream.url, keyVariable: "MARS_API_KEY" }))
        assert.instanceOf(error, AccessDenied)
        const problem = ["HTTP 403 Forbidden", quoted].filter(Boolean).join(", ")
        const advice = "This source requires a key: set MARS_API_KEY and run again."
        assert.strictEqual(error.message, `GET ${upstream.url} was denied: ${problem}. ${advice}`)
        assert.lengthOf(upstream.requests, 1)
      })
    )
  )

  it.live("does not show a rejected key, even if the response repeats it", () =>
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

  it.live.each([404, 410, 501, 204])("is status %i", (status) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(status).end())
        const error = yield* Effect.flip(readText({ url: upstream.url }))
        assert.instanceOf(error, RefusedByUpstream)
        assert.strictEqual(error.status, status)
        assert.lengthOf(upstream.requests, 1)
      })
    )
  )

  it.live.each([
    ['{"code":"rest_post_invalid_page_number","message":"…"}', "rest_post_invalid_page_number"],
    ['{"code":"a sentence, not a code"}', undefined],
    ['{"code":404}', undefined],
    ["not JSON", undefined]
  ] as const)("has the code that its body states: %s", ([body, code]) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(400).end(body))
        const error = yield* Effect.flip(readText({ url: upstream.url }))
        assert.instanceOf(error, RefusedByUpstream)
        assert.strictEqual(error.code, code)
      })
    )
  )

  it.live("is a body in an encoding that was not requested", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) =>
          response.writeHead(200, { "content-encoding": "br" }).end("x")
        )
        const error = yield* Effect.flip(readText({ url: upstream.url }))
        assert.include(error.message, "the body is encoded as br, which was not requested")
        assert.lengthOf(upstream.requests, 1)
      })
    )
  )
})
