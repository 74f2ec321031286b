/**
 * Finds the release to load. There is no URL for the latest: the download page lists the releases, about two a year, and
 * their names contain their dates. If the page lists none, the run fails and explains how to continue with a manual
 * download. Recordings and local files are listed by the run's origin.
 */
import { readFile } from "node:fs/promises"
import { Effect, Schema } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import { fileScheme } from "../../run/origins/file.ts"
import { NotRecorded, Origin, RefusedByUpstream } from "../../run/origins/origin.ts"
import { releaseDay } from "./release-day.ts"

const host = "https://fdc.nal.usda.gov"

export const datasetsUrl = `${host}/fdc-datasets/`

/** The download page, at its current and its previous address. */
const pages = [`${host}/download-datasets`, `${host}/download-datasets.html`]

export interface Release {
  /** A zip with the JSON form, or the JSON file itself. */
  readonly json: string | undefined
  /** A zip with the CSV form, or the separate CSV files. */
  readonly csv: string | ReadonlyArray<string> | undefined
  /** A zip whose name does not state whether it contains JSON or CSV; its members do. */
  readonly zip: string | undefined
  /** Forms that the download page does not list, although it lists the other one. */
  readonly missing: ReadonlyArray<"json" | "csv">
  /** The date in the name. Null if there is none: a local file may have any name, and only its members may state one. */
  readonly released_on: string | null
}

export class NoReleaseFound extends Schema.TaggedError<NoReleaseFound>()("NoReleaseFound", {
  where: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    const manualDownload =
      "Download a zip of branded foods in a browser, and run: larder-ingest branded-foods --file <zip>"
    return `No release of branded foods was found ${this.where}: ${this.problem}. ${manualDownload}`
  }
}

/** `FoodData_Central_branded_food_json_2026-04-30.zip`, or a file unpacked from it; also matches the zip of all foods. */
const releaseName = /FoodData_Central_(?:branded_food_)?(json|csv)_\d{4}-\d{2}-\d{2}(?:\.zip|\.json|\/[^/]+\.csv)?$/i

const parseAddress = (address: string) => {
  const [, form] = releaseName.exec(address) ?? []
  const extension = /\.(json|csv)$/i.exec(address)?.[1]
  const stated = (extension ?? form)?.toLowerCase()
  return {
    address,
    form: stated === "json" || stated === "csv" ? stated : undefined,
    released_on: releaseDay(address)
  }
}

type ReleaseFile = ReturnType<typeof parseAddress>

/** Both forms, if both exist for that day. A zip takes precedence over files unpacked from it. */
const assembleRelease = (files: ReadonlyArray<ReleaseFile>, released_on: string | null): Release => {
  const addressesOf = (form: ReleaseFile["form"]) =>
    files.filter((file) => file.form === form).map(({ address }) => address)
  const findZip = (addresses: ReadonlyArray<string>) => addresses.find((address) => /\.zip$/i.test(address))
  const [json, csv] = [addressesOf("json"), addressesOf("csv")]
  return {
    json: findZip(json) ?? json[0],
    csv: findZip(csv) ?? (csv.length === 0 ? undefined : csv),
    zip: findZip(addressesOf(undefined)),
    missing: [],
    released_on
  }
}

const findNewest = (addresses: ReadonlyArray<string>) => {
  const files = addresses
    .map(parseAddress)
    .filter(({ form, released_on }) => form !== undefined && released_on !== null)
  const newest = files
    .map(({ released_on }) => released_on ?? "")
    .sort()
    .at(-1)
  if (newest === undefined) return undefined
  const filesOfDay = files.filter(({ released_on }) => released_on === newest)
  return assembleRelease(filesOfDay, newest)
}

/** Only branded foods: the page lists all data types. Links are relative in some years, absolute in others. */
const zipName = /FoodData_Central_branded_food_(?:json|csv)_\d{4}-\d{2}-\d{2}\.zip/g

const readPage = Effect.fnUntraced(function* (url: string) {
  const archive = yield* Archive
  const { path } = yield* archive.fetch({ url, accept: "text/html" })
  const page = yield* Effect.promise(() => readFile(path, "utf8")) // the archive has just written this file
  return page.match(zipName) ?? []
})

/** Either page may be removed. */
const isPageRemoved = (error: unknown) => error instanceof RefusedByUpstream && [404, 410].includes(error.status)

const isPageMissing = (error: unknown) => error instanceof NotRecorded || isPageRemoved(error)

const findOnPages = Effect.gen(function* () {
  for (const url of pages) {
    const names = yield* Effect.catchIf(readPage(url), isPageRemoved, () => Effect.succeed([]))
    const release = findNewest(names.map((name) => datasetsUrl + name))
    if (release !== undefined) {
      const missing = (["json", "csv"] as const).filter((form) => release[form] === undefined)
      return { ...release, missing }
    }
  }
  const problem = "the page no longer exists, or its layout has changed"
  return yield* new NoReleaseFound({ where: `on ${pages[0]}`, problem })
})

export const findNewestRelease = Effect.fn("Release.newest")(function* () {
  const origin = yield* Origin
  const localFiles = yield* origin.list(fileScheme)
  if (localFiles === undefined) return yield* findOnPages
  if (localFiles.length > 0) {
    const files = localFiles.map(parseAddress)
    return assembleRelease(files, files[0]?.released_on ?? null)
  }
  const recorded = (yield* origin.list(datasetsUrl)) ?? []
  const release = findNewest(recorded.filter((address) => /_branded_food_/i.test(address)))
  if (release !== undefined) return release
  yield* Effect.catchIf(readPage(pages[0] ?? host), isPageMissing, () => Effect.void) // fails with the recorded error response, if there is one
  const where = origin.kind === "sample" ? "in the bundled samples" : "in the recording"
  const expectedName = `${datasetsUrl.replace("https://", "")}FoodData_Central_branded_food_json_YYYY-MM-DD.zip`
  return yield* new NoReleaseFound({ where, problem: `it has no file named ${expectedName}` })
})
