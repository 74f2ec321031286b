/**
 * What the prices of a file show about all of them. `1.299 EUR` is 1,299 in a file that also has `9,90`, and 1.299 in one
 * that also has `9.90`.
 */
import { FeedUnreadable } from "../feed-errors.ts"
import { type DecimalSeparator, findDecimalSeparator, SeparatorUnknown } from "./amounts.ts"

/** Null if no price shows a decimal separator, or if they contradict each other. */
const findSeparator = async (prices: AsyncIterable<string>): Promise<DecimalSeparator | null> => {
  const found = new Set<DecimalSeparator>()
  try {
    for await (const price of prices) {
      const separator = findDecimalSeparator(price)
      if (separator !== null) found.add(separator)
      if (found.size > 1) return null
    }
  } catch (cause) {
    // the file is read once more, for its rows, and its fault is reported then
    if (!(cause instanceof FeedUnreadable)) throw cause
  }
  return [...found][0] ?? null
}

export class FilePrices {
  #separator: DecimalSeparator | null | undefined
  readonly #readPrices: () => AsyncIterable<string>

  /** `readPrices` yields all prices of the file, as they are written. */
  constructor(readPrices: () => AsyncIterable<string>) {
    this.#readPrices = readPrices
  }

  /** The decimal separator; undefined until a row needed it. */
  get separator() {
    return this.#separator
  }

  /** Calls `add` for a row. If it depends on the other prices, reads these first: most files are never read twice. */
  async addRow(add: () => void): Promise<void> {
    try {
      return add()
    } catch (cause) {
      if (!(cause instanceof SeparatorUnknown)) throw cause
    }
    this.#separator = await findSeparator(this.#readPrices())
    add()
  }
}
