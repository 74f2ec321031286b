import { assert, describe, it } from "@effect/vitest"
import { live, quick, readText, startUpstream } from "@larder/test/support/pipelines/upstream.ts"
import { ConfigProvider, Effect, Redacted } from "effect"
import { liveOrigin } from "./live.ts"
import { mayReceiveKey, mirrors } from "./mirrors.ts"

const report = "https://marsapi.ams.usda.gov/services/v1.2/reports/1603?q=a%2Fb"
const withSettings = (settings: Readonly<Record<string, string>>) =>
  Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(settings)))

describe("a mirror of a government service", () => {
  it.live("gets the requests of that service, with the key on this machine, and no others", () =>
    live(
      Effect.gen(function* () {
        const mirror = yield* startUpstream((response) => response.end("mirror"))
        const other = yield* startUpstream((response) => response.end("other"))
        const basicUser = Redacted.make("a-key")
        const read = (url: string) =>
          readText({ url, basicUser }).pipe(
            Effect.provide(liveOrigin(quick)),
            withSettings({ LARDER_MARS_URL: mirror.url, LARDER_FDC_URL: "https://mirror.example.com" })
          )
        yield* read(report)
        yield* read(other.url)
        assert.deepStrictEqual(
          mirror.requests.map(({ url }) => url),
          ["/services/v1.2/reports/1603?q=a%2Fb"]
        )
        assert.match(mirror.requests[0]?.headers.authorization ?? "", /^Basic /)
        assert.lengthOf(other.requests, 1)
      })
    )
  )

  it.live("is named if there is no connection to it, and so is the host to which it redirects", () =>
    live(
      Effect.gen(function* () {
        const gone = yield* startUpstream(() => undefined)
        yield* gone.close
        const mirror = yield* startUpstream((response) => response.writeHead(302, { location: gone.url }).end())
        const readError = (url: string) =>
          Effect.flip(readText({ url: report })).pipe(
            Effect.provide(liveOrigin({ ...quick, maxAttempts: 1 })),
            withSettings({ LARDER_MARS_URL: url }),
            Effect.map(({ message }) => message)
          )
        const { host } = new URL(gone.url)
        assert.include(yield* readError(gone.url), `the host refused the connection (its mirror ${host}).`)
        assert.include(
          yield* readError(mirror.url),
          `the host refused the connection (${host}, to which it redirects).`
        )
      })
    )
  )

  it.effect.each([
    "http://mirror.example.com",
    "https://user:geheim@mirror.example.com",
    "https://mirror.example.com/mars",
    "ftp://127.0.0.1",
    "mirror.example.com"
  ])("is refused: %s", (address) =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(mirrors.pipe(withSettings({ LARDER_DATAMART_URL: address })))
      assert.include(message, "LARDER_DATAMART_URL must be https://host")
      assert.notInclude(message, "geheim")
    })
  )

  it.effect("gets the key only on this machine, and no other address gets it", () =>
    Effect.gen(function* () {
      const mayReceive = Effect.fnUntraced(function* (mirror: string, at: string) {
        return mayReceiveKey(yield* mirrors.pipe(withSettings({ LARDER_MARS_URL: mirror })), report, new URL(at))
      })
      assert.isTrue(yield* mayReceive("", report))
      assert.isTrue(yield* mayReceive("http://127.0.0.1:8000", "http://127.0.0.1:8000/services"))
      assert.isTrue(yield* mayReceive("http://[::1]:8000", "http://[::1]:8000/services"))
      assert.isFalse(yield* mayReceive("https://mirror.example.com", "https://mirror.example.com/services"))
      assert.isFalse(yield* mayReceive("http://127.0.0.1:8000", "http://127.0.0.1:9000/services"))
      assert.isFalse(yield* mayReceive("", "http://127.0.0.1:8000/services"))
    })
  )
})
