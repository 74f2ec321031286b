import { assert, describe, it } from "@effect/vitest"
import { live, readText, startUpstream, type Upstream } from "@larder/test/support/pipelines/upstream.ts"
import { Effect } from "effect"
import { selectValidators } from "../archive/validators.ts"
import { RefusedByUpstream } from "./origin.ts"

const noValidators = { etag: null, last_modified: null, fetched_at: "2026-09-30T17:10:00.000Z" }
const modified = "Wed, 30 Sep 2026 17:04:36 GMT"

/** A server whose payload has this ETag, and which records the conditions of its requests. */
const startTagged = (etag: string, headers: Readonly<Record<string, string>> = {}) =>
  startUpstream((response, _, { headers: sent }) => {
    const isSame = sent["if-none-match"] === etag
    response.writeHead(isSame ? 304 : 200, { etag, ...headers }).end(isSame ? undefined : "a payload")
  })

const makeRequest = ({ url }: Upstream, known: Partial<Parameters<typeof selectValidators>[0]>) => {
  const validators = selectValidators({ ...noValidators, final_url: url, ...known })
  return validators === undefined ? { url } : { url, validators }
}
const conditions = ({ requests }: Upstream) =>
  requests.map(({ headers }) => [headers["if-none-match"], headers["if-modified-since"]])

describe("a request for a payload that is already in the archive", () => {
  it.live("is conditional, and a 304 has no body", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startTagged('W/"v1"')
        const { response, text } = yield* readText(makeRequest(upstream, { etag: 'W/"v1"', last_modified: modified }))
        assert.deepStrictEqual([response.status, text], [304, ""])
        assert.deepStrictEqual(conditions(upstream), [['W/"v1"', modified]])
      })
    )
  )

  it.live("returns the new payload if it has changed", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startTagged('"v2"')
        const { response, text } = yield* readText(makeRequest(upstream, { etag: '"v1"' }))
        assert.deepStrictEqual([response.status, response.etag, text], [200, '"v2"', "a payload"])
      })
    )
  )

  it.live(
    "sends If-Modified-Since if there is no ETag, unless the payload was changed in the minute before it was fetched",
    () =>
      live(
        Effect.gen(function* () {
          const upstream = yield* startUpstream((response) => response.end("a payload"))
          for (const fetched_at of ["2026-09-30T17:10:00.000Z", "2026-09-30T17:05:30.000Z"]) {
            yield* readText(makeRequest(upstream, { last_modified: modified, fetched_at }))
          }
          assert.deepStrictEqual(conditions(upstream), [
            [undefined, modified],
            [undefined, undefined]
          ])
        })
      )
  )

  it.live.each([
    ["an ETag other than the one sent", { etag: '"v2"' }],
    ["a total other than the one received with the payload", { etag: '"v1"', "x-wp-total": "8" }]
  ] as const)("is repeated unconditionally if the 304 has %s", ([, headers]) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, _, { headers: sent }) => {
          const isSame = sent["if-none-match"] !== undefined
          response.writeHead(isSame ? 304 : 200, headers).end(isSame ? undefined : "a payload")
        })
        const request = makeRequest(upstream, { etag: '"v1"', extra_values: { "x-wp-total": "7" } })
        const { response, text } = yield* readText({ ...request, extraValues: ["x-wp-total"] })
        assert.deepStrictEqual([response.status, text], [200, "a payload"])
        assert.deepStrictEqual(conditions(upstream), [
          ['"v1"', undefined],
          [undefined, undefined]
        ])
      })
    )
  )

  it.live("is repeated unconditionally if the server returns 412", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response, n) => response.writeHead(n === 1 ? 412 : 200).end("a payload"))
        assert.strictEqual((yield* readText(makeRequest(upstream, { etag: '"v1"' }))).text, "a payload")
      })
    )
  )

  it.live("sends validators only to the final URL of the payload, not to URLs that redirect to it", () =>
    live(
      Effect.gen(function* () {
        const target = yield* startTagged('"v1"')
        const upstream = yield* startUpstream((response) =>
          response.writeHead(302, { location: `${target.url}/feed?signature=2` }).end()
        )
        const request = makeRequest(upstream, { etag: '"v1"', final_url: `${target.url}/feed` })
        assert.strictEqual((yield* readText(request)).response.status, 304)
        assert.deepStrictEqual(conditions(upstream), [[undefined, undefined]])
        assert.deepStrictEqual(conditions(target), [['"v1"', undefined]])
      })
    )
  )

  it.live("sends validators to no URL except the one that returned the payload", () =>
    live(
      Effect.gen(function* () {
        const target = yield* startTagged('"v1"')
        const upstream = yield* startUpstream((response) =>
          response.writeHead(302, { location: `${target.url}/other` }).end()
        )
        const { text } = yield* readText(makeRequest(upstream, { etag: '"v1"', final_url: `${target.url}/feed` }))
        assert.strictEqual(text, "a payload")
        assert.deepStrictEqual(conditions(target), [[undefined, undefined]])
      })
    )
  )
})

describe("a 304 response to an unconditional request", () => {
  it.live("is an error, and is not retried", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(304, { etag: '"v1"' }).end())
        const error = yield* Effect.flip(readText({ url: upstream.url }))
        assert.instanceOf(error, RefusedByUpstream)
        assert.include(error.message, "HTTP 304 Not Modified")
        assert.lengthOf(upstream.requests, 1)
      })
    )
  )
})
