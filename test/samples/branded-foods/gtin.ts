/**
 * Barcodes. Every product has a different number (a full-cycle multiplication of its index), with 8, 12, 13 or 14 digits.
 * 2.3 % have a wrong check digit, half of them because a spreadsheet rounded the number (`813090000000`).
 */
import { type Chance, hashNumbers } from "./chance.ts"

/** GS1 check digit of a body of any length. */
const computeCheckDigit = (body: string) => {
  let sum = 0
  for (let i = 0; i < body.length; i++) sum += (body.charCodeAt(body.length - 1 - i) - 48) * (i % 2 === 0 ? 3 : 1)
  return (10 - (sum % 10)) % 10
}

/** Expands an eight-digit UPC-E of number system 0 to its UPC-A (12 digits). */
const expandUpcE = (upcE: string) => {
  const [a, b, c, d, e, f] = [...upcE.slice(1, 7)]
  const last = Number(f)
  if (last <= 2) return `0${a}${b}${f}0000${c}${d}${e}${upcE[7]}`
  if (last === 3) return `0${a}${b}${c}00000${d}${e}${upcE[7]}`
  if (last === 4) return `0${a}${b}${c}${d}00000${e}${upcE[7]}`
  return `0${a}${b}${c}${d}${e}0000${f}${upcE[7]}`
}

const pad = (value: number, length: number) => value.toString().padStart(length, "0")

const period = 899_981 // prime, so that numbers of six digits repeat only after this many products

const makeUpcE = (product: number) => {
  const six = pad(100_000 + ((product * 7_919) % period), 6)
  return `0${six}${computeCheckDigit(expandUpcE(`0${six}0`).slice(0, 11))}`
}

/** Multiplier and modulus have no common factor, so numbers are unique. Half of them begin with 0, the others with 8. */
const makeBody = (product: number) => {
  const number = (product * 1_368_742_901 + 1_210_000_417) % 19_999_999_999
  return pad(number < 10_000_000_000 ? number : number + 70_000_000_000, 11)
}

const makeRoundedNumber = (product: number) => `${100_000 + ((product * 4_421 + 713_090) % period)}000000`

/** With `offset` 0 the check digit is correct. */
const addCheckDigit = (numbers: string, offset: number) => `${numbers}${(computeCheckDigit(numbers) + offset) % 10}`

/** Fourteen digits are a twelve-digit number with leading zeros, as in GDSN. */
export const makeGtin = (product: number, source: string, seed: number, chance: Chance) => {
  const draw = chance.unit()
  const isWrong = chance.happens(0.0245)
  const offset = isWrong ? 1 + (hashNumbers(seed, 77, product) % 9) : 0
  if (source === "NZGDSN") return addCheckDigit(`9${makeBody(product)}`, offset)
  if (source === "GDSN" && draw < 0.92) return `00${addCheckDigit(makeBody(product), offset)}`
  if (product < period && chance.oddityHappens(0.0006)) return makeUpcE(product)
  if (chance.oddityHappens(0.0016)) return addCheckDigit(pad((product * 104_729 + 2_345_677) % 9_999_991, 7), offset)
  if (draw < 0.074) return addCheckDigit(`${4 + (product % 5)}${makeBody(product)}`, offset)
  if (isWrong && product < period && offset > 4) return makeRoundedNumber(product)
  return addCheckDigit(makeBody(product), offset)
}
