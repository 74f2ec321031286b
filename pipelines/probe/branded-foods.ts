/**
 * Probes the newest release of branded foods: the download page, and for each zip its list of members and their first
 * records. It checks them against the keys and columns that a run needs. It reads some hundred kilobytes of zips that
 * have hundreds of megabytes.
 */
import { Effect, FileSystem, Path, Result } from "effect"
import { readHeader } from "../branded-foods/decode/csv/header.ts"
import { memberNames, members } from "../branded-foods/decode/csv/members.ts"
import { makeCutter } from "../branded-foods/decode/json/food-cutter.ts"
import { FoodListUnusable } from "../branded-foods/decode/json/food-list.ts"
import { knownKeys, shapeProblem } from "../branded-foods/decode/json/keys.ts"
import { newestRelease } from "../branded-foods/source/newest-release.ts"
import { foodsAmong, type Member } from "../branded-foods/source/zip-members.ts"
import type { OriginError } from "../run/origins/origin.ts"
import { orFatal, type ProbeFinding, verdictsOf, whyAway } from "./verdict.ts"
import { type MemberHead, type ZipHeads, zipHeads } from "./zip-heads.ts"

const verdict = verdictsOf("branded-foods", "FoodData Central (fdc.nal.usda.gov)")

/** Without these keys, no food can become a label. */
const neededKeys = ["fdcId", "description", "gtinUpc", "foodNutrients", "publicationDate"]

/** The complete records at the beginning of the file. Throws `FoodListUnusable` if it is not a list of foods. */
export const foodsIn = ({ head, name }: MemberHead): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const { cut, push } = makeCutter(name)
  push(head)
  const lines = cut.lines().toString("utf8").split("\n").slice(0, -1)
  return lines.map((line) => {
    const { line: _line, ...food } = JSON.parse(line) // the cutter has added the record's line number
    return food
  })
}

const judgeFoods = (feed: string, foods: ReturnType<typeof foodsIn>): ProbeFinding => {
  const rows = foods.length
  const problem = foods.map(shapeProblem).find((found) => found !== undefined)
  const keys = new Set(foods.flatMap((food) => Object.keys(food)))
  const missing = neededKeys.filter((key) => !keys.has(key))
  if (rows === 0) return { feed, verdict: "differs", detail: "its beginning has no complete record" }
  if (problem !== undefined) return { feed, verdict: "differs", detail: problem, rows }
  if (missing.length > 0) {
    return { feed, verdict: "differs", detail: `none of its first ${rows} foods has ${missing.join(", ")}`, rows }
  }
  const unknown = [...keys].filter((key) => !knownKeys.has(key))
  const notes = unknown.length === 0 ? [] : [`keys that no mapping knows: ${unknown.join(", ")}`]
  return { feed, verdict: "ok", detail: `its first ${rows} foods can be read`, notes, rows }
}

const judgeJson = (feed: string, member: MemberHead): ProbeFinding => {
  try {
    return judgeFoods(feed, foodsIn(member))
  } catch (cause) {
    if (cause instanceof FoodListUnusable || cause instanceof SyntaxError) {
      return { feed, verdict: "differs", detail: cause.message }
    }
    throw cause
  }
}

const memberOf = ({ name }: Pick<MemberHead, "name">) =>
  memberNames.find((member) => `${member}.csv` === name.toLowerCase())

const judgeCsv = Effect.fnUntraced(function* (feed: string, heads: ReadonlyArray<MemberHead>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const missing = memberNames.filter((name) => members[name].needed && !heads.some((head) => memberOf(head) === name))
  if (missing.length > 0) {
    const detail = `the zip has no ${missing.map((name) => `${name}.csv`).join(", ")}`
    return { feed, verdict: "differs", detail } satisfies ProbeFinding as ProbeFinding
  }
  const folder = yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "larder-probe-" }))
  const unknown: Array<string> = []
  for (const head of heads) {
    const member = memberOf(head)
    if (member === undefined) continue
    const file = path.join(folder, `${member}.csv`)
    yield* Effect.orDie(fs.writeFile(file, head.head))
    const header = yield* Effect.result(readHeader(member, file))
    if (Result.isFailure(header))
      return { feed, verdict: "differs", detail: header.failure.message } satisfies ProbeFinding as ProbeFinding
    unknown.push(...header.success.unknown)
  }
  const notes = unknown.length === 0 ? [] : [`columns that no mapping knows: ${unknown.join(", ")}`]
  return {
    feed,
    verdict: "ok",
    detail: heads.map(({ name }) => name).join(", "),
    notes
  } satisfies ProbeFinding as ProbeFinding
}, Effect.scoped)

