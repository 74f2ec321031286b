import { createServer } from "node:http"
import { assert, describe } from "@effect/vitest"
import { aBucket, withClient, withQuickRetries } from "@larder/test/support/depots/networked.ts"
import { staticHost } from "@larder/test/support/depots/static-host.ts"
import { itLive } from "@larder/test/support/it-live.ts"
import { testReadableDepot } from "@larder/test/support/warehouse/depot-contract.ts"
import { Effect, FileSystem, Option, Redacted } from "effect"
import { hintName, listObjectTimes } from "./depot.ts"
import { folderDepot } from "./folder.ts"
import { type Host, httpDepot } from "./http.ts"

const aFolder = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "larder-depot-" })).pipe(
  Effect.orDie
)
const openForReading = (address: string, user?: Host["user"]) => withClient(httpDepot({ address, user }))
const nameOf = (number: number) => `generations/${String(number).padStart(9, "0")}.json`

/** A folder behind a web server, and the depot that reads it. */
const served = Effect.gen(function* () {
  const folder = yield* aFolder
  return { filled: folderDepot(folder), depot: yield* openForReading(yield* staticHost(folder)) }
}).pipe(Effect.orDie)

/** A host that sends these responses, and records the requests. */
const aHost = (
  responses: Readonly<Record<string, readonly [status: number, headers: Record<string, string>, text: string]>>
) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const requests: Array<{ readonly url: string; readonly headers: NodeJS.Dict<string | Array<string>> }> = []
      const server = createServer(({ headers, url = "" }, response) => {
        requests.push({ url, headers })
        const [status, responseHeaders, text] = responses[url] ?? [404, {}, ""]
        response.writeHead(status, responseHeaders).end(text)
      })
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
      const address = server.address()
      const port = typeof address === "object" ? address?.port : undefined
      return { server, requests, address: `http://127.0.0.1:${port}` }
    }),
    ({ server }) => Effect.sync(() => server.close().closeAllConnections())
  )

describe("a depot behind a web server", () => {
  testReadableDepot(served)

  itLive("finds the newest generation by its number if there is no hint", () =>
    Effect.gen(function* () {
      const { depot, filled } = yield* served
      assert.deepStrictEqual(yield* depot.list("generations/"), [])
      for (const number of [1, 2]) yield* filled.putText(nameOf(number), "{}")
      assert.deepStrictEqual(yield* depot.list("generations/"), [nameOf(1), nameOf(2)])
      assert.deepStrictEqual(yield* depot.list("generations/", nameOf(1)), [nameOf(2)])
    })
  )
  itLive("finds generations by the hint after number 1 was removed, or from a known number if the hint is older", () =>
    Effect.gen(function* () {
      const { depot, filled } = yield* served
      for (const number of [6, 7]) yield* filled.putText(nameOf(number), "{}")
      yield* filled.putHint(hintName, JSON.stringify({ newest: nameOf(6) }))
      assert.deepStrictEqual(yield* depot.list("generations/"), [nameOf(6), nameOf(7)])
      assert.deepStrictEqual(yield* depot.list("generations/", nameOf(2)), [nameOf(6), nameOf(7)])
      yield* filled.putHint(hintName, JSON.stringify({ newest: nameOf(3) }))
      assert.deepStrictEqual(yield* depot.list("generations/", nameOf(6)), [nameOf(7)])
      yield* filled.putHint(hintName, "no hint")
      assert.deepStrictEqual(yield* depot.list("generations/", nameOf(6)), [nameOf(7)])
    })
  )
  itLive("fails if the hint names a removed generation", () =>
    Effect.gen(function* () {
      const { depot, filled } = yield* served
      yield* filled.putText(nameOf(7), "{}")
      yield* filled.putHint(hintName, JSON.stringify({ newest: nameOf(3) }))
      const { message } = yield* Effect.flip(depot.list("generations/"))
      assert.match(
        message,
        /: generations\/latest\.json names generations\/000000003\.json, which does not exist\. A cache/
      )
    })
  )
  itLive("rejects writes, and says where to write instead", () =>
    Effect.gen(function* () {
      const { depot } = yield* served
      const { message } = yield* Effect.flip(depot.putText(nameOf(1), "{}"))
      assert.strictEqual(
        message,
        `Cannot write ${nameOf(1)} in ${depot.location}: a depot at a web address is read-only. ` +
          "Set LARDER_DEPOT to the bucket or the folder that is served there."
      )
      const others = [
        depot.putHint(hintName, "{}"),
        depot.remove([nameOf(1)]),
        listObjectTimes(depot),
        depot.removeUnfinished(0)
      ]
      for (const other of others) assert.match((yield* Effect.flip(other)).message, /is read-only/)
    })
  )
  itLive("also reads a public bucket", () =>
    Effect.gen(function* () {
      const { depot: filled, service } = yield* aBucket
      yield* filled.putText(nameOf(1), "{}")
      const depot = yield* openForReading(service.address)
      assert.deepStrictEqual(yield* depot.list("generations/"), [nameOf(1)])
    })
  )
  itLive("requires caches to revalidate texts, and sends a user and a password that no message shows", () =>
    Effect.gen(function* () {
      const host = yield* aHost({ [`/${nameOf(1)}`]: [200, {}, "{}"], [`/${nameOf(2)}`]: [401, {}, "who are you?"] })
      const depot = yield* openForReading(host.address, { name: "zoë", password: Redacted.make("geheim") })
      assert.deepStrictEqual(yield* depot.readText(nameOf(1)), Option.some("{}"))
      const { authorization, "cache-control": cacheControl, traceparent } = host.requests[0]?.headers ?? {}
      assert.deepStrictEqual(
        [authorization, cacheControl, traceparent],
        [`Basic ${Buffer.from("zoë:geheim").toString("base64")}`, "no-cache", undefined]
      )
      const { message } = yield* Effect.flip(depot.readText(nameOf(2)))
      assert.match(message, /^Cannot read .*: the host returned 401\. Put a user name and a password/)
      assert.notMatch(message, /geheim|Basic/)
    })
  )
  itLive("says where a redirect leads, and does not follow it", () =>
    Effect.gen(function* () {
      const host = yield* aHost({ [`/${nameOf(1)}`]: [301, { location: "https://new.example.com/1.json" }, ""] })
      const { message } = yield* Effect.flip((yield* openForReading(host.address)).readText(nameOf(1)))
      assert.match(
        message,
        /returned 301\. Use the address that it redirects to: https:\/\/new\.example\.com\/1\.json\.$/
      )
    })
  )
  itLive("rejects a response that the host compressed although it must not", () =>
    Effect.gen(function* () {
      const host = yield* aHost({ [`/${nameOf(1)}`]: [200, { "content-encoding": "gzip" }, "pressed"] })
      const { message } = yield* Effect.flip(
        (yield* openForReading(host.address)).readText(nameOf(1)).pipe(withQuickRetries)
      )
      assert.match(message, /the text is sent as gzip\. Check the host/)
    })
  )
  itLive("reports a host that does not respond", () =>
    Effect.gen(function* () {
      const host = yield* Effect.scoped(aHost({})) // already closed
      const { message } = yield* Effect.flip(
        (yield* openForReading(host.address)).readText(nameOf(1)).pipe(withQuickRetries)
      )
      assert.match(
        message,
        /the connection failed \(connect ECONNREFUSED .*\)\. Check the network and the service, and run again\.$/
      )
    })
  )
})
