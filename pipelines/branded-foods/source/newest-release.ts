/**
 * Finds the release to load. There is no address for "the latest": the download page names the releases, and their
 * names contain their dates. About two releases a year appear, on unannounced days. If the page names none, dates are
 * not tried one by one: the run fails and explains how to continue with a manual download. Recordings and local files
 * are found through the origin's listing.
 */
import { readFile } from "node:fs/promises"
import { isDay } from "@larder/schemas"
import { Effect, Schema } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import { fileScheme } from "../../run/origins/file.ts"
import { NotRecorded, Origin, RefusedByUpstream } from "../../run/origins/origin.ts"

const host = "https://fdc.nal.usda.gov"

/** The base address of the releases. */
export const datasets = `${host}/fdc-datasets/`

/** The download page, at its current and its former address. */
const pages = [`${host}/download-datasets`, `${host}/download-datasets.html`]

export interface Release {
  /** A zip with the JSON form, or the JSON file itself. */
  readonly json: string | undefined
  /** A zip with the CSV form, or the separate CSV files. */
  readonly csv: string | ReadonlyArray<string> | undefined
  /** A zip whose name does not tell which form it holds; its members do. */
  readonly zip: string | undefined
  /** The date in the name. Null if there is none: a local file may have any name. */
  readonly released_on: string | null
}

/** There is no release to load, or none can be determined. */
export class ReleaseUnknown extends Schema.TaggedError<ReleaseUnknown>()("ReleaseUnknown", {
  where: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    const byHand = "Download a zip of branded foods in a browser, and run: larder-ingest branded-foods --file <zip>"
    return `${this.where} names no release of branded foods: ${this.problem}. ${byHand}`
  }
}

/** `FoodData_Central_branded_food_json_2026-04-30.zip`, or what it unpacks to; also the zip of all foods. */
const releaseName = /FoodData_Central_(?:branded_food_)?(json|csv)_(\d{4}-\d{2}-\d{2})(?:\.zip|\.json|\/[^/]+\.csv)?$/i

interface Named {
  readonly address: string
  readonly form: "json" | "csv" | undefined
  readonly released_on: string | null
}

const named = (address: string): Named => {
  const [, form, day] = releaseName.exec(address) ?? []
  const byEnd = /\.(json|csv)$/i.exec(address)?.[1]
  const known = (byEnd ?? form)?.toLowerCase()
  const anyDay = day ?? /(\d{4}-\d{2}-\d{2})[^/]*(?:\/[^/]*)?$/.exec(address)?.[1]
  return {
    address,
    form: known === "json" || known === "csv" ? known : undefined,
    released_on: anyDay !== undefined && isDay(anyDay) ? anyDay : null
  }
}

/** Both forms, if both exist for that day. A zip takes precedence over the files that it unpacks to. */
const releaseOf = (files: ReadonlyArray<Named>, released_on: string | null): Release => {
  const ofForm = (form: Named["form"]) => files.filter((file) => file.form === form).map(({ address }) => address)
  const zipOr = <A>(addresses: ReadonlyArray<string>, otherwise: A) =>
    addresses.find((address) => /\.zip$/i.test(address)) ?? otherwise
  const [json, csv] = [ofForm("json"), ofForm("csv")]
  return {
    json: zipOr(json, json[0]),
    csv: zipOr(csv, csv.length === 0 ? undefined : csv),
    zip: zipOr(ofForm(undefined), undefined),
    released_on
  }
}

const newestOf = (addresses: ReadonlyArray<string>) => {
  const files = addresses.map(named).filter(({ form, released_on }) => form !== undefined && released_on !== null)
  const [newest] = files.map(({ released_on }) => released_on ?? "").sort((a, b) => (a < b ? 1 : -1))
  return newest === undefined
    ? undefined
    : releaseOf(
        files.filter(({ released_on }) => released_on === newest),
        newest
      )
}

/** Only names of branded foods: the page names all data. Links are relative in some years, absolute in others. */
const namesIn = (page: string) => page.match(/FoodData_Central_branded_food_(?:json|csv)_\d{4}-\d{2}-\d{2}\.zip/g) ?? []

const namesOn = Effect.fnUntraced(function* (url: string) {
  const archive = yield* Archive
  const { path } = yield* archive.fetch({ url, accept: "text/html" })
  return namesIn(yield* Effect.promise(() => readFile(path, "utf8"))) // the archive has just written this file
})

/** The former address may no longer exist, and the current one may be removed. */
const isGone = (error: unknown) => error instanceof RefusedByUpstream && [404, 410].includes(error.status)

const isAbsent = (error: unknown) => error instanceof NotRecorded || isGone(error)

const fromPages = Effect.gen(function* () {
  for (const url of pages) {
    const names = yield* Effect.catchIf(namesOn(url), isGone, () => Effect.succeed([]))
    const release = newestOf(names.map((name) => datasets + name))
    if (release !== undefined) return release
  }
  return yield* new ReleaseUnknown({ where: pages[0] ?? host, problem: "it is gone, or made otherwise than it was" })
})

/** The newest release that the origin of this run has. */
export const newestRelease = Effect.fn("Release.newest")(function* () {
  const origin = yield* Origin
  const given = yield* origin.listing(fileScheme)
  if (given === undefined) return yield* fromPages
  if (given.length > 0) {
    const files = given.map(named)
    return releaseOf(files, files[0]?.released_on ?? null)
  }
  const recorded = (yield* origin.listing(datasets)) ?? []
  const release = newestOf(recorded.filter((address) => /_branded_food_/i.test(address)))
  if (release !== undefined) return release
  yield* Effect.catchIf(namesOn(pages[0] ?? host), isAbsent, () => Effect.void) // fails with the recorded refusal, if there is one
  const where = origin.kind === "sample" ? "the bundled samples" : "the recording"
  const wanted = "FoodData_Central_branded_food_json_YYYY-MM-DD.zip"
  return yield* new ReleaseUnknown({
    where,
    problem: `nothing there is called ${new URL(datasets).host}/fdc-datasets/${wanted}`
  })
})
