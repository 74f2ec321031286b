/**
 * Compares a record of the JSON release with the expected shape, and removes the parts that differ: optional ones, and single
 * amounts. Any other difference rejects the record.
 */
import { parseJsonKeepingNumbers } from "@larder/schemas"
import { optionalJsonPaths } from "../../label-fields.ts"
import { foodShape, isList, type JsonShape, rejectedPartsKey } from "./keys.ts"

type Path = ReadonlyArray<string | number>

/** An optional part of another shape than expected, or a placeholder for it. */
export interface OddPart {
  /** Its path without positions in lists. */
  readonly field: string
  readonly path: Path
  readonly value: unknown
}

/** One of the amounts, or of the label's own amounts, that cannot be read. */
export interface TornPart {
  readonly path: readonly [list: string, entry: string | number]
  readonly reason: string
}

interface Findings {
  /** Of a key or of the substance, or of the whole record. */
  readonly problem?: string
  readonly odd: ReadonlyArray<OddPart>
  readonly torn: ReadonlyArray<TornPart>
}

const nothingFound: Findings = { odd: [], torn: [] }

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

const listsOfAmounts: ReadonlyArray<unknown> = ["foodNutrients", "labelNutrients"]

const describeFault = (path: Path, mismatch: string): Findings => {
  const [list, entry] = path
  const reason = `${formatPath(path)} ${mismatch}`
  return typeof list === "string" && entry !== undefined && listsOfAmounts.includes(list)
    ? { odd: [], torn: [{ path: [list, entry], reason }] }
    : { problem: reason, odd: [], torn: [] }
}

/** Of one amount with several faults, the first is a finding. */
const merge = (findings: ReadonlyArray<Findings>, [list, entry, ...rest]: Path): Findings => {
  const problem = findings.find((found) => found.problem !== undefined)?.problem
  const torn = findings.flatMap((found) => found.torn)
  const isOneAmount = listsOfAmounts.includes(list) && entry !== undefined && rest.length === 0
  return {
    ...(problem !== undefined && { problem }),
    odd: findings.flatMap(({ odd }) => odd),
    torn: isOneAmount ? torn.slice(0, 1) : torn
  }
}

const compare = (value: unknown, shape: JsonShape, path: Path, isInOptional: boolean): Findings => {
  const field = path.filter((step) => typeof step === "string").join(".")
  const isOptional = isInOptional || optionalJsonPaths.has(field)
  const mismatch = describeMismatch(value, shape)
  if (mismatch !== undefined) {
    return isOptional ? { odd: [{ field, path, value }], torn: [] } : describeFault(path, mismatch)
  }
  if (Array.isArray(value) && isList(shape)) {
    return merge(
      value.map((item, index) => compare(item, shape[0], [...path, index], isOptional)),
      path
    )
  }
  if (!isObject(value) || typeof shape === "string" || isList(shape)) return nothingFound
  return merge(
    Object.entries(shape).map(([key, inner]) => compare(value[key], inner, [...path, key], isOptional)),
    path
  )
}

/** A label has up to a hundred amounts. */
const maxTornParts = 1000

/** Compares a food with the expected shape. A `value` is validated later. */
export const compareWithShape = (food: unknown): Findings => {
  if (!isObject(food)) return { problem: "the record is not an object", odd: [], torn: [] }
  const findings = compare(food, foodShape, [], false)
  const [first] = findings.torn
  return first === undefined || findings.torn.length <= maxTornParts
    ? findings
    : { problem: `${first.reason}, and more than ${maxTornParts} other amounts cannot be read`, odd: [], torn: [] }
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
 * Returns the record without these parts, and each torn part in a record with only its id. Numbers are as they were
 * printed. A record that lost a torn part says so.
 */
export const separateParts = (text: string, { odd, torn }: Findings) => {
  const food = parseJsonKeepingNumbers(text)
  if (!isObject(food)) return { kept: text, torn: [] }
  const { fdcId } = food
  const pick = ({ path: [list, entry] }: TornPart) => {
    const entries = food[list]
    if (Array.isArray(entries) && typeof entry === "number") return { fdcId, [list]: [entries[entry]] }
    return { fdcId, [list]: isObject(entries) ? { [entry]: entries[entry] } : entries }
  }
  const payloads = torn.map((part) => JSON.stringify(pick(part)))
  removeAll(
    food,
    [...odd, ...torn].map(({ path }) => path)
  )
  const marked = torn.length === 0 ? food : { ...food, [rejectedPartsKey]: torn.length }
  return { kept: JSON.stringify(marked), torn: payloads }
}
