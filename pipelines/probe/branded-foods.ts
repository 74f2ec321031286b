/**
 * Probes the newest release of branded foods: the download page, and for each zip its list of members and their first
 * records, a few hundred kilobytes of hundreds of megabytes. Checks that they have the keys and columns that a run
 * needs.
 */
import path from "node:path"
import { Effect, FileSystem, Result } from "effect"
import { readHeader } from "../branded-foods/decode/csv/header.ts"
import { csvMembers, members } from "../branded-foods/decode/csv/members.ts"
import { FoodListUnusable } from "../branded-foods/decode/json/food-list.ts"
import { makeFoodSplitter } from "../branded-foods/decode/json/food-splitter.ts"
import { knownKeys } from "../branded-foods/decode/json/keys.ts"
import { compareWithShape } from "../branded-foods/decode/json/record-parts.ts"
import { findNewestRelease } from "../branded-foods/source/newest-release.ts"
import { findFoodsMember, type ZipMember } from "../branded-foods/source/zip-members.ts"
import type { OriginError } from "../run/origins/origin.ts"
import { explainUnreachable, failOnLocalFault, makeVerdictFactory, type ProbeFinding } from "./verdict.ts"
import { type MemberHead, readZipHeads, type ZipHeads } from "./zip-heads.ts"

const toVerdict = makeVerdictFactory("branded-foods", "FoodData Central (fdc.nal.usda.gov)")

/** Without these keys, no food can become a label. */
const neededKeys = ["fdcId", "description", "gtinUpc", "foodNutrients", "publicationDate"]

/** Returns the complete records at the beginning of the file. Throws `FoodListUnusable` if it is not a list of foods. */
export const parseFoods = ({ head, name }: MemberHead): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const { output, push } = makeFoodSplitter(name)
  push(head)
  const lines = output.lines().toString("utf8").split("\n").slice(0, -1)
  return lines.map((line) => {
    const { line: _line, ...food } = JSON.parse(line) // the splitter has added the record's line number
    return food
  })
}

const checkFoods = (feed: string, foods: ReturnType<typeof parseFoods>): ProbeFinding => {
  const rows = foods.length
  const problem = foods
    .map(compareWithShape)
    .map((found) => found.problem ?? found.rejected[0]?.reason)
    .find((found) => found !== undefined)
  const keys = new Set(foods.flatMap((food) => Object.keys(food)))
  const missing = neededKeys.filter((key) => !keys.has(key))
  if (rows === 0) return { feed, verdict: "differs", detail: "its beginning has no complete record" }
  if (problem !== undefined) return { feed, verdict: "differs", detail: problem, rows }
  if (missing.length > 0) {
    return { feed, verdict: "differs", detail: `none of its first ${rows} foods has ${missing.join(", ")}`, rows }
  }
  const unknown = [...keys].filter((key) => !knownKeys.has(key))
  const notes = unknown.length === 0 ? [] : [`unmapped keys: ${unknown.join(", ")}`]
  return { feed, verdict: "ok", detail: `its first ${rows} foods can be read`, notes, rows }
}

const checkJson = (feed: string, member: MemberHead): ProbeFinding => {
  try {
    return checkFoods(feed, parseFoods(member))
  } catch (cause) {
    if (cause instanceof FoodListUnusable || cause instanceof SyntaxError) {
      return { feed, verdict: "differs", detail: cause.message }
    }
    throw cause
  }
}

const findMemberName = ({ name }: Pick<MemberHead, "name">) =>
  csvMembers.find((member) => `${member}.csv` === name.toLowerCase())

