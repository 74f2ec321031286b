/** Loads one form of a release from the archive into the staging file. */
import type { Staging } from "@larder/warehouse"
import { Effect } from "effect"
import type { FetchedPayload } from "../../run/archive/fetch-list.ts"
import { csvMembers, members } from "../decode/csv/members.ts"
import { countsFile } from "../decode/csv/stated-counts.ts"
import { type FormToLoad, formFeed, type ReleaseForm } from "../source/fetch-release.ts"
import { releaseDay } from "../source/release-day.ts"
import { openZip, readUnzipped, type Zip } from "../source/zip.ts"
import { FileMissing, findFoodsMember, printableName } from "../source/zip-members.ts"
import type { LoadInput } from "./load.ts"
import { loadCsv } from "./load-csv.ts"
import { loadJson } from "./load-json.ts"

/** Display name of a payload: the last segment of its URL. CSV files are also found by it. */
const payloadName = ({ url }: Pick<FetchedPayload, "url">) =>
  decodeURIComponent(url.slice(url.lastIndexOf("/") + 1)).replace(/^file:/, "")

const describeFolder = ([first]: ReadonlyArray<FetchedPayload>) => {
  const parts = (first?.url ?? "").replace(/^file:/, "").split("/")
  return `The folder ${decodeURIComponent(parts.at(-2) ?? "")}`.trimEnd()
}

const isZip = (file: FetchedPayload) => /\.zip$/i.test(file.url)

/** Locates the CSV files of a release. Files that older releases lack are optional. */
const collectCsv = Effect.fnUntraced(function* <E>(
  has: (file: string) => boolean,
  locate: (file: string) => Effect.Effect<string, E>
) {
  const names = csvMembers.filter((name) => members[name].isRequired || has(`${name}.csv`))
  const paths = yield* Effect.forEach(names, (name) =>
    Effect.map(locate(`${name}.csv`), (path) => [name, path] as const)
  )
  return { members: new Map(paths), counts: has(countsFile) ? yield* locate(countsFile) : undefined }
})

const unpackCsv = (zip: Zip, folder: string) =>
  collectCsv(
    (file) => zip.members.some(({ name }) => name.toLowerCase() === file),
    (file) => {
      const target = `${folder}/${file}`
      return Effect.as(
        Effect.flatMap(zip.member(file), (member) => zip.extract(member, target)),
        target
      )
    }
  )

const findCsv = (files: ReadonlyArray<FetchedPayload>) => {
  const paths = new Map(files.map((file) => [payloadName(file).toLowerCase(), file.path]))
  const names = files.map(payloadName).slice(0, 20)
  return collectCsv(
    (file) => paths.has(file),
    (file) => {
      const path = paths.get(file)
      if (path !== undefined) return Effect.succeed(path)
      return Effect.fail(new FileMissing({ container: describeFolder(files), missing: file, contents: names }))
    }
  )
}

/** Detects the form of a zip from its contents if its name does not state it. */
const detectForm = ({ members: entries }: Zip): ReleaseForm => {
  const has = (pattern: RegExp) => entries.some(({ name }) => pattern.test(name))
  return has(/\.json$/i) && !has(/^branded_food\.csv$/i) ? "json" : "csv"
}

/** Paths of the members that are read, which may state the date of the release. */
const pathsOf = ({ members: entries }: Zip, form: ReleaseForm) =>
  (form === "json"
    ? [findFoodsMember(entries)].flatMap((member) => member ?? [])
    : entries.filter(({ name }) => csvMembers.some((member) => name.toLowerCase() === `${member}.csv`))
  ).map(({ path }) => path)

/** Releases without a date are never newer than others, and never replace what these state. */
const warnOfMissingDay = (feed: string, file: string) =>
  Effect.logWarning(
    "the release is undated: neither its name nor its members have a date, so it never replaces values of a dated release"
  ).pipe(
    Effect.annotateLogs({
      feed,
      file,
      expected: "a file or folder named like FoodData_Central_branded_food_csv_YYYY-MM-DD"
    })
  )

export const loadForm = Effect.fn("brandedFoods.load")(function* (
  { files, form: knownForm, released_on: dayInAddress }: FormToLoad,
  {
    folder,
    staging,
    ...run
  }: Pick<LoadInput, "run_id" | "reportProgress" | "acceptShrinkage"> & {
    readonly staging: Staging
    /** The run's folder, for unpacked files. */
    readonly folder: string
  }
) {
  const [first] = files
  if (first === undefined) return yield* Effect.die(new Error("a form of a release has at least one payload"))
  const zip = isZip(first) ? yield* openZip(first.path, payloadName(first)) : undefined
  const form = knownForm ?? (zip === undefined ? "csv" : detectForm(zip))
  const released_on = zip === undefined ? dayInAddress : releaseDay(first.url, pathsOf(zip, form))
  if (released_on === null) yield* warnOfMissingDay(formFeed(form), payloadName(first))
  const load: LoadInput = {
    ...run,
    form,
    feed: formFeed(form),
    released_on,
    fetched_at: first.fetched_at,
    raw_sha256: first.sha256,
    url: first.url,
    payloadContaining: (member) => files.find((raw) => payloadName(raw).toLowerCase() === `${member}.csv`) ?? first
  }
  if (form === "csv") {
    const csv = zip === undefined ? yield* findCsv(files) : yield* unpackCsv(zip, folder)
    const isComplete = zip !== undefined // its checksums detect truncation; separate files have none
    return { form, released_on, ...(yield* loadCsv(staging.db, load, { ...csv, isComplete }, folder)) }
  }
  const name = payloadName(first)
  if (zip === undefined) {
    const document = { name, bytes: readUnzipped(first.path, name) }
    return { form, released_on, ...(yield* loadJson(staging, load, document, folder)) }
  }
  const member = yield* zip.json
  const document = { name: `${name} (${printableName(member.name)})`, bytes: zip.bytes(member) }
  return { form, released_on, ...(yield* loadJson(staging, load, document, folder)) }
}, Effect.scoped)
