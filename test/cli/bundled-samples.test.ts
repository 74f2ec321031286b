/** Bundled samples stay marked as samples when a user reads them explicitly, because most of their numbers are generated. */
import { cpSync, readdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { makeTestFolder, parseRunRecord, query } from "../end-to-end/ingesting.ts"
import { everyFeed, writeRecordings } from "../support/pipelines/commodity-payloads.ts"
import { run } from "../support/programs.ts"
import { repository } from "../support/repository.ts"

const getSamplesFolder = (pipeline: string) => path.join(repository, "pipelines", pipeline, "samples")
const zips = path.join(getSamplesFolder("branded-foods"), "fdc.nal.usda.gov/fdc-datasets")
const aZip = path.join(zips, readdirSync(zips).find((name) => name.endsWith(".zip")) ?? "")

const originQueries = [
  "select distinct origin from ingest.raw_file",
  "select origin from ingest.run",
  "select origin, is_sample, licence from ingest.data_set"
]

describe("bundled samples that a user reads explicitly", () => {
  /** Writes a user's store list that names a copy of a bundled file. */
  const writeOwnList = () => {
    const folder = makeTestFolder()
    cpSync(
      path.join(getSamplesFolder("storefronts"), "harbour-bakery.example/products_export.csv"),
      path.join(folder, "own.csv")
    )
    const store = { domain: "own.example", name: "Own", kind: "shopify-csv", location: "own.csv" }
    writeFileSync(path.join(folder, "stores.json"), JSON.stringify([store]))
    return path.join(folder, "stores.json")
  }
  it.each<readonly [string, () => ReadonlyArray<string>]>([
    ["as a recording", () => ["commodities", "--replay", getSamplesFolder("commodities")]],
    ["as a release", () => ["branded-foods", "--file", aZip]],
    ["by a store list", () => ["storefronts", "--stores", writeOwnList()]]
  ])("are marked as samples %s", async (_, args) => {
    const home = makeTestFolder()
    const result = await run("larder-ingest", [...args(), "--json"], { LARDER_HOME: home })
    assert.strictEqual(result.code, 0, result.stderr)
    assert.strictEqual(parseRunRecord(result).origin, "sample")
    const [files, runs, [dataSet] = []] = await query(home, ...originQueries)
    assert.deepStrictEqual([files, runs], [[{ origin: "sample" }], [{ origin: "sample" }]])
    assert.deepInclude(dataSet, { origin: "sample", is_sample: true })
    assert.match(String(dataSet?.licence), /^Generated values: MIT\. All others: /)
  })

  it("are not mixed with live data", async () => {
    const home = makeTestFolder()
    const folder = makeTestFolder()
    writeFileSync(path.join(folder, "rye.csv"), "Handle,Title,Variant Price\nrye,Rye bread,2.50\n")
    const store = { domain: "rye.example", name: "Rye", kind: "shopify-csv", location: "rye.csv" }
    writeFileSync(path.join(folder, "stores.json"), JSON.stringify([store]))
    const list = path.join(folder, "stores.json")
    const live = await run("larder-ingest", ["storefronts", "--stores", list], { LARDER_HOME: home })
    assert.strictEqual(live.code, 0, live.stderr)
    const replayed = await run("larder-ingest", ["storefronts", "--replay", getSamplesFolder("storefronts")], {
      LARDER_HOME: home
    })
    assert.strictEqual(replayed.code, 2)
    assert.match(
      replayed.stderr,
      /This warehouse contains live stores; the bundled samples, .* are not mixed with them/
    )
  })

  it("keep their mark in a rebuilt data set", async () => {
    const home = makeTestFolder()
    await run("larder-ingest", ["storefronts", "--stores", writeOwnList()], { LARDER_HOME: home })
    const rebuilt = await run("larder-ingest", ["rebuild"], { LARDER_HOME: home })
    assert.strictEqual(rebuilt.code, 0, rebuilt.stderr)
    const [runs, files, [dataSet] = []] = await query(
      home,
      originQueries[1] ?? "",
      originQueries[0] ?? "",
      originQueries[2] ?? ""
    )
    assert.deepStrictEqual([runs, files], [[{ origin: "sample" }], [{ origin: "sample" }]])
    assert.deepInclude(dataSet, { origin: "sample", is_sample: true })
  })

  it("are distinguished from a user's own recordings, which stay marked as replayed", async () => {
    const home = makeTestFolder()
    const folder = makeTestFolder()
    writeRecordings(folder, everyFeed())
    const result = await run("larder-ingest", ["commodities", "--replay", folder, "--json"], { LARDER_HOME: home })
    assert.strictEqual(parseRunRecord(result).origin, "replay", result.stderr)
    const [files] = await query(home, originQueries[0] ?? "")
    assert.deepStrictEqual(files, [{ origin: "replay" }])
  })
})
