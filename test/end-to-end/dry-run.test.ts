/** Dry runs of samples and live sources leave the disk unchanged. */
import { createHash } from "node:crypto"
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import { Effect } from "effect"
import { inject } from "vitest"
import { everyFeed } from "../support/pipelines/commodity-payloads.ts"
import { zipOf } from "../support/pipelines/handmade-zips.ts"
import { serveFeeds } from "../support/pipelines/live-commodities.ts"
import { type EndedRun, ingestLive, redirectHosts, unpaced } from "../support/pipelines/live-runs.ts"
import { goodZip, jsonRelease, recordOf } from "../support/pipelines/small-releases.ts"
import { startUpstream } from "../support/pipelines/upstream.ts"
import { run } from "../support/programs.ts"
import { startFdcHost, zipAt } from "./fdc-host.ts"
import { copyForTest, makeTestFolder } from "./ingesting.ts"

const describeContent = (file: string) => {
  return lstatSync(file).isFile() ? createHash("sha256").update(readFileSync(file)).digest("hex") : "folder"
}

/** Lists every name below a folder with its content; "nothing" if the folder does not exist. */
const listContents = (folder: string): ReadonlyArray<string> =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" })
        .sort()
        .map((name) => `${name} ${describeContent(path.join(folder, name))}`)
    : ["nothing"]

const pipelines = ["commodities", "branded-foods", "storefronts"] as const

describe("a dry run of the bundled samples", () => {
  it("reports that nothing was published, and creates no folder for an empty home", async () => {
    const home = path.join(makeTestFolder(), "home")
    const { code, stderr, stdout } = await run("larder-ingest", ["all", "--dry-run"], { LARDER_HOME: home })
    assert.strictEqual(code, 0, stderr)
    for (const pipeline of pipelines) {
      assert.include(stdout, `${pipeline}: dry run: nothing was published; a run would publish a new generation\n`)
    }
    assert.isFalse(existsSync(home))
  })

  it.each(pipelines)("leaves an existing home unchanged, and compares with its data: %s", async (pipeline) => {
    const home = copyForTest(inject("sampleHome"))
    const before = listContents(home)
    const { code, stderr, stdout } = await run("larder-ingest", [pipeline, "--dry-run"], { LARDER_HOME: home })
    assert.strictEqual(code, 0, stderr)
    assert.include(
      stdout,
      `${pipeline}: dry run: nothing was published; a run would publish nothing, because nothing is new\n`
    )
    assert.deepStrictEqual(listContents(home), before)
  })

  it("leaves no record and no home when it fails", async () => {
    const home = path.join(makeTestFolder(), "home")
    const args = ["commodities", "--dry-run", "--replay", makeTestFolder()]
    assert.strictEqual((await run("larder-ingest", args, { LARDER_HOME: home })).code, 1)
    assert.isFalse(existsSync(home))
  })
})

/** Makes a dry run without a home, a run, and another dry run; the source responds differently each time. */
const expectNoFiles = async (ingest: (home: string, dryRun: boolean) => Promise<EndedRun>) => {
  const home = path.join(makeTestFolder(), "home")
  const first = await ingest(home, true)
  assert.deepStrictEqual([first.problem, first.run?.generation], ["", null])
  assert.isAbove(first.run?.rows_loaded ?? 0, 0)
  assert.isFalse(existsSync(home))
  assert.strictEqual((await ingest(home, false)).run?.generation, "larder-000001")
  const before = listContents(home)
  const second = await ingest(home, true)
  assert.deepStrictEqual([second.problem, second.run?.generation], ["", null])
  assert.isAbove(second.run?.rows_loaded ?? 0, 0)
  assert.deepStrictEqual(listContents(home), before)
}

describe("a dry run of live sources", () => {
  it.live("leaves no files of commodities", () =>
    Effect.gen(function* () {
      let edition = 0
      const closes = "gov-mars/1603"
      const bodies = everyFeed()
      const upstream = yield* startUpstream(
        serveFeeds(() => ({ ...bodies, [closes]: String(bodies[closes]).replaceAll("1.39", `1.4${edition}`) }))
      )
      const origin = redirectHosts(
        ({ host, pathname, search }) => `${upstream.url}/${host}${pathname}${search}`,
        unpaced
      )
      const environment = { MARS_API_KEY: "a-key" }
      yield* Effect.promise(() =>
        expectNoFiles((home, dryRun) => {
          edition += 1
          return ingestLive(commodities, { home, dryRun, environment, origin })
        })
      )
    }).pipe(Effect.scoped)
  )

  it("leaves no files of branded foods", async () => {
    const host = await startFdcHost()
    let day = 0
    await expectNoFiles((home, dryRun) => {
      day += 1
      host.releases.clear()
      const json = { path: "brandedDownload.json", content: jsonRelease([recordOf(day)]) }
      host.releases.set(zipAt("csv", `2026-04-0${day}`), goodZip(day))
      host.releases.set(zipAt("json", `2026-04-0${day}`), zipOf(json))
      return host.ingest(home, dryRun)
    })
    host.close()
  })

  it.live("leaves no files of stores, and sends conditional requests for archived payloads", () =>
    Effect.gen(function* () {
      const csv = (price: string) => `Handle,Title,Variant Price\nrye,Rye bread,${price}\n`
      let price = 0
      const host = yield* startUpstream((response, _, { headers, url }) => {
        if (url === "/changing.csv") response.end(csv(`${price}.50`))
        else if (url !== "/steady.csv") response.writeHead(404).end()
        else if (headers["if-none-match"] === '"1"') response.writeHead(304, { etag: '"1"' }).end()
        else response.writeHead(200, { etag: '"1"' }).end(csv("9.50"))
      })
      const list = path.join(makeTestFolder(), "stores.json")
      const stores = ["changing", "steady"].map((name) => ({
        domain: `${name}.example`,
        name,
        kind: "shopify-csv",
        location: `${host.url}/${name}.csv`
      }))
      writeFileSync(list, JSON.stringify(stores))
      const environment = { LARDER_PRIVATE_HOSTS: "127.0.0.1", LARDER_STORE_MAX_INTERVAL: "0 days" }
      yield* Effect.promise(() =>
        expectNoFiles((home, dryRun) => {
          price += 1
          return ingestLive(storefronts, { home, dryRun, stores: list, environment })
        })
      )
      const conditions = host.requests
        .filter(({ url }) => url === "/steady.csv")
        .map(({ headers }) => headers["if-none-match"])
      assert.deepStrictEqual(conditions, [undefined, undefined, '"1"'])
    }).pipe(Effect.scoped)
  )
})
