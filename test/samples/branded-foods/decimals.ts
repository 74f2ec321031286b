/**
 * Exact decimals as two safe integers: value = digits / 10^scale. The largest product (an amount of seven digits times a
 * serving of six) is far below 2^53, so BigInt, which is slower, is not needed.
 */

const powers = Array.from({ length: 16 }, (_, n) => 10 ** n)
export const powerOf10 = (n: number) => powers[n] ?? 10 ** n

export interface Decimal {
  readonly digits: number
  readonly scale: number
}

const countDigits = (digits: number) => {
  let length = 1
  while (length < 16 && digits >= powerOf10(length)) length++
  return length
}

/** Divides by 10^places, and rounds half to even. */
const roundDigits = (digits: number, places: number) => {
  const unit = powerOf10(places)
  const rest = digits % unit
  const down = (digits - rest) / unit
  const doubled = rest * 2
  return doubled > unit || (doubled === unit && down % 2 === 1) ? down + 1 : down
}

/** Rounds to three significant digits, without adding any. Zero is always `0.000`, as in the source. */
export const roundToThreeDigits = (value: Decimal): Decimal => {
  if (value.digits === 0) return { digits: 0, scale: 3 }
  const length = countDigits(value.digits)
  if (length < 3) return { digits: value.digits * powerOf10(3 - length), scale: value.scale + 3 - length }
  const digits = roundDigits(value.digits, length - 3)
  const scale = value.scale - (length - 3)
  return digits === 1000 ? { digits: 100, scale: scale - 1 } : { digits, scale }
}

/** amount × serving / 100 / `unitsPerMicrogram` (40 for vitamin D in IU), to three significant digits. */
export const perServing = (amount: Decimal, serving: Decimal, unitsPerMicrogram: 1 | 40 = 1): Decimal => {
  const digits = amount.digits * serving.digits * (unitsPerMicrogram === 1 ? 1 : 25) // 1 / 40 = 25 / 1000
  if (!Number.isSafeInteger(digits)) throw new Error(`${amount.digits} × ${serving.digits} is not exact`)
  return roundToThreeDigits({ digits, scale: amount.scale + serving.scale + (unitsPerMicrogram === 1 ? 2 : 5) })
}

const formatAllDigits = ({ digits, scale }: Decimal) => {
  if (scale <= 0) return `${digits * powerOf10(-scale)}`
  const unit = powerOf10(scale)
  const rest = digits % unit
  return `${(digits - rest) / unit}.${rest.toString().padStart(scale, "0")}`
}

/** The format of a Java BigDecimal: `0.000`, `83.3`, `7.10`, `333`, `4.00E+4`, `2.5E-7`. */
export const formatScientific = (value: Decimal) => {
  const text = value.digits.toString()
  const exponent = text.length - 1 - value.scale
  if (value.scale >= 0 && exponent >= -6) return formatAllDigits(value)
  const mantissa = text.length === 1 ? text : `${text[0]}.${text.slice(1)}`
  return `${mantissa}E${exponent < 0 ? "" : "+"}${exponent}`
}

/** The format of the CSV: `0.0`, `83.3`, `7.1`, `333.0`, `40000.0`. */
export const formatPlain = (value: Decimal) => {
  let { digits, scale } = value
  while (scale > 1 && digits % 10 === 0) {
    digits /= 10
    scale--
  }
  return scale <= 0 ? `${formatAllDigits({ digits, scale })}.0` : formatAllDigits({ digits, scale })
}

/** The shortest format: `30`, `28.5`. */
export const formatShort = (value: Decimal) => {
  const text = formatPlain(value)
  return text.endsWith(".0") ? text.slice(0, -2) : text
}
