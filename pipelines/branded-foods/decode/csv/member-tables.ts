/**
 * The files of a CSV release as tables of the attached database `release`, in the order of the files: `release.food`,
 * `release.branded_food`, `release.food_nutrient`, `release.food_attribute`. Ids and amounts are typed, all other
 * fields stay texts. There are two ways to read a file. DuckDB types the fields itself, which takes 60 % of the time
 * and fails at the first field that cannot be typed. Or every field is read as text and checked.
 */
import { identifier, literal } from "@larder/warehouse"
import { type Header, relationOf } from "./header.ts"
import type { LabelMember } from "./members.ts"

type LabelHeader = Header<LabelMember>

/** A column of a staged table. `raw` is the field of the file as SQL: typed as `read`, or a text that is checked. */
interface Column {
  /** The name of the column in the file. */
  readonly from: string
  readonly read: string
  readonly typed: (raw: string) => string
  readonly checked: (raw: string) => string
  /** The type in the table, if it differs from `read`. */
  readonly staged?: string
  /** What the field must be, if it must be readable. `required` fields must also be present. */
  readonly must?: { readonly be: string; readonly required: boolean }
}

const same = (raw: string) => raw
const text = (from: string): Column => ({ from, read: "varchar", typed: same, checked: same })

/** Doubles hold ids exactly. Integers would accept 1.6 as 2. */
const id = (from: string): Column => ({
  from,
  read: "double",
  typed: (raw) => `if(${raw} >= 0 and ${raw} = floor(${raw}), try_cast(${raw} as integer), null)`,
  checked: (raw) => `whole(${raw}, try_cast(${raw} as integer))`,
  must: { be: "whole number", required: true }
})
const nutrientId = (from: string): Column => {
  const of = id(from)
  const inPlace = (read: Column["typed"]) => (raw: string) => `nutrient_id_of(${read(raw)})`
  return { ...of, typed: inPlace(of.typed), checked: inPlace(of.checked) }
}

/** A derivation id that is not a whole number becomes null, and its row is still usable. */
const derivationId: Column = {
  from: "derivation_id",
  read: "double",
  typed: (raw) => `if(${raw} >= 0 and ${raw} = floor(${raw}), try_cast(${raw} as smallint), null)`,
  checked: (raw) => `whole(${raw}, try_cast(${raw} as smallint))`,
  staged: "smallint"
}

/** Distinguishes rows of one food. Rows without it are still usable. */
const mark = (from: string, type: string): Column => ({
  from,
  read: type,
  typed: same,
  checked: (raw) => `try_cast(${raw} as ${type})`
})
/** A value that is not a number makes its row unreadable; an empty field is null. */
const number = (from: string, type: string): Column => ({
  ...mark(from, type),
  must: { be: "number", required: false }
})

/** Older layouts do not state channels. In newer ones, an empty field means that there are none. */
const channels: Column = {
  ...text("trade_channel"),
  typed: (raw) => `coalesce(${raw}, '')`,
  checked: (raw) => `coalesce(${raw}, '')`
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

/** Columns that an older layout lacks are null, which means "not stated". */
const selected = ({ columns: there, member }: LabelHeader, way: "typed" | "checked") =>
  Object.entries(columns[member])
    .map(
      ([name, { from, read, staged = read, [way]: sql }]) =>
        `${there.includes(from) ? sql(identifier(from)) : `null::${staged}`} as ${name}`
    )
    .join(", ")

/** Reads a file whose fields are valid, and fails if one cannot be typed. An id that is not a whole number is null. */
export const stageTyped = (header: LabelHeader) => {
  const types = new Map(Object.values(columns[header.member]).map(({ from, read }) => [from, read]))
  return `create table release.${header.member} as select ${selected(header, "typed")} from ${relationOf(header, types)}`
}

/** Columns that have a value in every usable row. */
export const requiredOf = (member: LabelMember) =>
  Object.entries(columns[member]).flatMap(([name, { must }]) => (must?.required ? [name] : []))

/** Reads every field as text. `unreadable` says why a row cannot be used. */
export const stageChecked = (header: LabelHeader) => {
  const faults = Object.values(columns[header.member]).flatMap(({ from, checked, must }) => {
    if (must === undefined || !header.columns.includes(from)) return []
    const raw = identifier(from)
    const stated = must.required ? "" : ` and trim(${raw}) <> ''`
    const said = `${literal(`${from} is "`)} || left(coalesce(${raw}, ''), 60) || ${literal(`", which is not a ${must.be}`)}`
    return [`if(${checked(raw)} is null${stated}, ${said}, null)`]
  })
  return `create table release.${header.member} as
    select ${selected(header, "checked")}, nullif(concat_ws('; ', ${faults.join(", ")}), '') as unreadable
    from ${relationOf(header)}`
}
