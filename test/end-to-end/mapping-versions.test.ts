/** Runs on a warehouse that another version of a mapping made. Samples and recordings are read and rebuilt: about a minute. */
import { readdirSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { brandedFoods } from "@larder/pipelines/branded-foods/branded-foods.ts"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { sampleOrigin } from "@larder/pipelines/run/origins/replay.ts"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import type { Manifest } from "@larder/warehouse"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { everyFeed, writeRecordings } from "../support/pipelines/commodity-payloads.ts"
import { runInProcess } from "../support/pipelines/in-process.ts"
import { serveFeeds } from "../support/pipelines/live-commodities.ts"
import { ingestLive, redirectHosts, unpaced } from "../support/pipelines/live-runs.ts"
import { startUpstream } from "../support/pipelines/upstream.ts"
import { type Environment, run } from "../support/programs.ts"
import { describeSamples } from "../support/shared-samples.ts"
import { ingest } from "./branded-foods.ts"
import {
  copyForTest,
  makeTestFolder,
  newestManifest,
  parseRunRecord,
  query,
  removeFolder,
  replayFolder,
  temporaryFolder
} from "./ingesting.ts"
import { keepOrder, recordings } from "./real-recordings.ts"
import { copySlice } from "./real-slice.ts"
import { recordedStores } from "./storefront-recordings.ts"
import { replayStores, writeFiles } from "./storefronts.ts"

const pipelines = [commodities, brandedFoods, storefronts]
type Name = (typeof pipelines)[number]["name"]

/** Everything that must stay: rows with their ids, runs and histories. */
const rowsThatStay: Readonly<Record<Name, ReadonlyArray<string>>> = {
  commodities: [
    "commodity.observation_version",
    "(select * exclude (measure, no_values_reason) from commodity.metric)", // without prices, the column depends on what the newest run read
    "commodity.series",
    "ingest.reject"
  ],
  "branded-foods": ["branded_food.food", "branded_food.version", "branded_food.nutrition", "ingest.reject"],
  storefronts: [
    "storefront.product",
    "storefront.variant",
    "storefront.collection",
    "(select * exclude (last_seen_at) from storefront.sighting)",
    "storefront.variant_change",
    "storefront.listing",
    "(select * exclude (payload) from ingest.reject)" // their payloads have the place of a row in all that was read
  ]
}

const readRows = (home: string, pipeline: Name) =>
  query(
    home,
    ...(rowsThatStay[pipeline] ?? []).map((from) => `select to_json(t)::varchar as row from ${from} t order by all`)
  )

const manifestFileOf = (depot: string, { number }: Manifest) =>
  path.join(depot, "generations", `${String(number).padStart(9, "0")}.json`)

/** The manifest, as if a version of the mapping with another number had made the data set. */
const withMapping = (manifest: Manifest, pipeline: Name, difference: number): Manifest => {
  const entry = manifest.data_sets[pipeline]
  if (entry?.mapping === undefined) throw new Error(`there is no ${pipeline}`)
  const data_sets = { ...manifest.data_sets, [pipeline]: { ...entry, mapping: entry.mapping + difference } }
  return { ...manifest, data_sets }
}

/** Replaces the newest manifest in these folders. */
const setMapping = (home: string, pipeline: Name, difference: number, ...depots: ReadonlyArray<string>) => {
  const manifest = withMapping(newestManifest(home), pipeline, difference)
  for (const depot of [path.join(home, "warehouse"), ...depots]) {
    const file = manifestFileOf(depot, manifest)
    rmSync(file)
    writeFileSync(file, JSON.stringify(manifest), { mode: 0o444 })
  }
}

const mappingIn = (home: string, pipeline: Name) => newestManifest(home).data_sets[pipeline]?.mapping

type AnyPipeline = (typeof pipelines)[number]

/** A run of one pipeline, without the start of a program. */
const ingestSamples = (home: string, pipeline: AnyPipeline) =>
  runInProcess(pipeline, home, sampleOrigin(fileURLToPath(pipeline.samples)))

const runSamples = (home: string, args: ReadonlyArray<string>, environment: Environment = {}) =>
  run("larder-ingest", args, { LARDER_HOME: home, LARDER_SOURCES: "sample", ...environment })

/** Runs again on a home that an older mapping made. Expects the code of the first run, a rebuild, and the same rows. */
const expectRebuilt = async (
  home: string,
  { mappingVersion, name }: AnyPipeline,
  expected: number,
  again: () => Promise<{ readonly code: number | null; readonly output: string }>
) => {
  const before = await readRows(home, name)
  expect(before.flat().length, name).toBeGreaterThan(10)
  setMapping(home, name, -1)
  const { number } = newestManifest(home)
  const { code, output } = await again()
  expect(code, output).toBe(expected)
  expect(output).toContain(`${name} was made with version ${mappingVersion - 1} of its mapping, and is rebuilt`)
  expect(mappingIn(home, name)).toBe(mappingVersion)
  expect(newestManifest(home).data_sets[name]?.published_in).toBeGreaterThan(number)
  const after = await readRows(home, name)
  for (const [index, table] of (rowsThatStay[name] ?? []).entries()) expect(after[index], table).toEqual(before[index])
}

describe("a run that finds samples of an older mapping", () => {
  it.each(pipelines)("rebuilds $name, with the same ids, times and histories", async (pipeline) => {
    const home = copyForTest(inject("sampleHome"))
    await expectRebuilt(home, pipeline, 0, () => ingestSamples(home, pipeline))
    const { event } = newestManifest(home)
    expect(event).toMatchObject({ kind: "run", outcome: "unchanged" })
  })

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

/** The recordings are replayed twice: before and after the older mapping. Known payloads are not read again. */
const testRecordings = (
  pipeline: AnyPipeline,
  [expected, expectedAgain]: readonly [number, number],
  write: (folder: string) => void,
  replay: (home: string, folder: string) => Promise<Awaited<ReturnType<typeof run>>>
) => {
  const [home, folder] = [temporaryFolder(), path.join(temporaryFolder(), "recordings")]
  beforeAll(async () => {
    write(folder)
    const first = await replay(home, folder)
    expect(first.code, first.stderr).toBe(expected)
  })
  afterAll(() => [home, path.dirname(folder)].forEach(removeFolder))

  it("are rebuilt by the next run, with the same ids, times and histories", async () => {
    await expectRebuilt(home, pipeline, expectedAgain, async () => {
      const ended = await replay(home, folder)
      expect(parseRunRecord(ended)).toMatchObject({ rows_loaded: 0 })
      return { code: ended.code, output: ended.stderr }
    })
  })
}

describeSamples("gov", "recordings of reports that an older mapping read", () =>
  testRecordings(commodities, [4, 4], (folder) => writeRecordings(folder, recordings(keepOrder)), replayFolder)
)
describeSamples("fdc", "the slice of a release that an older mapping read", () =>
  testRecordings(brandedFoods, [4, 0], copySlice, ingest)
)
describeSamples("storefront", "recordings of stores that an older mapping read", () =>
  testRecordings(
    storefronts,
    [4, 4],
    (folder) => {
      const stores = recordedStores()
      for (const { files } of stores) writeFiles(folder, files)
      writeFiles(folder, { "stores.json": stores.map(({ store }) => store) })
    },
    replayStores
  )
)