const checkCsv = Effect.fnUntraced(function* (feed: string, heads: ReadonlyArray<MemberHead>) {
  const fs = yield* FileSystem.FileSystem
  const makeFinding = (detail: string): ProbeFinding => ({ feed, verdict: "differs", detail })
  const names = new Set(heads.map(findMemberName))
  const missing = csvMembers.filter((name) => members[name].isRequired && !names.has(name))
  if (missing.length > 0) return makeFinding(`the zip has no ${missing.map((name) => `${name}.csv`).join(", ")}`)
  const folder = yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "larder-probe-" }))
  const unknown: Array<string> = []
  for (const head of heads) {
    const member = findMemberName(head)
    if (member === undefined) continue
    const file = path.join(folder, `${member}.csv`)
    yield* Effect.orDie(fs.writeFile(file, head.head))
    const header = yield* Effect.result(readHeader(member, file))
    if (Result.isFailure(header)) return makeFinding(header.failure.message)
    unknown.push(...header.success.unknown)
  }
  const notes = unknown.length === 0 ? [] : [`unmapped columns: ${unknown.join(", ")}`]
  const ok: ProbeFinding = { feed, verdict: "ok", detail: heads.map(({ name }) => name).join(", "), notes }
  return ok
}, Effect.scoped)

type Form = "json" | "csv"

const selectMembers = (form: Form) => (zipMembers: ReadonlyArray<ZipMember>) => {
  if (form === "csv") return zipMembers.filter((member) => findMemberName(member) !== undefined)
  const foods = findFoodsMember(zipMembers)
  return foods === undefined ? [] : [foods]
}

const checkForm = (form: Form, feed: string, heads: ReadonlyArray<MemberHead>) => {
  if (form === "csv") return checkCsv(feed, heads)
  const [foods] = heads
  const missing: ProbeFinding = { feed, verdict: "differs", detail: "the zip has no .json" }
  return Effect.succeed(foods === undefined ? missing : checkJson(feed, foods))
}

/** The part of a zip that a probe read, for a bundle. */
export interface ProbedZip extends Pick<ZipHeads, "listed" | "members"> {
  readonly url: string
  readonly refusal?: OriginError
}

interface ProbedForm {
  readonly finding: ProbeFinding
  readonly zips: ReadonlyArray<ProbedZip>
}

const probeForm = Effect.fnUntraced(function* (form: Form, url: string | undefined, newest_day: string | null) {
  const feed = `gov-fdc/${form}`
  const makeUnread = (
    verdict: ProbeFinding["verdict"],
    detail: string,
    notes: ReadonlyArray<string> = []
  ): ProbedForm => ({
    finding: { feed, verdict, detail, notes, newest_day },
    zips: []
  })
  if (url === undefined) return makeUnread("differs", `the release of ${newest_day} has no zip of this form`)
  const name = url.slice(url.lastIndexOf("/") + 1)
  const request = { url, accept: "application/zip, */*", resumable: true } as const
  const heads = yield* Effect.result(readZipHeads(request, selectMembers(form)))
  if (Result.isFailure(heads)) {
    const error = heads.failure
    if (error._tag === "ZipUnusable") return makeUnread("differs", error.message)
    if (error._tag === "NoRanges")
      return makeUnread("ok", name, ["the server sends only the whole file, so its contents were not read"])
    const refused: ProbedZip = { url, listed: [], members: [], refusal: error }
    return { ...makeUnread("unreachable", explainUnreachable(error)), zips: [refused] }
  }
  const { bytes, listed, members } = heads.success
  const checked = yield* checkForm(form, feed, members)
  const detail = `${name}, ${(bytes / 1e6).toFixed(1)} MB: ${checked.detail}`
  const probed: ProbedForm = { finding: { ...checked, detail, newest_day }, zips: [{ url, listed, members }] }
  return probed
})

export const probeBrandedFoods = Effect.fn("probe.brandedFoods")(function* () {
  const release = yield* Effect.result(findNewestRelease())
  if (Result.isFailure(release)) {
    const error = release.failure
    const finding: Omit<ProbeFinding, "feed"> =
      error._tag === "NoReleaseFound"
        ? { verdict: "differs", detail: error.message }
        : { verdict: "unreachable", detail: explainUnreachable(yield* failOnLocalFault(error)) }
    return { verdicts: [toVerdict({ feed: "gov-fdc", ...finding })], zips: [] }
  }
  const { csv, json, released_on } = release.success
  const zips = { json, csv: typeof csv === "string" ? csv : undefined }
  const probed = yield* Effect.forEach(["json", "csv"] as const, (form) => probeForm(form, zips[form], released_on))
  return { verdicts: probed.map(({ finding }) => toVerdict(finding)), zips: probed.flatMap((form) => form.zips) }
})
