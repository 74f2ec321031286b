/** Decimals as whole numbers in units of their last place: `16140` with four places is 1.6140. Halves round up, as in the reports. */

/** Both arguments are whole, the denominator positive, the numerator below 2^52. */
export const divideHalfUp = (numerator: number, denominator: number) =>
  Math.floor((2 * numerator + denominator) / (2 * denominator))

/** `formatFixed(16140, 4)` is `"1.6140"`. */
export const formatFixed = (value: number, places: number) => {
  const digits = String(Math.abs(value)).padStart(places + 1, "0")
  return `${value < 0 ? "-" : ""}${digits.slice(0, -places)}.${digits.slice(-places)}`
}

/** `parseFixed("1.6140", 4)` is `16140`. */
export const parseFixed = (text: string, places: number) => {
  const [whole = "", fraction = ""] = text.split(".")
  const value = Number(whole + fraction.padEnd(places, "0"))
  if (!/^\d+(\.\d+)?$/.test(text) || fraction.length > places || !Number.isSafeInteger(value))
    throw new RangeError(`"${text}" is not a decimal of at most ${places} places`)
  return value
}

/** `"10,362,221"`. */
export const addCommas = (value: number) => String(value).replace(/\B(?=(\d{3})+$)/g, ",")

/** Average of prices weighted by pounds, half-up at the scale of the prices; null without any pound. */
export const computeWeightedAverage = (prints: ReadonlyArray<{ readonly price: number; readonly pounds: number }>) => {
  const pounds = prints.reduce((sum, print) => sum + print.pounds, 0)
  return pounds === 0
    ? null
    : divideHalfUp(
        prints.reduce((sum, print) => sum + print.price * print.pounds, 0),
        pounds
      )
}
