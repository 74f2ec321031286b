import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import { openArchive, repeatRun } from "../../run/archive/archived-runs.ts"
import { fileOrigin } from "../../run/origins/file.ts"
import { Origin, RefusedByUpstream } from "../../run/origins/origin.ts"
import { replayOrigin } from "../../run/origins/replay.ts"
import { datasets, newestRelease, ReleaseUnknown } from "./newest-release.ts"

const host = "fdc.nal.usda.gov"
const zip = (form: string, day: string) => `${datasets}FoodData_Central_branded_food_${form}_${day}.zip`

const folderWith = Effect.fnUntraced(function* (...files: ReadonlyArray<readonly [string, string]>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-release-" })
  for (const [name, content] of files) {
    yield* fs.makeDirectory(path.dirname(`${folder}/${name}`), { recursive: true })
    yield* fs.writeFileString(`${folder}/${name}`, content)
  }
  return folder
})

const archiveIn = (folder: string) => Archive.layer({ folder, run_id: "run-1", pipeline: "branded-foods", days: null })

/** The download page as a recording, asked like the network: it cannot tell what it holds. */
const fromPage = Effect.fnUntraced(function* (...pages: ReadonlyArray<readonly [string, string]>) {
  const folder = yield* folderWith(...pages.map(([name, html]) => [`${host}/${name}`, html] as const))
  const online = Layer.effect(
    Origin,
    Effect.map(Origin, (recorded) =>
      Origin.of({
        ...recorded,
        open: (ask) =>
          Effect.catchTag(recorded.open(ask), "NotRecorded", ({ url }) =>
            Effect.fail(new RefusedByUpstream({ url, status: 404, problem: "HTTP 404 Not Found" }))
          ),
        listing: () => Effect.succeed(undefined)
      })
    )
  ).pipe(Layer.provide(replayOrigin(folder)))
  return yield* newestRelease().pipe(Effect.provide([archiveIn(yield* folderWith()), online]))
})

const recorded = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
  const folder = yield* folderWith(...names.map((name) => [`${host}/fdc-datasets/${name}`, ""] as const))
  return yield* newestRelease().pipe(Effect.provide([archiveIn(yield* folderWith()), replayOrigin(folder)]))
})

const given = Effect.fnUntraced(function* (name: string, ...files: ReadonlyArray<string>) {
  const folder = yield* folderWith(...(files.length === 0 ? [name] : files).map((file) => [file, ""] as const))
  return yield* newestRelease().pipe(Effect.provide([archiveIn(yield* folderWith()), fileOrigin(`${folder}/${name}`)]))
})

const link = (name: string) => `<td><a href="/fdc-datasets/${name}">Apr 2026</a></td>`

