/**
 * The shapes that DuckDB is told to expect of a food, for the slow look at a chunk that it refused: a key that holds another
 * shape is what is wrong with its record. Texts and numbers may hold anything here, and are judged by what they say.
 */

/** An object may have other keys, too. */
type Shape = { readonly each: Shape | "text" } | { readonly [key: string]: Shape }

const food: Readonly<Record<string, Shape>> = {
  tradeChannels: { each: "text" },
  foodNutrients: { each: { nutrient: {}, foodNutrientDerivation: {} } },
  foodAttributes: { each: {} },
  foodUpdateLog: { each: {} },
  labelNutrients: {}
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isEach = (shape: Shape): shape is { readonly each: Shape | "text" } => "each" in shape

const problemAt = (path: string, value: unknown, shape: Shape | "text"): string | undefined => {
  if (value === undefined || value === null || shape === "text") return undefined
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
