/** Finds where a text stops being valid JSON. The error of `JSON.parse` gives the position for some faults only. */

/** Whether the text can be the beginning of valid JSON. */
const isBeginning = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : ""
    const [, position] = /at position (\d+)/.exec(message) ?? []
    return position === undefined ? /end of JSON/.test(message) : Number(position) >= text.length
  }
}

/** Counted from 1: `line 2 column 15`. In a truncated text it is the place after the last character. */
export const placeOfFault = (text: string): string => {
  let sound = 0
  let faulty = text.length + 1
  while (faulty - sound > 1) {
    const middle = (sound + faulty) >> 1
    if (isBeginning(text.slice(0, middle))) sound = middle
    else faulty = middle
  }
  const before = text.slice(0, sound).split("\n")
  return `line ${before.length} column ${(before.at(-1)?.length ?? 0) + 1}`
}
