/**
 * The shapes that DuckDB is told to expect of a food, for the slow look at a chunk that it refused: a key that holds another
 * shape is what is wrong with its record.
 */

type Shape = "text" | "whole number" | { readonly each: Shape } | { readonly [key: string]: Shape }

const nutrient = { id: "whole number", number: "text", name: "text", unitName: "text" } as const

const food = {
  tradeChannels: { each: "text" },
  foodNutrients: {
    each: { id: "whole number", nutrient, foodNutrientDerivation: { code: "text" } }
  },
  foodAttributes: { each: { id: "whole number" } },
  foodUpdateLog: { each: { fdcId: "whole number" } },
  labelNutrients: {}
} as const

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isWhole = (value: unknown) => Number.isInteger(typeof value === "string" && value !== "" ? Number(value) : value)

const isEach = (shape: Shape): shape is { readonly each: Shape } => typeof shape === "object" && "each" in shape

const problemAt = (path: string, value: unknown, shape: Shape): string | undefined => {
  if (value === undefined || value === null || shape === "text") return undefined
  if (shape === "whole number") return isWhole(value) ? undefined : `${path} is no whole number`
  if (isEach(shape)) {
    if (!Array.isArray(value)) return `${path} is no list`
    return firstOf(value.map((item, index) => () => problemAt(`${path}[${index}]`, item, shape.each)))
  }
  if (!isObject(value)) return `${path} is no object`
  return firstOf(
    Object.entries(shape).map(
      ([key, inner]) =>
        () =>
          problemAt(`${path}.${key}`, value[key], inner)
    )
  )
}

const firstOf = (looks: ReadonlyArray<() => string | undefined>) => {
  for (const look of looks) {
    const problem = look()
    if (problem !== undefined) return problem
  }
  return undefined
}

/** What is wrong with the shape of a food; undefined where nothing is. */
export const shapeProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return "the record is no object"
  const labels = isObject(value.labelNutrients) ? Object.entries(value.labelNutrients) : []
  return firstOf([
    ...Object.entries(food).map(
      ([key, shape]) =>
        () =>
          problemAt(key, value[key], shape)
    ),
    ...labels.map(
      ([key, amount]) =>
        () =>
          problemAt(`labelNutrients.${key}`, amount, {})
    )
  ])
}
