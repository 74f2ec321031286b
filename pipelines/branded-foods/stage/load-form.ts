/** Loads one form of a release from its archived payloads into the staging file. */
import type { Staging } from "@larder/warehouse"
import { Effect, Path } from "effect"
import type { RawFile } from "../../run/archive/fetch-list.ts"
import { csvMembers, members } from "../decode/csv/members.ts"
import { countsFile } from "../decode/csv/stated-counts.ts"
import { type FormToLoad, feedName, type ReleaseForm } from "../source/fetch-release.ts"
import { openZip, readUnzipped, type Zip } from "../source/zip.ts"
import { MemberMissing, printableName } from "../source/zip-members.ts"
import type { Load } from "./load.ts"
import { loadCsv } from "./load-csv.ts"
import { loadJson } from "./load-json.ts"

/** The name of a payload in errors: the last part of its address. */
const payloadName = ({ url }: Pick<RawFile, "url">) =>
  decodeURIComponent(url.slice(url.lastIndexOf("/") + 1)).replace(/^file:/, "")

const describeFolder = ([first]: ReadonlyArray<RawFile>) => {
  const parts = (first?.url ?? "").replace(/^file:/, "").split("/")
  return `The folder ${decodeURIComponent(parts.at(-2) ?? "")}`.trimEnd()
}

const isZip = (file: RawFile) => /\.zip$/i.test(file.url)

/** Unpacks the CSV files of a zip into the run's folder. Files that older releases lack may be missing. */
const unpackCsv = Effect.fnUntraced(function* (zip: Zip, folder: string) {
  const path = yield* Path.Path
  const names = csvMembers.filter(
    (name) => members[name].isNeeded || zip.members.some((member) => member.name.toLowerCase() === `${name}.csv`)
  )
  const extract = (file: string) => {
    const target = path.join(folder, file)
    return zip.member(file).pipe(
      Effect.flatMap((member) => zip.extract(member, target)),
      Effect.as(target)
    )
  }
  const files = yield* Effect.forEach(names, (name) =>
    Effect.map(extract(`${name}.csv`), (target) => [name, target] as const)
  )
  const hasCounts = zip.members.some((member) => member.name.toLowerCase() === countsFile)
  return { members: new Map(files), counts: hasCounts ? yield* extract(countsFile) : undefined, areComplete: true }
})

/** The CSV files of a folder. Files that older releases lack may be missing. */
const findCsv = Effect.fnUntraced(function* (files: ReadonlyArray<RawFile>) {
  const byName = new Map(files.map((raw) => [payloadName(raw).toLowerCase(), raw]))
  const missing = csvMembers.find((name) => members[name].isNeeded && !byName.has(`${name}.csv`))
  if (missing !== undefined) {
    const names = files.map(payloadName).slice(0, 20)
    return yield* new MemberMissing({ zip: describeFolder(files), wanted: `${missing}.csv`, members: names })
  }
  const paths = csvMembers.flatMap((name) => {
    const file = byName.get(`${name}.csv`)
    return file === undefined ? [] : [[name, file.path] as const]
  })
  return { members: new Map(paths), counts: byName.get(countsFile)?.path, areComplete: false }
})

/** The form of a zip whose name does not say it. */
const detectForm = ({ members: inside }: Zip): ReleaseForm => {
  const has = (pattern: RegExp) => inside.some(({ name }) => pattern.test(name))
  return has(/\.json$/i) && !has(/^branded_food\.csv$/i) ? "json" : "csv"
}

export const loadForm = Effect.fn("brandedFoods.load")(function* (
  { files, form: knownForm, released_on }: FormToLoad,
  {
    folder,
    staging,
    ...run
  }: Pick<Load, "run_id" | "advance" | "acceptShrinkage"> & {
    readonly staging: Staging
    /** The run's folder, for unpacked files. */
    readonly folder: string
  }
) {
  const [first] = files
  if (first === undefined) return yield* Effect.die(new Error("a form of a release has at least one payload"))
  const zip = isZip(first) ? yield* openZip(first.path, payloadName(first)) : undefined
  const form = knownForm ?? (zip === undefined ? "csv" : detectForm(zip))
  const load: Load = {
    ...run,
    form,
    feed: feedName(form),
    released_on,
    fetched_at: first.fetched_at,
    raw_sha256: first.sha256,
    url: first.url,
    payloadOf: (member) => files.find((raw) => payloadName(raw).toLowerCase() === `${member}.csv`) ?? first
  }
  if (form === "csv") {
    const paths = zip === undefined ? yield* findCsv(files) : yield* unpackCsv(zip, folder)
    return { form, ...(yield* loadCsv(staging.db, load, paths, folder)) }
  }
  const name = payloadName(first)
  if (zip === undefined) {
    return { form, ...(yield* loadJson(staging, load, { name, bytes: readUnzipped(first.path, name) }, folder)) }
  }
  const member = yield* zip.json
  const list = { name: `${name} (${printableName(member.name)})`, bytes: zip.bytes(member) }
  return { form, ...(yield* loadJson(staging, load, list, folder)) }
}, Effect.scoped)
