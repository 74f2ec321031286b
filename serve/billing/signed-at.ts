/** When an event was signed, against the clock of this server: what was overheard cannot be sent again next week. */

/** Seconds either way. */
export const tolerance = 300

/** What is wrong with a signature of `seconds` (Unix time); undefined where it is good. `now` in milliseconds. */
export const wrongTime = (seconds: number, now: number): string | undefined => {
  const age = Math.round(now / 1000 - seconds)
  if (Math.abs(age) <= tolerance) return undefined
  return `The event was signed ${Math.abs(age)} seconds ${age > 0 ? "ago" : "in the future"}, and at most ${tolerance} are accepted: check the server's clock.`
}
