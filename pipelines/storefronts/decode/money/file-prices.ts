/**
 * What the prices of a file show about all of them. `1.299 EUR` is 1,299 in a file that also has `9,90`, and 1.299 in one
 * that also has `9.90`.
 */
import { FeedUnreadable } from "../feed.ts"
import { type Separator, SeparatorUnknown, showSeparator } from "./amounts.ts"

/** Null if no price shows a separator, or if they contradict each other. */
const findSeparator = async (prices: AsyncIterable<string>): Promise<Separator | null> => {
  const found = new Set<Separator>()
  try {
    for await (const price of prices) {
      const separator = showSeparator(price)
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
  #separator: Separator | null | undefined
  readonly #readPrices: () => AsyncIterable<string>

  /** `readPrices` yields all prices of the file, as they are written. */
  constructor(readPrices: () => AsyncIterable<string>) {
    this.#readPrices = readPrices
  }

  /** Undefined until `learn` was called. */
  get separator() {
    return this.#separator
  }

  /** Reads the prices if a row failed because it depends on them; most files are never read twice. Other failures stay. */
  async learn(cause: unknown): Promise<void> {
    if (!(cause instanceof SeparatorUnknown)) throw cause
    this.#separator = await findSeparator(this.#readPrices())
  }
}
