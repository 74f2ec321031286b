/** The known name that somebody most likely meant. */
import { closest, distance } from "fastest-levenshtein"

/** The first of those that need the fewest edits. Capitals are none: the known names have no capitals. */
export const nearestTo = (name: string, known: ReadonlyArray<string>): string | undefined =>
  known.length === 0 ? undefined : closest(name.toLowerCase(), known)

/** The same, where it is two edits or less than half of the letters away: a mere guess helps nobody. */
export const likelyMeant = (name: string, known: ReadonlyArray<string>): string | undefined => {
  const nearest = nearestTo(name, known)
  return nearest !== undefined && distance(name.toLowerCase(), nearest) <= Math.max(2, name.length / 2)
    ? nearest
    : undefined
}