type Form = "json" | "csv"

const wantedOf = (form: Form) => (all: ReadonlyArray<Member>) => {
  if (form === "csv") return all.filter((member) => memberOf(member) !== undefined)
  const foods = foodsAmong(all)
  return foods === undefined ? [] : [foods]
}

const judgeForm = (form: Form, feed: string, heads: ReadonlyArray<MemberHead>) => {
  if (form === "csv") return judgeCsv(feed, heads)
  const [foods] = heads
  const none: ProbeFinding = { feed, verdict: "differs", detail: "the zip has no .json" }
  return Effect.succeed(foods === undefined ? none : judgeJson(feed, foods))
}

/** What the probe read of a zip, for a bundle. */
export interface SeenZip {
  readonly url: string
  readonly listed: ZipHeads["listed"]
  /** The first bytes of the members that a run needs. */
  readonly members: ReadonlyArray<MemberHead>
  /** Why there was no answer. */
  readonly refusal?: OriginError
}

interface Probed {
  readonly found: ProbeFinding
  readonly seen: ReadonlyArray<SeenZip>
}

const probeForm = Effect.fnUntraced(function* (form: Form, url: string | undefined, newest_day: string | null) {
  const feed = `gov-fdc/${form}`
  const told = (verdict: ProbeFinding["verdict"], detail: string, notes: ReadonlyArray<string> = []): Probed => ({
    found: { feed, verdict, detail, notes, newest_day },
    seen: []
  })
  if (url === undefined) return told("differs", `the release of ${newest_day} has no zip of this form`)
  const name = url.slice(url.lastIndexOf("/") + 1)
  const heads = yield* Effect.result(zipHeads({ url, accept: "application/zip, */*", resumable: true }, wantedOf(form)))
  if (Result.isFailure(heads)) {
    const error = heads.failure
    if (error._tag === "ZipUnusable") return told("differs", error.message)
    if (error._tag === "NoRanges")
      return told("ok", name, ["the server sends only the whole file, so its contents were not read"])
    return { ...told("unreachable", whyAway(error)), seen: [{ url, listed: [], members: [], refusal: error }] }
  }
  const { bytes, listed, members } = heads.success
  const judged = yield* judgeForm(form, feed, members)
  const detail = `${name}, ${(bytes / 1e6).toFixed(1)} MB: ${judged.detail}`
  return { found: { ...judged, detail, newest_day }, seen: [{ url, listed, members }] } satisfies Probed as Probed
})

/** Returns the verdicts, and what was read of the zips. */
export const probeBrandedFoods = Effect.fn("probe.brandedFoods")(function* () {
  const release = yield* Effect.result(newestRelease())
  if (Result.isFailure(release)) {
    const error = release.failure
    if (error._tag === "ReleaseUnknown") {
      return { verdicts: [verdict({ feed: "gov-fdc", verdict: "differs", detail: error.message })], seen: [] }
    }
    const away = yield* orFatal(error)
    return { verdicts: [verdict({ feed: "gov-fdc", verdict: "unreachable", detail: whyAway(away) })], seen: [] }
  }
  const { csv, json, released_on } = release.success
  const zips = { json, csv: typeof csv === "string" ? csv : undefined }
  const probed = yield* Effect.forEach(["json", "csv"] as const, (form) => probeForm(form, zips[form], released_on))
  return { verdicts: probed.map(({ found }) => verdict(found)), seen: probed.flatMap(({ seen }) => seen) }
})
