/** Loads one form of a release from the archive into the staging file. */
import type { Staging } from "@larder/warehouse"
import { Effect } from "effect"
import type { FetchedPayload } from "../../run/archive/fetch-list.ts"
import { csvMembers, members } from "../decode/csv/members.ts"
import { countsFile } from "../decode/csv/stated-counts.ts"
import { type FormToLoad, formFeed, type ReleaseForm } from "../source/fetch-release.ts"
import { openZip, readUnzipped, type Zip } from "../source/zip.ts"
import { FileMissing, printableName } from "../source/zip-members.ts"
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

export const loadForm = Effect.fn("brandedFoods.load")(function* (
  { files, form: knownForm, released_on }: FormToLoad,
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
    return { form, ...(yield* loadCsv(staging.db, load, { ...csv, isComplete }, folder)) }
  }
  const name = payloadName(first)
  if (zip === undefined) {
    return { form, ...(yield* loadJson(staging, load, { name, bytes: readUnzipped(first.path, name) }, folder)) }
  }
  const member = yield* zip.json
  const document = { name: `${name} (${printableName(member.name)})`, bytes: zip.bytes(member) }
  return { form, ...(yield* loadJson(staging, load, document, folder)) }
}, Effect.scoped)
