import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import { repeatRun } from "../../run/archive/archived-runs.ts"
import { fileOrigin } from "../../run/origins/file.ts"
import { Origin, RefusedByUpstream } from "../../run/origins/origin.ts"
import { replayOrigin } from "../../run/origins/replay.ts"
import { fetchRelease } from "./fetch-release.ts"
import { datasetsUrl, findNewestRelease, NoReleaseFound } from "./newest-release.ts"

const host = "fdc.nal.usda.gov"
const zip = (form: string, day: string) => `${datasetsUrl}FoodData_Central_branded_food_${form}_${day}.zip`

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

/** The download page as a recording that behaves like the network: it cannot list its files. */
const fromPage = Effect.fnUntraced(function* (...pages: ReadonlyArray<readonly [string, string]>) {
  const folder = yield* folderWith(...pages.map(([name, html]) => [`${host}/${name}`, html] as const))
  const online = Layer.effect(
    Origin,
    Effect.map(Origin, (recorded) =>
      Origin.of({
        ...recorded,
        open: (request) =>
          Effect.catchTag(recorded.open(request), "NotRecorded", ({ url }) =>
            Effect.fail(new RefusedByUpstream({ url, status: 404, problem: "HTTP 404 Not Found" }))
          ),
        list: () => Effect.succeed(undefined)
      })
    )
  ).pipe(Layer.provide(replayOrigin(folder)))
  return yield* findNewestRelease().pipe(Effect.provide([archiveIn(yield* folderWith()), online]))
})

const fromRecording = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
  const folder = yield* folderWith(...names.map((name) => [`${host}/fdc-datasets/${name}`, ""] as const))
  return yield* findNewestRelease().pipe(Effect.provide([archiveIn(yield* folderWith()), replayOrigin(folder)]))
})

const fromFile = Effect.fnUntraced(function* (name: string, ...files: ReadonlyArray<string>) {
  const folder = yield* folderWith(...(files.length === 0 ? [name] : files).map((file) => [file, ""] as const))
  return yield* findNewestRelease().pipe(
    Effect.provide([archiveIn(yield* folderWith()), fileOrigin(`${folder}/${name}`)])
  )
})

const link = (name: string) => `<td><a href="/fdc-datasets/${name}">Apr 2026</a></td>`

layer(NodeServices.layer)("the newest release", (it) => {
  it.effect("has the latest valid date on the download page, in both forms", () =>
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
        missing: [],
        released_on: "2026-04-30"
      })
    })
  )

  it.effect("has no CSV address if it exists as JSON only", () =>
    Effect.gen(function* () {
      const html = ["json_2026-04-30", "json_2025-12-18", "csv_2025-12-18"].map((name) =>
        link(`FoodData_Central_branded_food_${name}.zip`)
      )
      const { csv, json } = yield* fromPage(["download-datasets", html.join("\n")])
      assert.deepStrictEqual([json, csv], [zip("json", "2026-04-30"), undefined])
    })
  )

  it.effect("names the form that the page lacks, which a run then leaves out", () =>
    Effect.gen(function* () {
      const page = link("FoodData_Central_branded_food_json_2026-04-30.zip")
      const release = yield* fromPage(["download-datasets", page])
      assert.deepStrictEqual(release.missing, ["csv"])
      const url = `${host}/fdc-datasets/FoodData_Central_branded_food_json_2026-04-30.zip`
      const { forms, left_out } = yield* fetchRelease(release, [], new Map()).pipe(
        Effect.provide([archiveIn(yield* folderWith()), replayOrigin(yield* folderWith([url, "a zip"]))])
      )
      assert.deepStrictEqual(
        forms.map(({ form }) => form),
        ["json"]
      )
      const reason = "the download page does not list the CSV form of the release of 2026-04-30"
      assert.deepStrictEqual(left_out, [{ feed: "gov-fdc/csv", kind: "unreachable", reason }])
    })
  )

  it.effect("is also found on the previous page", () =>
    Effect.gen(function* () {
      const page = link("FoodData_Central_branded_food_csv_2026-04-30.zip")
      const { csv } = yield* fromPage(["download-datasets", "<div id=app>"], ["download-datasets.html", page])
      assert.strictEqual(csv, zip("csv", "2026-04-30"))
    })
  )

  it.effect("is an error if no page lists a release, with instructions for a manual download", () =>
    Effect.gen(function* () {
      for (const pages of [[["download-datasets", "<div id=app>"]], []] as const) {
        const error = yield* Effect.flip(fromPage(...pages))
        assert.instanceOf(error, NoReleaseFound)
        assert.strictEqual(
          error.message,
          "No release of branded foods was found on https://fdc.nal.usda.gov/download-datasets: the page no longer exists, or its layout has changed. Download a zip of branded foods in a browser, and run: larder-ingest branded-foods --file <zip>"
        )
      }
    })
  )

  it.effect("is found in the file list of a recording, or is an error", () =>
    Effect.gen(function* () {
      const name = "FoodData_Central_branded_food"
      const names = [
        `${name}_json_2025-12-18.zip`,
        `${name}_json_2026-04-30.json.gz`,
        "FoodData_Central_csv_2026-10-01.zip"
      ]
      const csv = ["food.csv", "branded_food.csv"].map((file) => `${name}_csv_2026-04-30/${file}`)
      assert.deepStrictEqual(yield* fromRecording(...names, ...csv), {
        json: `${datasetsUrl}${name}_json_2026-04-30.json`,
        csv: csv.map((file) => datasetsUrl + file).sort(),
        zip: undefined,
        missing: [],
        released_on: "2026-04-30"
      })
      const error = yield* Effect.flip(fromRecording("readme.txt"))
      assert.include(error.message, "No release of branded foods was found in the recording")
    })
  )

  it.effect("is the same as before in a repeated run", () =>
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
        bytes: 0
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
      const archive = { folder: "nowhere", scratch: "nowhere" }
      const { csv, json } = yield* findNewestRelease().pipe(Effect.provide(repeatRun(archive, run)))
      assert.deepStrictEqual([json, csv], [zip("json", "2026-04-30"), zip("csv", "2026-04-30")])
    })
  )
})

layer(NodeServices.layer)("a release that is passed with --file", (it) => {
  const none = { json: undefined, csv: undefined, zip: undefined, missing: [], released_on: null }
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
  ] as const)("has the form and the date of the file name: %s", ([file, expected]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* fromFile(file), { ...none, ...expected })
    })
  )

  it.effect("may be a folder of CSV files, with or without a date in its name", () =>
    Effect.gen(function* () {
      for (const [folder, released_on] of [
        ["FoodData_Central_branded_food_csv_2026-04-30", "2026-04-30"],
        ["unpacked", null]
      ] as const) {
        const files = ["food.csv", "nutrient.CSV", "guide.pdf"].map((file) => `${folder}/${file}`)
        const csv = [`file:${folder}/food.csv`, `file:${folder}/nutrient.CSV`]
        assert.deepStrictEqual(yield* fromFile(folder, ...files), { ...none, csv, released_on })
      }
    })
  )
})
