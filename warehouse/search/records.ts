/** Finds records of label versions by `fdc_id`: lines of `records.tsv`, read through the page cache. */
import { join } from "node:path"
import { brandedFoodId } from "@larder/schemas"
import { computeNutrition } from "../branded-foods/nutrition.ts"
import { type Bundle, FoodFilesDamaged, forEachLine, type PieceFile, toPlaces, writeArrays } from "./files.ts"
import { findFirst } from "./lists.ts"
import type { KnownNutrient } from "./manifest.ts"
import { cellIndexes, fields, isString, stringToJson } from "./record-fields.ts"

export const recordFiles = { lines: "records.tsv", index: "records.index" }

/** Positions by ascending id; ids are never negative. Sorting both as one 64-bit number takes a tenth of the time. */
const sortPositions = (ids: Int32Array) => {
  const halves = new Uint32Array(ids.length * 2)
  ids.forEach((id, place) => {
    halves[place * 2] = place
    halves[place * 2 + 1] = id
  })
  new BigUint64Array(halves.buffer).sort()
  return ids.map((_, i) => halves[i * 2] ?? 0)
}

const maxId = 2 ** 31 - 1

const parseId = (bytes: Buffer, from: number, to: number) => {
  let id = 0
  let at = from
  for (; at < to && bytes[at] !== 9; at++) {
    const digit = (bytes[at] ?? 0) - 48
    if (digit < 0 || digit > 9 || id > maxId) return undefined
    id = id * 10 + digit
  }
  return at === from || id > maxId ? undefined : id
}

/** Writes the index of the lines: offset and length of each label version, by `fdc_id`. */
export const indexRecords = (folder: string, foods: number) => {
  const failed = (reason: string) => new Error(`${recordFiles.lines} ${reason}`)
  const ids = new Int32Array(foods)
  const starts = new Float64Array(foods)
  const lengths = new Uint32Array(foods)
  let n = 0
  forEachLine(join(folder, recordFiles.lines), (bytes, from, to, offset) => {
    const id = parseId(bytes, from, to)
    if (id === undefined) {
      const [start = ""] = bytes.toString("utf8", from, Math.min(to, from + 24)).split("\t")
      throw failed(`has "${start}" in line ${n + 1} where an fdc_id of 0 to ${maxId} should be`)
    }
    ids[n] = id
    starts[n] = offset
    lengths[n++] = to - from
  })
  if (n !== foods) throw failed(`has ${n} lines for ${foods} label versions`)
  const order = sortPositions(ids)
  const sorted = ids.map((_, i) => ids[order[i] ?? 0] ?? 0)
  const duplicate = sorted.find((id, i) => i > 0 && id === sorted[i - 1])
  if (duplicate !== undefined) throw failed(`has several lines for the fdc_id ${duplicate}`)
  writeArrays(join(folder, recordFiles.index), {
    ids: sorted,
    starts: toPlaces(starts).map((_, i) => starts[order[i] ?? 0] ?? 0),
    lengths: lengths.map((_, i) => lengths[order[i] ?? 0] ?? 0)
  })
}

/** The numbers of a list, as DuckDB writes them. */
const splitList = (cell: string): ReadonlyArray<string> =>
  cell === "" || cell === "[]" ? [] : cell.slice(1, -1).split(", ")

const parseNumber = (number: string | undefined) => (number === undefined || number === "NULL" ? null : Number(number))

/** DuckDB writes `333.0` and `1e-06`, JavaScript `333` and `0.000001`. Parsing every number takes twice the time. */
const numberToJson = (number: string) => {
  if (number.endsWith(".0")) return number.slice(0, -2)
  return number.includes("e") || number === "NULL" ? String(parseNumber(number)) : number
}

/** The position of an id in an ascending list, or the position at which it would be inserted. */
export const findPosition = (ids: Int32Array, id: number) => findFirst(0, ids.length, (i) => (ids[i] ?? 0) >= id)

