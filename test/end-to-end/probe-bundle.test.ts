/** The bundle of a probe: real responses without keys, which a probe and a run can read. */
import { readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { buffer } from "node:stream/consumers"
import { assert, describe, it } from "@effect/vitest"
import { brandedFoods } from "@larder/pipelines/branded-foods/branded-foods.ts"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import type { FeedVerdict } from "@larder/pipelines/probe/verdict.ts"
import { liveOrigin } from "@larder/pipelines/run/origins/live.ts"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import { Effect } from "effect"
import { fromBufferPromise } from "yauzl"
import { aRange, bodyOf, feedNamed } from "../support/pipelines/commodity-payloads.ts"
import { zipOf } from "../support/pipelines/handmade-zips.ts"
import { goodFiles } from "../support/pipelines/small-releases.ts"
import { hasty, range, startShop } from "../support/pipelines/store-host.ts"
import { startUpstream } from "../support/pipelines/upstream.ts"
import { run } from "../support/programs.ts"
import { startFdcHost, zipAt } from "./fdc-host.ts"
import { makeTestFolder, query } from "./ingesting.ts"
import { key, liveFrom, makeRecent, probeIntoBundle, startServices } from "./probing.ts"
import { writeFiles } from "./storefronts.ts"

const secret = key.MARS_API_KEY
const token = "feed-token-31415926"
const pathSecret = "9f8a7c6d5e4fsecretpath"
const password = "pass-of-the-proxy-2718"
const day = "2026-04-30"

/** Lists names and contents of a zip, and of zips inside of it. */
const unzip = async (bytes: Buffer): Promise<ReadonlyArray<readonly [string, Buffer]>> => {
  const zip = await fromBufferPromise(bytes)
  const found: Array<readonly [string, Buffer]> = []
  for await (const entry of zip.eachEntry()) {
    const content = await buffer(await zip.openReadStreamPromise(entry))
    found.push([entry.fileName, content])
    if (entry.fileName.endsWith(".zip")) found.push(...(await unzip(content)))
  }
  return found
}

const inBase64 = [`${secret}:`, `user:${secret}`, `a${secret}b`].map((text) => Buffer.from(text).toString("base64"))

/** Probes sources that repeat received secrets wherever they can, and sources that fail. */
const makeBundle = Effect.gen(function* () {
  const folder = yield* Effect.sync(() => makeTestFolder())
  const east = feedNamed("gov-mars/1047")
  const intact = makeRecent(bodyOf(feedNamed("gov-mars/1043"), [aRange(1043)]))
  const repeated = JSON.stringify([secret, encodeURIComponent(secret), `Basic ${inBase64[0]}`, ...inBase64.slice(1)])
  const services = yield* startServices({
    "gov-mars/1043": { body: intact.replace(/^\[|^\{/, (start) => (start === "{" ? `{"echo": ${repeated},` : start)) },
    [east.feed]: { body: makeRecent(bodyOf(east, [aRange(1047)])).replaceAll("price_m", "cost_m") },
    "gov-mars/1089": { body: `<html><title>${secret}</title>${repeated}`, type: `text/html; key=${secret}` },
    "gov-mars/1090": { status: 404, body: `{"message": "no report for ${secret} or ${inBase64[0]}"}` },
    "gov-mars/1099": { status: 500, body: `{"message": "failed with ${inBase64[1]}"}` }
  })
  const host = yield* Effect.acquireRelease(Effect.promise(startFdcHost), (started) =>
    Effect.sync(() => started.close())
  )
  host.releases.set(zipAt("csv", day), zipOf(...goodFiles()))
  host.releases.set(zipAt("json", day), Buffer.from("gone"))
  host.faults.set(zipAt("json", day), (response) => response.writeHead(404).end())
  const open = yield* startShop({ pages: [range(1, 3)] })
  const closed = yield* startShop({ pages: [range(1, 3)], robots: "User-agent: *\nDisallow: /products.json" })
  const broken = yield* startUpstream((response) =>
    response.writeHead(500).end(`no feed for ${token} at ${pathSecret}`)
  )
  const list = [
    { domain: "open.example", name: "Open", kind: "shopify", location: open.url },
    { domain: "closed.example", name: "Closed", kind: "shopify", location: closed.url },
    {
      domain: "broken.example",
      name: "B",
      kind: "google-merchant",
      location: `${broken.url}/feeds/${pathSecret}.xml?token=${token}`
    }
  ]
  const stores = path.join(writeFiles(folder, { "list.json": list }), "list.json")
  const file = path.join(folder, "bundle.zip")
  const environment = {
    ...key,
    LARDER_PRIVATE_HOSTS: "127.0.0.1",
    HTTPS_PROXY: `http://me:${password}@proxy.example:3128`,
    NO_PROXY: "*"
  }
  const verdicts = yield* probeIntoBundle(
    file,
    [
      [commodities, { origin: liveFrom(services) }],
      [brandedFoods, { origin: host.origin }],
      [storefronts, { origin: liveOrigin(hasty), stores }]
    ],
    environment
  )
  return { file, folder, verdicts, names: yield* Effect.promise(() => unzip(readFileSync(file))) }
}).pipe(Effect.scoped)

const formatVerdicts = (verdicts: ReadonlyArray<FeedVerdict>) =>
  verdicts.map(({ feed, verdict }) => `${feed}: ${verdict}`).sort()

describe("a bundle of a probe", () => {
  it.live("contains no key, token or password, and replays to the same verdicts", () =>
    Effect.gen(function* () {
      const { file, names, verdicts } = yield* makeBundle
      assert.deepStrictEqual([...new Set(verdicts.map(({ verdict }) => verdict))].sort(), [
        "differs",
        "ok",
        "unreachable"
      ])
      const texts = names.map(([name, bytes]) => `${name}\n${bytes.toString("latin1")}`)
      const secrets = [
        secret,
        token,
        pathSecret,
        password,
        ...inBase64,
        Buffer.from(secret).toString("base64").replace(/=*$/, "")
      ]
      for (const secret of secrets)
        assert.deepStrictEqual(
          texts.filter((text) => text.includes(secret)),
          []
        )
      const json = names.find(([name]) => name === "probe.json")?.[1].toString() ?? ""
      assert.include(json, "text/html; key=redacted-1")
      assert.include(json, '"path": "food_nutrient.csv"')

      const replayed = yield* Effect.promise(() =>
        run("larder-ingest", ["probe", "--replay", file, "--json"], {
          LARDER_HOME: path.join(path.dirname(file), "home")
        })
      )
      assert.deepStrictEqual(formatVerdicts(JSON.parse(replayed.stdout).feeds), formatVerdicts(verdicts))
      assert.strictEqual(replayed.code, 4)
      assert.include(replayed.stdout, "HTTP 500 Internal Server Error")
      assert.include(replayed.stdout, "robots.txt forbids /products.json")
    })
  )

  it.live("can be read by runs", () =>
    Effect.gen(function* () {
      const { file, folder } = yield* makeBundle
      const home = path.join(folder, "home")
      const ended = yield* Effect.promise(() => run("larder-ingest", ["all", "--replay", file], { LARDER_HOME: home }))
      assert.strictEqual(ended.code, 4, ended.stderr)
      const [prices, labels, products] = yield* Effect.promise(() =>
        query(
          home,
          "select count(distinct metric_name)::integer as found from commodity.observation where metric_name like '%dry_whey%'",
          "select count(*)::integer as found from branded_food.food",
          "select count(*)::integer as found from storefront.product"
        )
      )
      assert.isAbove(Number(prices?.[0]?.found), 0)
      assert.deepStrictEqual([labels?.[0]?.found, products?.[0]?.found], [3, 3])
    })
  )

  it("is written by --bundle, only to a new file", async () => {
    const folder = makeTestFolder()
    const recordings = path.join(folder, "recordings")
    const name = "mpr.datamart.ams.usda.gov/services/v1.1/reports/2991/Detail"
    writeFiles(recordings, { [name]: JSON.parse(bodyOf(feedNamed("gov-mpr/2991/Detail"), [])) })
    const file = path.join(folder, "bundle.zip")
    const probe = (target: string) =>
      run("larder-ingest", ["probe", "commodities", "--replay", recordings, "--bundle", target], {
        LARDER_HOME: folder
      })
    const ended = await probe(file)
    assert.include(
      ended.stderr,
      "bundle.zip has 1 recordings. Keys were removed, and so was every part of a store's address that may be a secret. Check it before you send it."
    )
    assert.deepStrictEqual(
      (await unzip(readFileSync(file))).map(([found]) => found),
      ["probe.json", name]
    )
    writeFileSync(file, "mine")
    for (const [target, problem] of [
      [file, "already exists. Name a new file."],
      [path.join(folder, "none", "b.zip"), "there is no folder"]
    ] as const) {
      const refused = await probe(target)
      assert.strictEqual(refused.code, 2)
      assert.include(refused.stderr, problem)
    }
    assert.strictEqual(readFileSync(file, "utf8"), "mine")
  })
})
