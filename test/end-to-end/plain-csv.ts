/** Reads tables character by character, for counts that are independent of the readers under test. */

/** Returns the records of a table by its header, without empty lines. */
export const parseCsv = (text: string, separator = ","): ReadonlyArray<Readonly<Record<string, string>>> => {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n")
  const rows: Array<Array<string>> = [[]]
  let field = ""
  let isQuoted = false
  for (let at = 0; at <= plain.length; at++) {
    const character = plain[at] ?? "\n"
    if (character === '"') {
      if (isQuoted && plain[at + 1] === '"') field += plain[at++]
      else isQuoted = !isQuoted
    } else if (!isQuoted && (character === separator || character === "\n")) {
      rows.at(-1)?.push(field)
      field = ""
      if (character === "\n") rows.push([])
    } else field += character
  }
  const [header = [], ...others] = rows.filter((row) => row.join("") !== "")
  return others.map((row) => Object.fromEntries(header.map((column, index) => [column, row[index] ?? ""])))
}
