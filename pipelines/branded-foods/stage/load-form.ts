/** Loads one form of a release from its archived payloads into the staging file. */
import type { Staging } from "@larder/warehouse"
import { Effect, Path } from "effect"
import type { RawFile } from "../../run/archive/fetch-list.ts"
import { memberNames, members } from "../decode/csv/members.ts"
import { countsFile } from "../decode/csv/stated-counts.ts"
import { type Form, type FormToLoad, feedOf } from "../source/fetch-release.ts"
import { openZip, plainBytes, type Zip } from "../source/zip.ts"
import { MemberMissing, shown } from "../source/zip-members.ts"
import type { Load } from "./load.ts"
import { loadCsv } from "./load-csv.ts"
import { loadJson } from "./load-json.ts"

/** The name of a payload in errors: the last part of its address. */
export const nameOf = ({ url }: Pick<RawFile, "url">) =>
  decodeURIComponent(url.slice(url.lastIndexOf("/") + 1)).replace(/^file:/, "")

/** The folder that holds these files. */
const folderOf = ([first]: ReadonlyArray<RawFile>) => {
  const parts = (first?.url ?? "").replace(/^file:/, "").split("/")
  return `The folder ${decodeURIComponent(parts.at(-2) ?? "")}`.trimEnd()
}

const isZip = (file: RawFile) => /\.zip$/i.test(file.url)

/** Writes the CSV files of a zip into the run's folder. Files that older releases lack may be missing. */
const unpack = Effect.fnUntraced(function* (zip: Zip, folder: string) {
  const path = yield* Path.Path
  const found = memberNames.filter(
    (name) => members[name].needed || zip.members.some((member) => member.name.toLowerCase() === `${name}.csv`)
  )
  const extract = (file: string) => {
    const target = path.join(folder, file)
    return zip.member(file).pipe(
      Effect.flatMap((member) => zip.extract(member, target)),
      Effect.as(target)
    )
  }
  const files = yield* Effect.forEach(found, (name) =>
    Effect.map(extract(`${name}.csv`), (target) => [name, target] as const)
  )
  const hasCounts = zip.members.some((member) => member.name.toLowerCase() === countsFile)
  return { members: new Map(files), counts: hasCounts ? yield* extract(countsFile) : undefined, areWhole: true }
})

/** The files of a folder, by their base names. Files that older releases lack may be missing. */
const unpacked = Effect.fnUntraced(function* (files: ReadonlyArray<RawFile>) {
  const found = new Map(files.map((raw) => [nameOf(raw).toLowerCase(), raw]))
  const missing = memberNames.find((name) => members[name].needed && !found.has(`${name}.csv`))
  if (missing !== undefined) {
    const held = files.map(nameOf)
    return yield* new MemberMissing({ zip: folderOf(files), wanted: `${missing}.csv`, members: held.slice(0, 20) })
  }
  const there = memberNames.flatMap((name) => {
    const file = found.get(`${name}.csv`)
    return file === undefined ? [] : [[name, file.path] as const]
  })
  return { members: new Map(there), counts: found.get(countsFile)?.path, areWhole: false }
})

interface Target {
  readonly staging: Staging
  readonly run_id: string
  /** The run's folder, for unpacked files. */
  readonly folder: string
  readonly advance: Load["advance"]
  readonly acceptShrinkage: boolean
}

/** The form that a zip holds, if its name does not tell. */
const formIn = ({ members: inside }: Zip): Form => {
  const has = (pattern: RegExp) => inside.some(({ name }) => pattern.test(name))
  return has(/\.json$/i) && !has(/^branded_food\.csv$/i) ? "json" : "csv"
}

export const loadForm = Effect.fn("brandedFoods.load")(function* (
  { files, form: named, released_on }: FormToLoad,
  { acceptShrinkage, advance, folder, run_id, staging }: Target
) {
  const [first] = files
  if (first === undefined) return yield* Effect.die(new Error("a form of a release has at least one payload"))
  const zip = isZip(first) ? yield* openZip(first.path, nameOf(first)) : undefined
  const form = named ?? (zip === undefined ? "csv" : formIn(zip))
  const load: Load = {
    run_id,
    form,
    feed: feedOf(form),
    released_on,
    fetched_at: first.fetched_at,
    raw_sha256: first.sha256,
    url: first.url,
    acceptShrinkage,
    payloadOf: (member) => files.find((raw) => nameOf(raw).toLowerCase() === `${member}.csv`) ?? first,
    advance
  }
  if (form === "csv") {
    const paths = zip === undefined ? yield* unpacked(files) : yield* unpack(zip, folder)
    return { form, ...(yield* loadCsv(staging.db, load, paths, folder)) }
  }
  const member = zip === undefined ? undefined : yield* zip.json
  const list =
    zip === undefined || member === undefined
      ? { name: nameOf(first), bytes: plainBytes(first.path, nameOf(first)) }
      : { name: `${nameOf(first)} (${shown(member.name)})`, bytes: zip.bytes(member) }
  return { form, ...(yield* loadJson(staging, load, list, folder)) }
}, Effect.scoped)
