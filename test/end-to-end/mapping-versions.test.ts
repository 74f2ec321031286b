/** Runs on a warehouse that another version of a mapping made: the bundled samples are rebuilt. */
import { readdirSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { brandedFoods } from "@larder/pipelines/branded-foods/branded-foods.ts"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { sampleOrigin } from "@larder/pipelines/run/origins/replay.ts"
import { dataSets } from "@larder/warehouse"
import { Effect } from "effect"
import { describe, expect, inject, it } from "vitest"
import { everyFeed, writeRecordings } from "../support/pipelines/commodity-payloads.ts"
import { runInProcess } from "../support/pipelines/in-process.ts"
import { serveFeeds } from "../support/pipelines/live-commodities.ts"
import { ingestLive, redirectHosts, unpaced } from "../support/pipelines/live-runs.ts"
import { startUpstream } from "../support/pipelines/upstream.ts"
import { type Environment, run } from "../support/programs.ts"
import { findViolationsIn } from "../support/warehouse/loaded-tables.ts"
import { copyForTest, makeTestFolder, newestManifest, replayFolder } from "./ingesting.ts"
import {
  type AnyPipeline,
  expectRebuilt,
  manifestFileOf,
  mappingIn,
  pipelines,
  readRows,
  setMapping,
  withMapping
} from "./mapping-versions.ts"

/** A run of one pipeline, without the start of a program. */
const ingestSamples = (home: string, pipeline: AnyPipeline) =>
  runInProcess(pipeline, home, sampleOrigin(fileURLToPath(pipeline.samples)))

const runSamples = (home: string, args: ReadonlyArray<string>, environment: Environment = {}) =>
  run("larder-ingest", args, { LARDER_HOME: home, LARDER_SOURCES: "sample", ...environment })

describe("a run that finds samples of an older mapping", () => {
  it.each(pipelines)(
    "rebuilds $name, with the same ids, times and histories, and with all keys and references",
    async (pipeline) => {
      const home = copyForTest(inject("sampleHome"))
      await expectRebuilt(home, pipeline, 0, () => ingestSamples(home, pipeline))
      const { event } = newestManifest(home)
      expect(event).toMatchObject({ kind: "run", outcome: "unchanged" })
      const schema = dataSets.find(({ about }) => about.pipeline === pipeline.name)?.schema ?? ""
      const { checked, found } = await findViolationsIn(home, schema, "ingest")
      expect(checked).toBeGreaterThan(35)
      expect(found).toEqual([])
    }
  )

  it.each(pipelines)(
    "refuses if the archive lacks a run of $name, changes nothing, and names the command",
    async (pipeline) => {
      const { name } = pipeline
      const home = copyForTest(inject("sampleHome"))
      for (const list of readdirSync(path.join(home, "raw/fetches"))) rmSync(path.join(home, "raw/fetches", list))
      setMapping(home, name, -1)
      const { data_sets } = newestManifest(home)
      const { code, output } = await ingestSamples(home, pipeline)
      expect(code).toBe(1)
      expect(output).toContain(`${path.join(home, "raw")} has no run of it. Restore the archive from a backup`)
      expect(output).toMatch(new RegExp(`npx larder-ingest rebuild ${name}$`, "m"))
      expect(newestManifest(home)).toMatchObject({ data_sets, event: { kind: "run", outcome: "failed" } })
    }
  )

  it.each(pipelines)("does not publish $name to a newer mapping, and says what to update", async (pipeline) => {
    const { name } = pipeline
    const home = copyForTest(inject("sampleHome"))
    setMapping(home, name, 1)
    const { data_sets } = newestManifest(home)
    const run = await ingestSamples(home, pipeline)
    expect([run.code, run.output]).toEqual([1, expect.stringContaining("Update Larder on this machine.")])
    for (const args of [
      [name, "--dry-run"],
      ["rebuild", name]
    ]) {
      const { code, problems } = await runSamples(home, args)
      expect(code, args.join(" ")).toBe(1)
      expect(problems).toContain("Update Larder on this machine.")
    }
    expect(newestManifest(home).data_sets).toEqual(data_sets)
  })

  it("changes nothing as a dry run, and names the command", async () => {
    const home = copyForTest(inject("sampleHome"))
    setMapping(home, "commodities", -1)
    const before = newestManifest(home)
    const { code, problems } = await runSamples(home, ["commodities", "--dry-run"])
    expect(code).toBe(1)
    expect(problems).toContain("npx larder-ingest rebuild commodities\n")
    expect(newestManifest(home)).toEqual(before)
  })
})

describe("machines that share a depot", () => {
  it("rebuild a data set on the machine that has its archive; another one refuses until then", async () => {
    const [here, there, depot] = [makeTestFolder(), makeTestFolder(), makeTestFolder()]
    const shared = { LARDER_DEPOT: depot }
    expect((await runSamples(here, ["branded-foods"], shared)).code).toBe(0)
    const rows = await readRows(here, "branded-foods")
    setMapping(here, "branded-foods", -1, depot)
    const refused = await runSamples(there, ["branded-foods"], shared)
    expect([refused.code, refused.problems]).toEqual([1, expect.stringContaining("has no run of it")])
    const { code, stderr } = await runSamples(here, ["branded-foods"], shared)
    expect(code, stderr).toBe(0)
    expect((await runSamples(there, ["branded-foods"], shared)).code).toBe(0)
    for (const home of [here, there]) {
      expect(mappingIn(home, "branded-foods")).toBe(brandedFoods.mappingVersion)
      expect(await readRows(home, "branded-foods")).toEqual(rows)
    }
  })
})

describe("a run during which a newer version of Larder publishes the same data set", () => {
  it("publishes nothing, and says what to update", () =>
    Effect.gen(function* () {
      const home = makeTestFolder()
      const folder = makeTestFolder()
      writeRecordings(folder, everyFeed())
      expect((yield* Effect.promise(() => replayFolder(home, folder))).code).toBe(0)
      const { number } = newestManifest(home)
      const respond = serveFeeds(everyFeed)
      const upstream = yield* startUpstream((response, n, request) => {
        if (n === 1) {
          const newer = withMapping({ ...newestManifest(home), number: number + 1, id: "newer" }, "commodities", 1)
          writeFileSync(manifestFileOf(path.join(home, "warehouse"), newer), JSON.stringify(newer))
        }
        respond(response, n, request)
      })
      const origin = redirectHosts(
        ({ host, pathname, search }) => `${upstream.url}/${host}${pathname}${search}`,
        unpaced
      )
      const environment = { MARS_API_KEY: "a-key" }
      const ended = yield* Effect.promise(() => ingestLive(commodities, { home, environment, origin }))
      expect(upstream.requests.length).toBeGreaterThan(1)
      expect(ended.problem).toContain("Update Larder on this machine.")
      expect(ended.run).toBeNull()
      expect(mappingIn(home, "commodities")).toBe(commodities.mappingVersion + 1)
    }).pipe(Effect.scoped, Effect.runPromise))
})
