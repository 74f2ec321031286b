/**
 * The files of a CSV release as tables of the staging file, in the order of the files: `release.food`,
 * `release.branded_food`, `release.food_nutrient`, `release.food_attribute`. Ids and amounts are typed, all other fields
 * stay texts. There are two ways to read a file: DuckDB types the fields itself, which takes six tenths of the time and fails
 * at the first one that it cannot, or every field is read as a text and judged.
 */
import { identifier, literal } from "@larder/warehouse/duckdb.ts"
import { type Header, relationOf } from "./header.ts"
import type { LabelMember } from "./members.ts"

type LabelHeader = Header<LabelMember>

/** A column of a staged table. `raw` is the field of the file as SQL: typed as `read` says, or a text that is judged. */
interface Column {
  /** In the file. */
  readonly from: string
  readonly read: string
  readonly typed: (raw: string) => string
  readonly judged: (raw: string) => string
  /** In the table, where it is not what is read. */
  readonly staged?: string
  /** What the field should be where it has to be readable; `required` fields have to be there, too. */
  readonly must?: { readonly be: string; readonly required: boolean }
}

const same = (raw: string) => raw
const text = (from: string): Column => ({ from, read: "varchar", typed: same, judged: same })

/** Doubles hold ids exactly, and unlike integers they do not take 1.6 for 2. */
const id = (from: string): Column => ({
  from,
  read: "double",
  typed: (raw) => `if(${raw} >= 0 and ${raw} = floor(${raw}), try_cast(${raw} as integer), null)`,
  judged: (raw) => `whole(${raw}, try_cast(${raw} as integer))`,
  must: { be: "whole number", required: true }
})
const nutrientId = (from: string): Column => {
  const of = id(from)
  const inPlace = (read: Column["typed"]) => (raw: string) => `nutrient_id_of(${read(raw)})`
  return { ...of, typed: inPlace(of.typed), judged: inPlace(of.judged) }
}

/** A derivation that is no whole number is none, and its row is of use without it. */
const derivationId: Column = {
  from: "derivation_id",
  read: "double",
  typed: (raw) => `if(${raw} >= 0 and ${raw} = floor(${raw}), try_cast(${raw} as smallint), null)`,
  judged: (raw) => `whole(${raw}, try_cast(${raw} as smallint))`,
  staged: "smallint"
}

/** Tells rows of one food apart: they are of use without it. */
const mark = (from: string, type: string): Column => ({
  from,
  read: type,
  typed: same,
  judged: (raw) => `try_cast(${raw} as ${type})`
})
/** What is stated and no number makes its row unreadable; nothing stated is nothing. */
const number = (from: string, type: string): Column => ({
  ...mark(from, type),
  must: { be: "number", required: false }
})

/** In older layouts no channel is stated; in newer ones an empty field says that there is none. */
const channels: Column = {
  ...text("trade_channel"),
  typed: (raw) => `coalesce(${raw}, '')`,
  judged: (raw) => `coalesce(${raw}, '')`
}

const columns: Readonly<Record<LabelMember, Readonly<Record<string, Column>>>> = {
  food: {
    fdc_id: id("fdc_id"),
    data_type: text("data_type"),
    description: text("description"),
    food_category: text("food_category_id"),
    published_on: text("publication_date")
  },
  branded_food: {
    fdc_id: id("fdc_id"),
    brand_owner: text("brand_owner"),
    brand_name: text("brand_name"),
    subbrand_name: text("subbrand_name"),
    gtin_upc: text("gtin_upc"),
    ingredients: text("ingredients"),
    not_a_significant_source_of: text("not_a_significant_source_of"),
    serving_size: text("serving_size"),
    serving_size_unit: text("serving_size_unit"),
    household: text("household_serving_fulltext"),
    category: text("branded_food_category"),
    data_source: text("data_source"),
    package_weight: text("package_weight"),
    modified_on: text("modified_date"),
    available_on: text("available_date"),
    market_country: text("market_country"),
    discontinued_on: text("discontinued_date"),
    preparation_state_code: text("preparation_state_code"),
    trade_channel: channels,
    short_description: text("short_description"),
    material_code: text("material_code")
  },
  food_nutrient: {
    fdc_id: id("fdc_id"),
    nutrient_id: nutrientId("nutrient_id"),
    amount: number("amount", "decimal(18, 6)"),
    derivation_id: derivationId,
    percent_daily_value: number("percent_daily_value", "decimal(9, 2)"),
    added: mark("id", "bigint")
  },
  food_attribute: {
    fdc_id: id("fdc_id"),
    name: text("name"),
    value: text("value"),
    added: mark("id", "bigint")
  }
}

/** Older layouts lack columns: they are null, which is "not stated". */
const selected = ({ columns: there, member }: LabelHeader, way: "typed" | "judged") =>
  Object.entries(columns[member])
    .map(
      ([name, { from, read, staged = read, [way]: sql }]) =>
        `${there.includes(from) ? sql(identifier(from)) : `null::${staged}`} as ${name}`
    )
    .join(", ")

/** Reads a file whose fields are what they should be, and fails where one cannot be typed. An id that is not whole is null. */
export const stageTyped = (header: LabelHeader) => {
  const types = new Map(Object.values(columns[header.member]).map(({ from, read }) => [from, read]))
  return `create table release.${header.member} as select ${selected(header, "typed")} from ${relationOf(header, types)}`
}

/** Columns that hold a value in every row that is of use. */
export const requiredOf = (member: LabelMember) =>
  Object.entries(columns[member]).flatMap(([name, { must }]) => (must?.required ? [name] : []))

/** Reads every field as a text. `unreadable` says what is wrong with a row that is of no use. */
export const stageJudged = (header: LabelHeader) => {
  const faults = Object.values(columns[header.member]).flatMap(({ from, judged, must }) => {
    if (must === undefined || !header.columns.includes(from)) return []
    const raw = identifier(from)
    const stated = must.required ? "" : ` and trim(${raw}) <> ''`
    const said = `${literal(`${from} is "`)} || left(coalesce(${raw}, ''), 60) || ${literal(`", which is no ${must.be}`)}`
    return [`if(${judged(raw)} is null${stated}, ${said}, null)`]
  })
  return `create table release.${header.member} as
    select ${selected(header, "judged")}, nullif(concat_ws('; ', ${faults.join(", ")}), '') as unreadable
    from ${relationOf(header)}`
}
