/**
 * Adds entries of the release's dictionaries that the built-in ones lack. Labels do not need these entries, so an unusable
 * dictionary only causes a warning. A truncated one fails the form, like every truncated file.
 */
import type { DuckDb } from "@larder/warehouse"
import { Effect } from "effect"
import { firstLineOf, isMachineFault } from "../duckdb-faults.ts"
import { csvRelation, type Header, readHeader } from "./header.ts"
import { filterMember } from "./load-member.ts"

export const dictionaries = ["nutrient", "food_nutrient_derivation"] as const
type Dictionary = (typeof dictionaries)[number]

const warn = (member: Dictionary, problem: string) =>
  Effect.logWarning("a dictionary of the release is not read; the built-in one is used").pipe(
    Effect.annotateLogs({ file: `${member}.csv`, problem })
  )

export const readDictionaryHeader = (member: Dictionary, path: string) =>
  readHeader(member, path).pipe(
    Effect.catchTag("HeaderUnreadable", (error) => Effect.as(warn(member, error.message), undefined))
  )

const insertEntriesSql: Readonly<Record<Dictionary, (header: Header) => string>> = {
  nutrient: (header) => `
    insert into release.nutrient
    select nutrient_id_of(known_id), ${header.columns.includes("nutrient_nbr") ? "nullif(nutrient_nbr, '')" : "null"}, name, unit_name
    from dictionary
    where nutrient_id_of(known_id) is not null`,
  food_nutrient_derivation: () => `
    insert into release.derivation
    select distinct on (derivation_id) try_cast(known_id as smallint) as derivation_id, tidied(code), tidied(description)
    from dictionary
    where try_cast(known_id as smallint) not in (select derivation_id from branded_food.derivation)
      and tidied(code) is not null`
}

/** Stages the entries of a nutrient.csv, and new ones of derivations. Unreadable records are not labels: they cause a warning, not rejects. */
export const stageDictionary = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  header: Header<Dictionary>,
  folder: string
) {
  const { broken, good } = yield* filterMember(header, folder)
  if (broken > 0) {
    yield* Effect.logWarning("records of a dictionary cannot be read, and are ignored").pipe(
      Effect.annotateLogs({ file: `${header.member}.csv`, records: broken })
    )
  }
  const read = `
    create or replace temp table dictionary as
    select *, whole_number(id) as known_id from ${csvRelation({ ...header, path: good })};
    ${insertEntriesSql[header.member](header)}`
  yield* Effect.catchTag(db.run(read), "DuckDbError", (error) =>
    isMachineFault(error) ? Effect.fail(error) : warn(header.member, firstLineOf(error))
  )
})
