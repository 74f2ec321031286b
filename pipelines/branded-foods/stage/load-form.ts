/** Loads one form of a release from its archived payloads into the staging file. */
import type { Staging } from "@larder/warehouse"
import { Effect } from "effect"
import type { FetchedPayload } from "../../run/archive/fetch-list.ts"
import { csvMembers, members } from "../decode/csv/members.ts"
import { countsFile } from "../decode/csv/stated-counts.ts"
import { type FormToLoad, formFeed, type ReleaseForm } from "../source/fetch-release.ts"
import { openZip, readUnzipped, type Zip } from "../source/zip.ts"
import { MemberMissing, printableName } from "../source/zip-members.ts"
import type { Load } from "./load.ts"
import { loadCsv } from "./load-csv.ts"
import { loadJson } from "./load-json.ts"

/** The name of a payload in errors: the last part of its address. */
const payloadName = ({ url }: Pick<FetchedPayload, "url">) =>
  decodeURIComponent(url.slice(url.lastIndexOf("/") + 1)).replace(/^file:/, "")

const describeFolder = ([first]: ReadonlyArray<FetchedPayload>) => {
  const parts = (first?.url ?? "").replace(/^file:/, "").split("/")
  return `The folder ${decodeURIComponent(parts.at(-2) ?? "")}`.trimEnd()
}

const isZip = (file: FetchedPayload) => /\.zip$/i.test(file.url)

/** The CSV files of a release. Files that older releases lack may be missing. */
const collectCsv = Effect.fnUntraced(function* <E>(
  has: (file: string) => boolean,
  pathOf: (file: string) => Effect.Effect<string, E>
) {
  const names = csvMembers.filter((name) => members[name].isNeeded || has(`${name}.csv`))
  const paths = yield* Effect.forEach(names, (name) =>
    Effect.map(pathOf(`${name}.csv`), (path) => [name, path] as const)
  )
  return { members: new Map(paths), counts: has(countsFile) ? yield* pathOf(countsFile) : undefined }
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
      return Effect.fail(new MemberMissing({ zip: describeFolder(files), wanted: file, members: names }))
    }
  )
}

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
    feed: formFeed(form),
    released_on,
    fetched_at: first.fetched_at,
    raw_sha256: first.sha256,
    url: first.url,
    payloadOf: (member) => files.find((raw) => payloadName(raw).toLowerCase() === `${member}.csv`) ?? first
  }
  if (form === "csv") {
    const csv = zip === undefined ? yield* findCsv(files) : yield* unpackCsv(zip, folder)
    const isComplete = zip !== undefined // checksums prove that nothing is missing
    return { form, ...(yield* loadCsv(staging.db, load, { ...csv, isComplete }, folder)) }
  }
  const name = payloadName(first)
  if (zip === undefined) {
    return { form, ...(yield* loadJson(staging, load, { name, bytes: readUnzipped(first.path, name) }, folder)) }
  }
  const member = yield* zip.json
  const list = { name: `${name} (${printableName(member.name)})`, bytes: zip.bytes(member) }
  return { form, ...(yield* loadJson(staging, load, list, folder)) }
}, Effect.scoped)
