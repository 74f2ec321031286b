/** The known name that the user most likely meant. */
import { closest, distance } from "fastest-levenshtein"

/** The first name with the smallest edit distance. Case does not count: the known names are in lower case. */
export const findNearest = (name: string, known: ReadonlyArray<string>): string | undefined =>
  known.length === 0 ? undefined : closest(name.toLowerCase(), known)

/** The nearest name, if the edit distance is at most half the length of `name`, or 2 for a short name. */
export const suggestName = (name: string, known: ReadonlyArray<string>): string | undefined => {
  const nearest = findNearest(name, known)
  return nearest !== undefined && distance(name.toLowerCase(), nearest) <= Math.max(2, name.length / 2)
    ? nearest
    : undefined
}
