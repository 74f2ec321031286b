/** Live reads of services that refuse the key, lack it, or are unavailable. */
import { readdirSync, readFileSync, statSync } from "node:fs"
import type { ServerResponse } from "node:http"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { catalog } from "@larder/pipelines/commodities/catalog.ts"
import { NothingRead, reasonLines } from "@larder/pipelines/run/pipeline.ts"
import { Effect } from "effect"
import { feedNamed } from "../support/pipelines/commodity-payloads.ts"
import { bodiesOf, rowsIn, runLive, serveFeeds, temporaryHome } from "../support/pipelines/live-commodities.ts"
import { startUpstream } from "../support/pipelines/upstream.ts"

const { feeds } = catalog()

const closes = feedNamed("gov-mars/1603")
const marsFeeds = feeds.filter(({ source }) => source === "gov-mars")
const key = "0123456789-a-secret-key"

const butter = "gov-mpr/2993/Butter Prices and Sales"

/** Reads everything below a folder as one text. */
const readAllFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => `${file}\n${readFileSync(file, "latin1")}`)
    .join("\n")

describe("a service that refuses the key", () => {
  const forbidden = '{"status":"403 - Forbidden","errorCode":403,"message":"Access is denied"}'
  const refuseKey =
    (type: string, body: string) =>
    (response: ServerResponse, n: number, request: { readonly url: string; readonly headers: object }) => {
      if (!request.url.includes("marsapi")) return serveFeeds(() => bodiesOf(butter))(response, n, { url: request.url })
      response.writeHead(403, { "content-type": type })
      response.end(body)
    }

  it.live("is called once for each feed, reported with the reason of its refusal, and the other service is read", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const upstream = yield* startUpstream(refuseKey("application/json", forbidden))
      const { left_out, run } = yield* runLive({ home, upstream })
      const mars = left_out.flatMap(({ feed }) => (feed.startsWith("gov-mars/") ? [feed] : []))
      assert.deepStrictEqual(
        mars,
        marsFeeds.map(({ feed }) => feed)
      )
      for (const { reason } of left_out.slice(0, mars.length)) {
        assert.match(reason, /^GET \S+\/… was denied: .*"Access is denied"\. Check the key in MARS_API_KEY/)
      }
      assert.strictEqual(upstream.requests.filter(({ url }) => url.includes("marsapi")).length, mars.length)
      assert.isAbove(run.rows_loaded ?? 0, 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("receives the key by HTTP Basic, and no error, archive or warehouse contains the key", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const basic = Buffer.from(`${key}:`).toString("base64")
      const page = `<html><head><title>403 Forbidden</title></head><body>${key} ${basic}</body></html>`
      const upstream = yield* startUpstream(refuseKey("text/html", page))
      const { left_out } = yield* runLive({ home, upstream, environment: { MARS_API_KEY: ` ${key}\n` } })
      const [mars, mpr] = ["marsapi", "mpr"].map((host) => upstream.requests.find(({ url }) => url.includes(host)))
      assert.strictEqual(mars?.headers.authorization, `Basic ${basic}`)
      assert.isUndefined(mpr?.headers.authorization)
      assert.match(left_out[0]?.reason ?? "", /an HTML page titled "403 Forbidden"\. Check the key in MARS_API_KEY/)
      const everything = JSON.stringify(left_out) + readAllFiles(home)
      assert.notInclude(everything, key)
      assert.notInclude(everything, basic)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("a service without its key", () => {
  it.live("is not called; each of its feeds is left out for the same reason, and the other service is read", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const upstream = yield* startUpstream(serveFeeds(() => bodiesOf(butter, closes.feed)))
      const { left_out, run } = yield* runLive({ home, upstream, environment: { MARS_API_KEY: "  " } })
      const mars = left_out.filter(({ feed }) => feed.startsWith("gov-mars/"))
      assert.lengthOf(mars, marsFeeds.length)
      assert.deepStrictEqual([...new Set(mars.map(({ kind }) => kind))], ["unreachable"])
      const [line, ...lines] = reasonLines(mars)
      assert.deepStrictEqual(lines, [])
      assert.match(line ?? "", /^gov-mars\/1603, gov-mars\/1602, .*: It needs a key: set MARS_API_KEY /)
      assert.deepStrictEqual(
        upstream.requests.filter(({ url }) => url.includes("marsapi")),
        []
      )
      assert.isAbove(run.rows_loaded ?? 0, 0)
      const reasons = yield* rowsIn(
        home,
        `select no_values_reason, reason from commodity.metric join ingest.live_left_out using (feed)
         where metric_name = 'butter_exch_spot_close_daily'`
      )
      assert.deepStrictEqual(reasons, [
        {
          no_values_reason:
            "No usable number was read from gov-mars/1603. If the last run left it out, `ingest.live_left_out` says why.",
          reason: mars[0]?.reason
        }
      ])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("fails the run when the other service does not respond", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const upstream = yield* startUpstream((response) => response.writeHead(404).end())
      const error = yield* Effect.flip(runLive({ home, upstream, environment: {} }))
      assert.instanceOf(error, NothingRead)
      assert.lengthOf(error.reasons, 1 + feeds.length - marsFeeds.length)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("a service that is unavailable", () => {
  it.live("gets two tries for each feed if it responds with errors, and the other service is read", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const upstream = yield* startUpstream((response, n, request) => {
        if (!request.url.includes("mpr")) return serveFeeds(() => bodiesOf(closes.feed))(response, n, request)
        response.writeHead(500).end()
      })
      const { left_out: all, run } = yield* runLive({ home, upstream })
      const left_out = all.filter(({ feed }) => feed.startsWith("gov-mpr/"))
      assert.strictEqual(left_out.length, feeds.length - marsFeeds.length)
      for (const { reason } of left_out) assert.match(reason, /^GET \S+\/… failed after 2 tries: HTTP 500 Internal/)
      const urls = upstream.requests.flatMap(({ url }) => (url.includes("mpr") ? [url] : []))
      const first = urls.slice(0, left_out.length)
      assert.lengthOf(new Set(first), left_out.length, "second tries come after all first ones")
      assert.deepStrictEqual(urls.slice(left_out.length).sort(), first.toSorted())
      assert.isAbove(run.rows_loaded ?? 0, 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("makes the run publish nothing when no other service responds, with a reason for each feed", () =>
    Effect.gen(function* () {
      const home = yield* temporaryHome
      const upstream = yield* startUpstream((response) => response.writeHead(404).end())
      const error = yield* Effect.flip(runLive({ home, upstream }))
      assert.instanceOf(error, NothingRead)
      for (const { feed } of feeds) assert.include(error.message, `${feed}: `)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
