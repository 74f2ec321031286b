/** Lists and conditions in the cells of the catalog. */
export interface Condition {
  readonly field: string
  readonly values: ReadonlyArray<string>
}

export const splitTrimmed = (text: string, separator: string) =>
  text === "" ? [] : text.split(separator).map((part) => part.trim())

export const parsePair = (text: string): [string, string] => {
  const [name = "", value = ""] = splitTrimmed(text, "=")
  return [name, value]
}

/** `field=value; field=value|value` */
export const parseConditions = (text: string): ReadonlyArray<Condition> =>
  splitTrimmed(text, ";").map((condition) => {
    const [field, values] = parsePair(condition)
    return { field, values: splitTrimmed(values, "|") }
  })

export const isIncomplete = ({ field, values }: Condition) => field === "" || values.length === 0 || values.includes("")
