/** The CSV release: its files into staged tables, the tables into labels, and every row accounted for. */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import type { Load, Loaded } from "../load.ts"
import { columnOf, type Header, readHeader, relationOf } from "./header.ts"
import { stageLabels } from "./labels.ts"
import { type LabelMember, labelMembers, type MemberName } from "./members.ts"
import { rejectLeftovers, rejectRows, rowsOf } from "./rejects.ts"
import { sifted, stageExactly } from "./stage-exactly.ts"

/** Paths of the files that are there, by member. */
export type CsvFiles = ReadonlyMap<MemberName, string>

const noAttributes = "create table release.food_attribute (fdc_id integer, name varchar, value varchar, added bigint)"

/** Nutrients that the dictionary of the release knows, and ours does not. Lines of it that cannot be read are no labels. */
const stageNutrients = Effect.fnUntraced(function* (db: DuckDb["Service"], header: Header, folder: string) {
  const { good: path } = yield* sifted(header, folder)
  yield* db.run(`
    insert into release.nutrient
    select try_cast(id as integer) as nutrient_id, nullif(${columnOf(header)("nutrient_nbr")}, ''), name, unit_name
    from ${relationOf({ ...header, path })}
    where nutrient_id not in (select nutrient_id from branded_food.nutrient)`)
})

/** `folder` is the run's own, for files that must be cleared of broken records first. */
export const loadCsv = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  load: Load,
  files: CsvFiles,
  folder: string
) {
  const headers = yield* Effect.forEach([...files], ([member, path]) => readHeader(member, path))
  const isOfLabels = (header: Header): header is Header & { readonly member: LabelMember } =>
    labelMembers.some((member) => member === header.member)
  const present = headers.filter(isOfLabels)
  yield* db.run("set force_compression = 'uncompressed'") // read twice at most, and gone in a minute
  for (const header of present) {
    yield* stageExactly(db, header, folder)
    yield* rejectRows(db, load, header.member)
  }
  const hasAttributes = present.some(({ member }) => member === "food_attribute")
  if (!hasAttributes) yield* db.run(noAttributes)
  const nutrient = headers.find(({ member }) => member === "nutrient")
  if (nutrient !== undefined) yield* stageNutrients(db, nutrient, folder)
  yield* db.run("reset force_compression")
  yield* stageLabels(db, load, hasAttributes)

  let rows_read = 0
  let rows_silent = 0
  for (const { member } of present) {
    rows_silent += yield* rejectLeftovers(db, load, member)
    rows_read += yield* rowsOf(db, member)
  }
  return {
    rows_read,
    rows_silent,
    unknown_fields: headers.flatMap(({ member, unknown }) =>
      unknown.map((field) => ({ field: `${member}.${field}`, example: "" }))
    )
  } satisfies Loaded as Loaded
})
