import { assert, describe, it } from "@effect/vitest"
import { daysFromNow, makeAuthority, makeCertificate } from "@larder/test/support/pipelines/certificates.ts"
import { startTls, trustAuthority } from "@larder/test/support/pipelines/tls-host.ts"
import { live, quick, readText, startUpstream } from "@larder/test/support/pipelines/upstream.ts"
import { Effect, Redacted } from "effect"
import { AccessDenied, UpstreamUnavailable } from "./origin.ts"

const hosts = ["127.0.0.1"]
const authority = makeAuthority()

describe("a certificate that cannot be trusted", () => {
  const untrusted = "is not signed by an authority that this machine trusts"
  it.live.each([
    [
      "is self-signed",
      makeCertificate({ name: "self", hosts }),
      untrusted,
      "name the PEM file of its authority in NODE_EXTRA_CA_CERTS"
    ],
    [
      "is of an unknown authority",
      makeAuthority("Another authority").issue(hosts),
      untrusted,
      "name the PEM file of its authority in NODE_EXTRA_CA_CERTS"
    ],
    [
      "has expired",
      authority.issue(hosts, { from: daysFromNow(-9), to: daysFromNow(-2) }),
      "has expired, or the clock of this machine is ahead: it shows 2",
      "Correct the clock"
    ],
    [
      "is not valid yet",
      authority.issue(hosts, { from: daysFromNow(1), to: daysFromNow(9) }),
      "is not valid yet, or the clock of this machine is behind: it shows 2",
      "Correct the clock"
    ],
    [
      "is for another host",
      authority.issue(["portal.example"]),
      "belongs to another host",
      "sign in to the network with a browser"
    ]
  ] as const)("because it %s is not retried, and the message has advice", ([, certificate, problem, advice]) =>
    live(
      Effect.gen(function* () {
        yield* trustAuthority(authority)
        const tls = yield* startTls(certificate)
        const error = yield* Effect.flip(readText({ url: `https://127.0.0.1:${tls.port}/` }))
        assert.instanceOf(error, UpstreamUnavailable)
        assert.match(error.message, /failed after 1 try: the certificate (of|received for) 127\.0\.0\.1 /)
        assert.include(error.message, problem)
        assert.include(error.message, advice)
        assert.notInclude(error.message, "again later")
      })
    )
  )

  it.live("is trusted if this process trusts its authority", () =>
    live(
      Effect.gen(function* () {
        yield* trustAuthority(authority)
        const tls = yield* startTls(authority.issue(hosts))
        assert.strictEqual((yield* readText({ url: `https://127.0.0.1:${tls.port}/` })).text, "{}")
      })
    )
  )
})

describe("a network that intercepts requests", () => {
  it.live("is reported if a name is not known", () =>
    live(
      Effect.gen(function* () {
        const error = yield* Effect.flip(readText({ url: "http://no-such-host.invalid/" }))
        assert.match(
          error.message,
          /(the host name is not known|the lookup of the host name failed)\. Check the network and the name servers/
        )
      }),
      { ...quick, maxAttempts: 1 }
    )
  )

  it.live("is reported if something responds in plain text instead of TLS", () =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.end("<html>"))
        const error = yield* Effect.flip(readText({ url: upstream.url.replace("http:", "https:") }))
        assert.include(error.message, "the host does not respond with TLS")
        assert.include(error.message, "A captive portal or a proxy may respond in its place")
      }),
      { ...quick, maxAttempts: 1 }
    )
  )

  it.live.each([
    [407, "HTTP 407 Proxy Authentication Required", "HTTPS_PROXY=http://user:password@host:port"],
    [511, "HTTP 511 Network Authentication Required", "Sign in to the network with a browser"]
  ] as const)("is not retried after status %i, and the message has advice", ([status, problem, advice]) =>
    live(
      Effect.gen(function* () {
        const upstream = yield* startUpstream((response) => response.writeHead(status).end())
        const error = yield* Effect.flip(readText({ url: upstream.url }))
        assert.instanceOf(error, UpstreamUnavailable)
        assert.include(error.message, problem)
        assert.include(error.message, advice)
        assert.lengthOf(upstream.requests, 1)
      })
    )
  )

  it.live("is reported if data is redirected to a page of another host, which is not accepted as data", () =>
    live(
      Effect.gen(function* () {
        const portal = yield* startUpstream((response) =>
          response.writeHead(200, { "content-type": "text/html" }).end("<html><title>Hotel</title>")
        )
        const upstream = yield* startUpstream((response) => response.writeHead(302, { location: portal.url }).end())
        const error = yield* Effect.flip(readText({ url: upstream.url }))
        assert.instanceOf(error, UpstreamUnavailable)
        assert.include(
          error.message,
          `it redirects to 127.0.0.1:${portal.port}, which responds with an HTML page instead of data`
        )
        assert.include(error.message, "captive portal")
        assert.lengthOf(portal.requests, 1)
        assert.include((yield* readText({ url: upstream.url, accept: "text/html" })).text, "Hotel")
      })
    )
  )

  it.live("is not blamed on the key if a source has moved to another host", () =>
    live(
      Effect.gen(function* () {
        const other = yield* startUpstream((response) => response.writeHead(403).end())
        const upstream = yield* startUpstream((response) => response.writeHead(308, { location: other.url }).end())
        const basicUser = Redacted.make("s3cret-mars-key")
        const error = yield* Effect.flip(readText({ url: upstream.url, basicUser, keyVariable: "MARS_API_KEY" }))
        assert.instanceOf(error, AccessDenied)
        assert.include(
          error.message,
          `from 127.0.0.1:${other.port}, to which it redirects, without the key: the source has moved`
        )
        assert.notInclude(error.message, "MARS_API_KEY")
      })
    )
  )
})
