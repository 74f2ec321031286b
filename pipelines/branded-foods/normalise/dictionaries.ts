/**
 * Built-in nutrients, derivations and countries. Names and units have one spelling here; in releases they vary, and a
 * release may have no dictionaries. The entries are part of the SQL that normalises labels, so they are read when this
 * module is loaded. An invalid line fails only runs of this pipeline.
 */
import { readFileSync } from "node:fs"
import { Effect, Exit, Schema } from "effect"
import { parseTable, readHandEdited } from "../../run/files/hand-edited.ts"

const Id = Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThan(0))
const NutrientLine = Schema.Struct({
  nutrient_id: Id,
  number: Schema.String,
  name: Schema.String,
  unit: Schema.String
})
const DerivationLine = Schema.Struct({
  derivation_id: Id,
  derivation: Schema.NonEmptyString,
  description: Schema.String
})
const CountryLine = Schema.Struct({
  name: Schema.NonEmptyString,
  code: Schema.String.check(Schema.isPattern(/^[A-Z]{2}$/))
})

/** Parses the dictionaries. Throws `BadLine`. */
export const parseDictionaries = (readText: (name: "nutrients" | "derivations" | "countries") => string) => {
  const fileOf = (name: string) => `pipelines/branded-foods/dictionaries/${name}.tsv`
  const nutrients = parseTable(fileOf("nutrients"), readText("nutrients"), NutrientLine, "nutrient_id")
  const derivationsFile = fileOf("derivations")
  const uniqueColumns = ["derivation_id", "derivation"] as const
  const derivations = parseTable(derivationsFile, readText("derivations"), DerivationLine, ...uniqueColumns)
  const countryNames = parseTable(fileOf("countries"), readText("countries"), CountryLine, "name")
  return {
    nutrients: nutrients.map(({ row }) => ({
      ...row,
      number: orNull(row.number),
      name: orNull(row.name),
      unit: orNull(row.unit)
    })),
    /** CSV files state the id, JSON files the code. Codes without a known id have ids from 901 here. */
    derivations: derivations.map(({ row }) => ({ ...row, description: orNull(row.description) })),
    countryNames: countryNames.map(({ row }) => row)
  }
}

const orNull = (text: string) => (text === "" ? null : text)

const read = Effect.runSyncExit(
  readHandEdited(() =>
    parseDictionaries((name) => readFileSync(new URL(`../dictionaries/${name}.tsv`, import.meta.url), "utf8"))
  )
)

export const checkDictionaries = Effect.asVoid(read)

export const { countryNames, derivations, nutrients } = Exit.isSuccess(read)
  ? read.value
  : { countryNames: [], derivations: [], nutrients: [] }

/**
 * Names and ISO 3166-1 alpha-2 codes of countries, in lower case, each with its code: those of the Unicode data, and the
 * dictionary's, which has other usual names, ISO's own among them, and some that the Unicode data changed or may change.
 */
export const countries = (): ReadonlyArray<readonly [string, string]> => {
  const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" })
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
  const codes = letters.flatMap((first) => letters.map((second) => first + second))
  const named = codes.flatMap((code) => {
    const name = notCountries.has(code) ? undefined : names.of(code)
    return name === undefined ? [] : [[name.toLowerCase(), code] as const, [code.toLowerCase(), code] as const]
  })
  return [...new Map([...named, ...countryNames.map(({ code, name }) => [name.toLowerCase(), code] as const)])]
}

/** Codes of the Unicode data that are not countries in ISO 3166-1. */
const notCountries = new Set(
  "AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH NT QO QU RH SU TA TP UK UN VD XA XB XK YD YU ZR ZZ".split(" ")
)

/** Derivation codes, the most reliable first. If a nutrient has several amounts, the most reliable one is used. */
const byReliability = ["LCGE", "LCGP", "LCGA", "LCGL", "LCSE", "LCCS", "LCCD", "LCSA", "LCSL", "LCSG"]

const codesById = new Map(derivations.map(({ derivation, derivation_id }) => [derivation_id, derivation]))

/** Rank of each derivation by reliability, 0 is best, in the order of derivation ids from 1. */
export const ranks = Array.from({ length: Math.max(0, ...codesById.keys()) }, (_, index) => {
  const rank = byReliability.indexOf(codesById.get(index + 1) ?? "")
  return rank === -1 ? byReliability.length : rank
})
