/**
 * Finds duplicate keys in an object. DuckDB refuses a record in which a key that is read occurs twice; JSON.parse
 * silently takes the last one. About 200 MB/s; used only for chunks that are checked line by line.
 */
import { food, isList, type Shape } from "./keys.ts"

const quote = 0x22
const comma = 0x2c
const openList = 0x5b
const backslash = 0x5c
const closeList = 0x5d
const open = 0x7b
const close = 0x7d

/** An object or list that is open at the current position. `keys` are the keys of the object so far. */
interface Level {
  readonly shape: Shape | undefined
  readonly keys: Set<string> | undefined
  key: string
  isBeforeKey: boolean
}

const record: Shape = { line: "number", ...food }

const shapeIn = (level: Level | undefined): Shape | undefined => {
  if (level === undefined) return record
  const { key, shape } = level
  if (shape === undefined || typeof shape === "string") return undefined
  if (isList(shape)) return shape[0]
  return Object.hasOwn(shape, key) ? shape[key] : undefined
}

/** The position after the closing quote of the string that begins at `from`. */
const endOfText = (text: string, from: number) => {
  let end = text.indexOf('"', from + 1)
  for (;;) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1
    if (slashes % 2 === 0) return end + 1
    end = text.indexOf('"', end + 1)
  }
}

const keyAt = (text: string, from: number, to: number): string => {
  const raw = text.slice(from + 1, to - 1)
  return raw.includes("\\") ? JSON.parse(`"${raw}"`) : raw
}

/** The first key that is read and occurs twice, in the text of a food that JSON.parse accepts. */
export const duplicateKey = (text: string): string | undefined => {
  const around: Array<Level> = []
  let level: Level | undefined
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === quote) {
      const end = endOfText(text, at)
      if (level?.isBeforeKey === true) {
        level.isBeforeKey = false
        if (level.shape !== undefined) {
          level.key = keyAt(text, at, end)
          if (shapeIn(level) !== undefined && level.keys?.has(level.key)) return level.key
          level.keys?.add(level.key)
        }
      }
      at = end - 1
    } else if (char === open || char === openList) {
      const shape = shapeIn(level)
      if (level !== undefined) around.push(level)
      const isObject = char === open
      level = { shape, keys: isObject && shape !== undefined ? new Set() : undefined, key: "", isBeforeKey: isObject }
    } else if (char === close || char === closeList) {
      level = around.pop()
    } else if (char === comma && level !== undefined) {
      level.isBeforeKey = level.keys !== undefined
    }
  }
  return undefined
}
