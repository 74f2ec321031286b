/** Bundled samples that somebody reads by hand are samples all the same: their generated numbers are never taken for a source's. */
import { cpSync, readdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { makeTestFolder, query, recordOf } from "../end-to-end/ingesting.ts"
import { everyFeed, writeRecordings } from "../support/pipelines/commodity-payloads.ts"
import { run } from "../support/programs.ts"
import { repository } from "../support/repository.ts"

const samplesOf = (pipeline: string) => path.join(repository, "pipelines", pipeline, "samples")
const zips = path.join(samplesOf("branded-foods"), "fdc.nal.usda.gov/fdc-datasets")
const aZip = path.join(zips, readdirSync(zips).find((name) => name.endsWith(".zip")) ?? "")

const marks = [
  "select distinct origin from ingest.raw_file",
  "select origin from ingest.run",
  "select origin, is_sample, licence from ingest.data_set"
]

describe("bundled samples that are read by hand", () => {
  /** A store list of somebody's own beside it, which names a bundled file. */
  const ownList = () => {
    const folder = makeTestFolder()
    cpSync(
      path.join(samplesOf("storefronts"), "harbour-bakery.example/products_export.csv"),
      path.join(folder, "own.csv")
    )
    const store = { domain: "own.example", name: "Own", kind: "shopify-csv", location: "own.csv" }
    writeFileSync(path.join(folder, "stores.json"), JSON.stringify([store]))
    return path.join(folder, "stores.json")
  }
  it.each<readonly [string, () => ReadonlyArray<string>]>([
    ["as a recording", () => ["commodities", "--replay", samplesOf("commodities")]],
    ["as a release", () => ["branded-foods", "--file", aZip]],
    ["by a store list", () => ["storefronts", "--stores", ownList()]]
  ])("are marked as samples %s", async (_, args) => {
    const home = makeTestFolder()
    const ran = await run("larder-ingest", [...args(), "--json"], { LARDER_HOME: home })
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.strictEqual(recordOf(ran).origin, "sample")
    const [files, runs, [dataSet] = []] = await query(home, ...marks)
    assert.deepStrictEqual([files, runs], [[{ origin: "sample" }], [{ origin: "sample" }]])
    assert.deepInclude(dataSet, { origin: "sample", is_sample: true })
    assert.match(String(dataSet?.licence), /^Generated values: MIT\. All others: /)
  })

  it("are not mixed with what was read live", async () => {
    const home = makeTestFolder()
    const folder = makeTestFolder()
    writeFileSync(path.join(folder, "rye.csv"), "Handle,Title,Variant Price\nrye,Rye bread,2.50\n")
    const store = { domain: "rye.example", name: "Rye", kind: "shopify-csv", location: "rye.csv" }
    writeFileSync(path.join(folder, "stores.json"), JSON.stringify([store]))
    const list = path.join(folder, "stores.json")
    const live = await run("larder-ingest", ["storefronts", "--stores", list], { LARDER_HOME: home })
    assert.strictEqual(live.code, 0, live.stderr)
    const replayed = await run("larder-ingest", ["storefronts", "--replay", samplesOf("storefronts")], {
      LARDER_HOME: home
    })
    assert.strictEqual(replayed.code, 2)
    assert.match(
      replayed.stderr,
      /This warehouse contains live stores; the bundled samples, .* are not mixed with them/
    )
  })

  it("keep their mark in a data set that is rebuilt", async () => {
    const home = makeTestFolder()
    await run("larder-ingest", ["storefronts", "--stores", ownList()], { LARDER_HOME: home })
    const again = await run("larder-ingest", ["rebuild"], { LARDER_HOME: home })
    assert.strictEqual(again.code, 0, again.stderr)
    const [runs, files, [dataSet] = []] = await query(home, marks[1] ?? "", marks[0] ?? "", marks[2] ?? "")
    assert.deepStrictEqual([runs, files], [[{ origin: "sample" }], [{ origin: "sample" }]])
    assert.deepInclude(dataSet, { origin: "sample", is_sample: true })
  })

  it("are told apart from a user's own recordings, which stay marked as replayed", async () => {
    const home = makeTestFolder()
    const folder = makeTestFolder()
    writeRecordings(folder, everyFeed())
    const ran = await run("larder-ingest", ["commodities", "--replay", folder, "--json"], { LARDER_HOME: home })
    assert.strictEqual(recordOf(ran).origin, "replay", ran.stderr)
    const [files] = await query(home, marks[0] ?? "")
    assert.deepStrictEqual(files, [{ origin: "replay" }])
  })
})