layer(NodeServices.layer)("the newest release", (it) => {
  it.effect("takes the latest valid day that the download page names, in both forms", () =>
    Effect.gen(function* () {
      const html = [
        link("FoodData_Central_branded_food_csv_2026-04-30.zip"),
        link("FoodData_Central_foundation_food_json_2026-12-18.zip"),
        link("FoodData_Central_branded_food_json_2025-12-18.zip"),
        `<a href="https://${host}/fdc-datasets/FoodData_Central_branded_food_json_2026-04-30.zip">JSON</a>`,
        link("FoodData_Central_branded_food_json_2026-13-45.zip")
      ]
      assert.deepStrictEqual(yield* fromPage(["download-datasets", html.join("\n")]), {
        json: zip("json", "2026-04-30"),
        csv: zip("csv", "2026-04-30"),
        zip: undefined,
        released_on: "2026-04-30"
      })
    })
  )

  it.effect("gives no CSV address when the newest release is out as JSON only", () =>
    Effect.gen(function* () {
      const html = ["json_2026-04-30", "json_2025-12-18", "csv_2025-12-18"].map((name) =>
        link(`FoodData_Central_branded_food_${name}.zip`)
      )
      const { csv, json } = yield* fromPage(["download-datasets", html.join("\n")])
      assert.deepStrictEqual([json, csv], [zip("json", "2026-04-30"), undefined])
    })
  )

  it.effect("looks for the release at the page's former address, too", () =>
    Effect.gen(function* () {
      const page = link("FoodData_Central_branded_food_csv_2026-04-30.zip")
      const { csv } = yield* fromPage(["download-datasets", "<div id=app>"], ["download-datasets.html", page])
      assert.strictEqual(csv, zip("csv", "2026-04-30"))
    })
  )

  it.effect("fails when no page names a release, and says how to continue by hand", () =>
    Effect.gen(function* () {
      for (const pages of [[["download-datasets", "<div id=app>"]], []] as const) {
        const error = yield* Effect.flip(fromPage(...pages))
        assert.instanceOf(error, ReleaseUnknown)
        assert.strictEqual(
          error.message,
          "https://fdc.nal.usda.gov/download-datasets names no release of branded foods: it is gone, or made otherwise than it was. Download a zip of branded foods in a browser, and run: larder-ingest branded-foods --file <zip>"
        )
      }
    })
  )

  it.effect("finds the newest release of a recording in its list of files, or fails", () =>
    Effect.gen(function* () {
      const name = "FoodData_Central_branded_food"
      const names = [
        `${name}_json_2025-12-18.zip`,
        `${name}_json_2026-04-30.json.gz`,
        "FoodData_Central_csv_2026-10-01.zip"
      ]
      const csv = ["food.csv", "branded_food.csv"].map((file) => `${name}_csv_2026-04-30/${file}`)
      assert.deepStrictEqual(yield* recorded(...names, ...csv), {
        json: `${datasets}${name}_json_2026-04-30.json`,
        csv: csv.map((file) => datasets + file).sort(),
        zip: undefined,
        released_on: "2026-04-30"
      })
      const error = yield* Effect.flip(recorded("readme.txt"))
      assert.include(error.message, "the recording names no release of branded foods")
    })
  )

  it.effect("gives a repeated run the release that it fetched before", () =>
    Effect.gen(function* () {
      const urls = ["https://fdc.nal.usda.gov/download-datasets", zip("csv", "2026-04-30"), zip("json", "2026-04-30")]
      const fetch = {
        run_id: "run-1",
        pipeline: "branded-foods",
        days: null,
        origin: "live",
        final_url: "",
        status: 200,
        content_type: null,
        etag: null,
        last_modified: null,
        exact: true,
        fetched_at: "2026-10-01T00:00:00.000Z",
        sha256: "",
        bytes: 0,
        file: ""
      } as const
      const run = {
        run_id: "run-1",
        started_at: fetch.fetched_at,
        origin: "live",
        days: null,
        fetches: urls.map((url) => ({ ...fetch, url })),
        has_published: true,
        generation: null,
        shrinkage_accepted: false
      } as const
      const archive = yield* openArchive("nowhere", "nowhere")
      const { csv, json } = yield* newestRelease().pipe(Effect.provide(repeatRun(archive, run)))
      assert.deepStrictEqual([json, csv], [zip("json", "2026-04-30"), zip("csv", "2026-04-30")])
    })
  )
})

layer(NodeServices.layer)("a release that is given as a file", (it) => {
  const none = { json: undefined, csv: undefined, zip: undefined, released_on: null }
  const name = "FoodData_Central_branded_food_json_2026-04-30"

  it.effect.each([
    [`${name}.zip`, { json: `file:${name}.zip`, released_on: "2026-04-30" }],
    [`${name}.json`, { json: `file:${name}.json`, released_on: "2026-04-30" }],
    [
      "FoodData_Central_csv_2026-04-30.zip",
      { csv: "file:FoodData_Central_csv_2026-04-30.zip", released_on: "2026-04-30" }
    ],
    ["brandedDownload.json", { json: "file:brandedDownload.json" }],
    ["release 1.zip", { zip: "file:release%201.zip" }]
  ] as const)("takes form and day of the release from the file name: %s", ([file, expected]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* given(file), { ...none, ...expected })
    })
  )

  it.effect("accepts a folder of CSV files, with or without a date in its name", () =>
    Effect.gen(function* () {
      for (const [folder, released_on] of [
        ["FoodData_Central_branded_food_csv_2026-04-30", "2026-04-30"],
        ["unpacked", null]
      ] as const) {
        const files = ["food.csv", "nutrient.CSV", "guide.pdf"].map((file) => `${folder}/${file}`)
        const csv = [`file:${folder}/food.csv`, `file:${folder}/nutrient.CSV`]
        assert.deepStrictEqual(yield* given(folder, ...files), { ...none, csv, released_on })
      }
    })
  )
})
