/**
 * Ids of label versions. The opaque part is a bijection of the 32-bit `fdc_id`: every load derives the same id, and no
 * table of ids is needed. The mapping hides nothing. It only keeps clients from enumerating ids and from mistaking them
 * for values of `fdc_id`.
 */
import { idPrefixes } from "../ids.ts"

const prefix = idPrefixes.brandedFood
const width = 7 // in base 36: 36^7 is more than 2^32
const opaque = new RegExp(`^${prefix}([0-9a-z]{${width}})$`)

// Odd factors and their inverses modulo 2^32.
const first = { factor: 0x9e3779b1, inverse: 0x0e8b2f51 }
const second = { factor: 0x85ebca6b, inverse: 0xa5cb9243 }

const scramble = (n: number) => {
  let x = n ^ (n >>> 16)
  x = Math.imul(x, first.factor)
  x ^= x >>> 15
  x = Math.imul(x, second.factor)
  return (x ^ (x >>> 16)) >>> 0
}

const unscramble = (n: number) => {
  let x = n ^ (n >>> 16)
  x = Math.imul(x, second.inverse)
  x ^= (x >>> 15) ^ (x >>> 30)
  x = Math.imul(x, first.inverse)
  return x ^ (x >>> 16)
}

/** The id of a label version. `fdcId` is a 32-bit integer. */
export const brandedFoodId = (fdcId: number): string => prefix + scramble(fdcId).toString(36).padStart(width, "0")

/** The `fdc_id` of a label version's id; undefined for a string that `brandedFoodId` never returns. */
export const parseFdcId = (id: string): number | undefined => {
  const digits = opaque.exec(id)?.[1]
  const scrambled = digits === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(digits, 36)
  return scrambled < 2 ** 32 ? unscramble(scrambled) : undefined
}
