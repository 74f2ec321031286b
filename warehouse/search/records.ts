/** Finished records of label versions, from lines of `records.tsv`: found by `fdc_id`, read through the page cache. */
import { join } from "node:path"
import { brandedFoodId } from "@larder/schemas"
import { nutritionOf } from "../branded-foods/nutrition.ts"
import { type Bundle, eachLine, FoodFilesDamaged, PieceFile, placesFor, writeBundle } from "./files.ts"
import type { KnownNutrient } from "./manifest.ts"
import { fields, isText, placeOf, textJson } from "./record-fields.ts"

export const recordFiles = { lines: "records.tsv", index: "records.index" }

/**
 * The positions of the ids, in ascending order of the ids, which are never negative. Sorts 64-bit numbers made of id
 * and position, which takes a tenth of the time.
 */
const ascending = (ids: Int32Array) => {
  const halves = new Uint32Array(ids.length * 2)
  ids.forEach((id, place) => {
    halves[place * 2] = place
    halves[place * 2 + 1] = id
  })
  new BigUint64Array(halves.buffer).sort()
  return ids.map((_, i) => halves[i * 2] ?? 0)
}

const largestId = 2 ** 31 - 1

/** The fdc_id at the start of a line, before its first tab. */
const idOf = (bytes: Buffer, from: number, to: number) => {
  let id = 0
  let at = from
  for (; at < to && bytes[at] !== 9; at++) {
    const digit = (bytes[at] ?? 0) - 48
    if (digit < 0 || digit > 9 || id > largestId) return undefined
    id = id * 10 + digit
  }
  return at === from || id > largestId ? undefined : id
}

/** Indexes the lines: the offset and length of each label version, by `fdc_id`. */
export const indexRecords = (folder: string, foods: number) => {
  const refused = (reason: string) => new Error(`${recordFiles.lines} ${reason}`)
  const ids = new Int32Array(foods)
  const starts = new Float64Array(foods)
  const lengths = new Uint32Array(foods)
  let n = 0
  eachLine(join(folder, recordFiles.lines), (bytes, from, to, place) => {
    const id = idOf(bytes, from, to)
    if (id === undefined) {
      const [stated = ""] = bytes.toString("utf8", from, Math.min(to, from + 24)).split("\t")
      throw refused(`has "${stated}" in line ${n + 1} where an fdc_id of 0 to ${largestId} should be`)
    }
    ids[n] = id
    starts[n] = place
    lengths[n++] = to - from
  })
  if (n !== foods) throw refused(`has ${n} lines for ${foods} label versions`)
  const order = ascending(ids)
  const sorted = ids.map((_, i) => ids[order[i] ?? 0] ?? 0)
  const repeated = sorted.find((id, i) => i > 0 && id === sorted[i - 1])
  if (repeated !== undefined) throw refused(`has several lines for the fdc_id ${repeated}`)
  writeBundle(join(folder, recordFiles.index), {
    ids: sorted,
    starts: placesFor(starts.at(-1) ?? 0, n).map((_, i) => starts[order[i] ?? 0] ?? 0),
    lengths: lengths.map((_, i) => lengths[order[i] ?? 0] ?? 0)
  })
}

const texts = new Set<string>(fields.filter(isText))

const numbersOf = (stands: string): ReadonlyArray<number | null> =>
  stands === "" || stands === "[]"
    ? []
    : stands
        .slice(1, -1)
        .split(", ")
        .map((number) => (number === "NULL" ? null : Number(number)))

/** The position of an id in an ascending list, or the position at which it would be inserted. */
export const placeIn = (ids: Int32Array, id: number) => {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ids[middle] ?? 0) < id) low = middle + 1
    else high = middle
  }
  return low
}

export class RecordFile {
  readonly #ids: Int32Array
  readonly #starts: ReturnType<Bundle["places"]>
  readonly #lengths: Uint32Array
  readonly #lines: PieceFile
  readonly #nutrients: ReadonlyMap<number, string>
  #buffer = Buffer.allocUnsafeSlow(2 ** 16)

  constructor(folder: string, index: Bundle, nutrients: ReadonlyArray<typeof KnownNutrient.Type>) {
    this.#ids = index.integers("ids")
    this.#starts = index.places("starts")
    this.#lengths = index.naturals("lengths")
    this.#nutrients = new Map(nutrients.map((nutrient) => [nutrient.nutrient_id, opened(nutrient)]))
    this.#lines = new PieceFile(join(folder, recordFiles.lines))
  }

  get size() {
    return this.#ids.length
  }

  close() {
    this.#lines.close()
  }

  /** The JSON of a label version. */
  read(fdcId: number): string | undefined {
    const place = placeIn(this.#ids, fdcId)
    if (this.#ids[place] !== fdcId) return undefined
    const length = this.#lengths[place] ?? 0
    if (length > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(length * 2)
    this.#lines.read(this.#buffer, this.#starts[place] ?? 0, length)
    const cells = this.#buffer.toString("utf8", 0, length).split("\t")
    if (cells[0] !== String(fdcId)) {
      throw new FoodFilesDamaged({
        file: recordFiles.lines,
        reason: `has another line where that of ${fdcId} should be`
      })
    }
    return this.#json(fdcId, cells)
  }

  #json(fdcId: number, cells: ReadonlyArray<string>) {
    const stated = (field: keyof typeof placeOf) => cells[placeOf[field] ?? -1] ?? ""
    const servingSize = stated("serving_size") === "" ? null : Number(stated("serving_size"))
    const ids = numbersOf(stated("nutrient_ids"))
    const amounts = numbersOf(stated("amounts"))
    let json = "{"
    for (const field of fields) {
      if (field !== "id") json += ","
      json += `"${field}":`
      if (field === "id") json += `"${brandedFoodId(fdcId)}"`
      else if (field === "source") json += '"gov-fdc"'
      else if (field === "serving_size") json += servingSize
      else if (field === "nutrients") json += this.#nutrientsJson(ids, amounts)
      else if (field === "nutrition") json += nutritionJson(servingSize, ids, amounts, numbersOf(stated("own_amounts")))
      else if (stated(field) === "") json += "null"
      else json += texts.has(field) ? textJson(stated(field)) : stated(field)
    }
    return `${json}}`
  }

  #nutrientsJson(ids: ReadonlyArray<number | null>, amounts: ReadonlyArray<number | null>) {
    let json = "["
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i] ?? 0
      const known = this.#nutrients.get(id) ?? opened({ nutrient_id: id, number: null, name: null, unit: null })
      json += `${i === 0 ? "" : ","}${known}${amounts[i] ?? null}}`
    }
    return `${json}]`
  }
}

/** A nutrient's JSON up to its amount. */
const opened = ({ name, number, nutrient_id, unit }: typeof KnownNutrient.Type) =>
  `${JSON.stringify({ nutrient_id, number, name, unit }).slice(0, -1)},"amount":`

const nutritionJson = (
  servingSize: number | null,
  ids: ReadonlyArray<number | null>,
  stated: ReadonlyArray<number | null>,
  own: ReadonlyArray<number | null>
) => {
  const amounts = new Map<number, number | null>()
  ids.forEach((id, i) => {
    if (id !== null && !amounts.has(id)) amounts.set(id, stated[i] ?? null)
  })
  return `{${nutritionOf(servingSize, amounts, own)
    .map(([key, amount]) => `"${key}":${amount}`)
    .join(",")}}`
}
