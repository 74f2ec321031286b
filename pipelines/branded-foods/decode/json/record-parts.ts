/**
 * Compares a record of the JSON release with the expected shape, and removes the parts that differ: optional ones, and single
 * amounts. Any other difference rejects the record.
 */
import { parseJsonKeepingNumbers } from "@larder/schemas"
import { optionalJsonPaths } from "../../label-fields.ts"
import { foodShape, isList, type JsonShape } from "./keys.ts"

type Path = ReadonlyArray<string | number>

/** An optional part of another shape than expected, or a placeholder for it. */
export interface OddPart {
  /** Its path without positions in lists. */
  readonly field: string
  readonly path: Path
  readonly value: unknown
}

/** One of the amounts, or of the label's own amounts, that cannot be read. */
interface RejectedPart {
  readonly path: readonly [list: string, entry: string | number]
  readonly reason: string
}

interface Findings {
  /** Of a key or of the substance, or of the whole record. */
  readonly problem?: string
  readonly odd: ReadonlyArray<OddPart>
  readonly rejected: ReadonlyArray<RejectedPart>
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const canBeNumber = (value: unknown) =>
  typeof value === "string" ? /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) : typeof value === "number"

const describeMismatch = (value: unknown, shape: JsonShape): string | undefined => {
  if (value === undefined || value === null || shape === "value") return undefined
  if (shape === "text") return typeof value === "string" || typeof value === "number" ? undefined : "is not a string"
  if (shape === "number") return canBeNumber(value) ? undefined : "is not a number"
  if (isList(shape)) return Array.isArray(value) ? undefined : "is not a list"
  return isObject(value) ? undefined : "is not an object"
}

const formatPath = (path: Path) =>
  path.map((step, index) => (typeof step === "number" ? `[${step}]` : `${index === 0 ? "" : "."}${step}`)).join("")

/** A label has up to a hundred amounts and attributes. A record with more parts that cannot be read is no food. */
const maxParts = 1000

/** Compares a food with the expected shape. A `value` is validated later. */
export const compareWithShape = (food: unknown): Findings => {
  const odd: Array<OddPart> = []
  const rejected: Array<RejectedPart> = []
  let problem: string | undefined

  const report = (value: unknown, path: Path, mismatch: string, isOptional: boolean) => {
    const [list, entry] = path
    const reason = `${formatPath(path)} ${mismatch}`
    const isAmount = list === "foodNutrients" || list === "labelNutrients"
    if (isOptional) odd.push({ field: path.filter((step) => typeof step === "string").join("."), path, value })
    else if (!isAmount || entry === undefined) problem = reason
    else if (rejected.at(-1)?.path[1] !== entry) rejected.push({ path: [list, entry], reason }) // of several faults, the first
    if (odd.length + rejected.length > maxParts)
      problem = `${reason}, and more than ${maxParts} other parts cannot be read`
  }

  const compare = (value: unknown, shape: JsonShape, path: Path, isInOptional: boolean): void => {
    if (problem !== undefined || value === undefined || value === null || shape === "value") return
    const isOptional = isInOptional || optionalJsonPaths.has(path.filter((step) => typeof step === "string").join("."))
    const mismatch = describeMismatch(value, shape)
    if (mismatch !== undefined) report(value, path, mismatch, isOptional)
    else if (Array.isArray(value) && isList(shape)) {
      for (const [index, item] of value.entries()) compare(item, shape[0], [...path, index], isOptional)
    } else if (isObject(value) && typeof shape !== "string" && !isList(shape)) {
      for (const [key, inner] of Object.entries(shape)) compare(value[key], inner, [...path, key], isOptional)
    }
  }

  if (isObject(food)) compare(food, foodShape, [], false)
  else problem = "the record is not an object"
  return problem === undefined ? { odd, rejected } : { problem, odd: [], rejected: [] }
}

/** In a list, in place of an item that is removed. */
const gap = Symbol("gap")

/** Removes what is at these paths. Positions in a list are those before anything is removed from it. */
const removeAll = (record: unknown, paths: ReadonlyArray<Path>) => {
  const shortened = new Set<Array<unknown>>()
  const remove = (container: unknown, [step, ...rest]: Path): void => {
    if (Array.isArray(container) && typeof step === "number") {
      if (rest.length > 0) remove(container[step], rest)
      else {
        container[step] = gap
        shortened.add(container)
      }
    } else if (isObject(container) && typeof step === "string") {
      if (rest.length === 0) Reflect.deleteProperty(container, step)
      else remove(container[step], rest)
    }
  }
  for (const path of paths) remove(record, path)
  for (const list of shortened) {
    const kept = list.filter((item) => item !== gap)
    for (const [index, item] of kept.entries()) list[index] = item
    list.length = kept.length
  }
}

/**
 * Returns the record without these parts, and each rejected part in a record with only its id. Numbers are as they were
 * printed. A rejected amount becomes null, so that the others keep their positions.
 */
export const separateParts = (text: string, { odd, rejected }: Findings) => {
  const food = parseJsonKeepingNumbers(text)
  if (!isObject(food)) return { kept: text, rejected: [] }
  const { fdcId } = food
  const payloads = rejected.map(({ path: [list, entry] }) => {
    const entries = food[list]
    if (Array.isArray(entries) && typeof entry === "number") return JSON.stringify({ fdcId, [list]: [entries[entry]] })
    return JSON.stringify({ fdcId, [list]: isObject(entries) ? { [entry]: entries[entry] } : entries })
  })
  removeAll(
    food,
    odd.map(({ path }) => path)
  )
  for (const {
    path: [list, entry]
  } of rejected) {
    const entries = food[list]
    if (Array.isArray(entries) && typeof entry === "number") entries[entry] = null
    else removeAll(entries, [[entry]])
  }
  return { kept: JSON.stringify(food), rejected: payloads }
}