/** `read` returns the JSON of a label version; undefined if there is none. */
export const makeFoodRecords = (
  index: Bundle,
  lines: PieceFile,
  nutrients: ReadonlyArray<typeof KnownNutrient.Type>
) => {
  const ids = index.integers("ids")
  const starts = index.places("starts")
  const lengths = index.naturals("lengths")
  const prefixes = new Map(nutrients.map((nutrient) => [nutrient.nutrient_id, formatNutrientPrefix(nutrient)]))
  let buffer = Buffer.allocUnsafeSlow(2 ** 16)
  const read = (fdcId: number) => {
    const position = findPosition(ids, fdcId)
    if (ids[position] !== fdcId) return undefined
    const length = lengths[position] ?? 0
    if (length > buffer.length) buffer = Buffer.allocUnsafeSlow(length * 2)
    lines.read(buffer, starts[position] ?? 0, length)
    const cells = buffer.toString("utf8", 0, length).split("\t")
    if (cells[0] !== String(fdcId)) {
      throw new FoodFilesDamaged({
        file: recordFiles.lines,
        reason: `has a different line in place of the record ${fdcId}`
      })
    }
    return formatRecord(fdcId, cells, prefixes)
  }
  return { size: ids.length, read }
}

/** Fields that a line does not contain as they are in the record. */
type Derived = Readonly<Partial<Record<(typeof fields)[number], string | number | null>>>

/** Known before any record is read: the start of each field, and where and how a line contains it. */
const formats = fields.map((field, i) => ({
  field,
  start: `${i === 0 ? "{" : ","}"${field}":`,
  index: cellIndexes[field],
  isText: isString(field)
}))

const formatRecord = (fdcId: number, cells: ReadonlyArray<string>, prefixes: ReadonlyMap<number, string>) => {
  const cell = (field: keyof typeof cellIndexes) => cells[cellIndexes[field] ?? -1] ?? ""
  const servingSize = cell("serving_size") === "" ? null : Number(cell("serving_size"))
  const ids = splitList(cell("nutrient_ids")).map(Number)
  const amounts = splitList(cell("amounts"))
  const serving = { size: servingSize, unit: cell("serving_size_unit") || null }
  const derived: Derived = {
    id: `"${brandedFoodId(fdcId)}"`,
    source: '"gov-fdc"',
    serving_size: servingSize,
    nutrients: formatNutrients(ids, amounts, prefixes),
    nutrition: formatNutrition(serving, ids, amounts, splitList(cell("own_amounts")))
  }
  let json = ""
  for (const { field, index, isText, start } of formats) {
    const stored = index === undefined || field === "serving_size" ? derived[field] : cells[index]
    if (stored === "") json += `${start}null`
    else json += start + (isText ? stringToJson(String(stored)) : stored)
  }
  return `${json}}`
}

/** Each amount is that of the id in the same position. */
const formatNutrients = (
  ids: ReadonlyArray<number>,
  amounts: ReadonlyArray<string>,
  prefixes: ReadonlyMap<number, string>
) => {
  let json = "["
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] ?? 0
    const prefix = prefixes.get(id) ?? formatNutrientPrefix({ nutrient_id: id, number: null, name: null, unit: null })
    json += `${i === 0 ? "" : ","}${prefix}${numberToJson(amounts[i] ?? "NULL")}}`
  }
  return `${json}]`
}

/** A nutrient's JSON up to its amount. */
const formatNutrientPrefix = ({ name, number, nutrient_id, unit }: typeof KnownNutrient.Type) =>
  `${JSON.stringify({ nutrient_id, number, name, unit }).slice(0, -1)},"amount":`

type Serving = Parameters<typeof computeNutrition>[0]

const formatNutrition = (
  serving: Serving,
  ids: ReadonlyArray<number>,
  amounts: ReadonlyArray<string>,
  ownAmounts: ReadonlyArray<string>
) => {
  const findAmount = (id: number) => parseNumber(amounts[ids.indexOf(id)]) // the first one of an id is used
  let json = ""
  for (const [key, amount] of computeNutrition(serving, findAmount, ownAmounts.map(parseNumber))) {
    json += `${json === "" ? "" : ","}"${key}":${amount}`
  }
  return `{${json}}`
}
