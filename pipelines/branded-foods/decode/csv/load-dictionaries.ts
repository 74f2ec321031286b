/**
 * Adds entries of the release's dictionaries that ours lack. Labels can be read without them, so a dictionary that
 * cannot be used only causes a warning. A truncated one fails the form, as any other file does.
 */
import type { DuckDb } from "@larder/warehouse"
import { Effect } from "effect"
import { columnOf, type Header, readHeader, relationOf } from "./header.ts"
import { filterMember } from "./load-member.ts"

export const dictionaries = ["nutrient", "food_nutrient_derivation"] as const
type Dictionary = (typeof dictionaries)[number]
type DictionaryHeader = Header<Dictionary>

const warn = (member: Dictionary, problem: string) =>
  Effect.logWarning("a dictionary of the release is not read; the built-in one is used").pipe(
    Effect.annotateLogs({ file: `${member}.csv`, problem })
  )

/** The header; undefined if the file cannot be used. */
export const readDictionaryHeader = (member: Dictionary, path: string) =>
  readHeader(member, path).pipe(
    Effect.map((header): DictionaryHeader | undefined => header),
    Effect.catchTag("HeaderUnreadable", (error) => Effect.as(warn(member, error.message), undefined))
  )

const stage: Readonly<Record<Dictionary, (header: Header) => string>> = {
  nutrient: (header) => `
    insert into release.nutrient
    select nutrient_id_of(known_id), nullif(${columnOf(header)("nutrient_nbr")}, ''), name, unit_name
    from dictionary
    where nutrient_id_of(known_id) not in (select nutrient_id from branded_food.nutrient where number is not null)`,
  food_nutrient_derivation: () => `
    insert into release.derivation
    select distinct on (derivation_id) try_cast(known_id as smallint) as derivation_id, tidied(code), tidied(description)
    from dictionary
    where try_cast(known_id as smallint) not in (select derivation_id from branded_food.derivation)
      and tidied(code) is not null`
}

/** Adds new entries to the dictionaries. Unreadable lines are not labels: they cause a warning and no rejects. */
export const stageDictionary = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  header: DictionaryHeader,
  folder: string
) {
  const { broken, good } = yield* filterMember(header, folder)
  if (broken > 0) {
    yield* Effect.logWarning("records of a dictionary cannot be read, and are left out").pipe(
      Effect.annotateLogs({ file: `${header.member}.csv`, records: broken })
    )
  }
  const read = `
    create or replace temp table dictionary as
    select *, whole(id, try_cast(id as integer)) as known_id from ${relationOf({ ...header, path: good })};
    ${stage[header.member](header)}`
  yield* Effect.catchTag(db.run(read), "DuckDbError", (error) =>
    warn(header.member, String(error.cause instanceof Error ? error.cause.message : error.cause).split("\n")[0] ?? "")
  )
})
